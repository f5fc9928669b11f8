// GitHub: `X-Hub-Signature-256: sha256=<hex>` over the body alone. Delivery id and event name stand in headers that
// are not signed, and there is no time: who has one request can send it again under another id, for ever.
import { sha256 } from "../signature/sha256.ts";
import type { Vendor } from "./vendor.ts";

export const github: Vendor = {
  scheme: {
    ...sha256,
    name: "github",
    headers: { signature: () => "X-Hub-Signature-256" },
    companions: { "X-GitHub-Event": "type", "X-GitHub-Delivery": "uuid" },
  },
  id: [{ header: "X-GitHub-Delivery" }],
  type: [{ header: "X-GitHub-Event" }],
  time: [],
  data: [],
  hasStableBody: true,
};
