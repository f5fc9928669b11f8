// Svix: Standard Webhooks under `svix-*` header names. The id is signed; type and data are what the sender's
// payload calls so, and need not be there.
import { standardWebhooks } from "../signature/standard-webhooks.ts";
import type { Vendor } from "./vendor.ts";

export const svix: Vendor = {
  scheme: {
    ...standardWebhooks,
    name: "svix",
    headers: { signature: () => "svix-signature", id: () => "svix-id", timestamp: () => "svix-timestamp" },
  },
  id: [{ header: "svix-id" }],
  type: [
    { body: ["type"] },
    { body: ["eventType"] },
    { body: ["event_type"] },
    { body: ["event"] },
    { fixed: "message" },
  ],
  time: [{ at: { body: ["timestamp"] }, format: "rfc3339" }],
  data: [["data"]],
  hasStableBody: true,
};
