// GitHub: `X-Hub-Signature-256: sha256=<hex>` over the body alone. Delivery id and event name are in unsigned
// headers, and no time is signed: a captured request can be replayed under another id at any time.
import { sha256 } from "../signature/body-hmac.ts";
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
