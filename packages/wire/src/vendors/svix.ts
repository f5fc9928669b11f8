// Svix: Standard Webhooks under `svix-*` header names. The id is signed. Type and data depend on the
// sender's payload and are optional.
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
