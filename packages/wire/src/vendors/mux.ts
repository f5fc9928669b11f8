// Mux: Stripe's signature under its own header. The id is in the body, so it is signed.
import { tV1 } from "../signature/t-v1.ts";
import type { Vendor } from "./vendor.ts";

export const mux: Vendor = {
  scheme: { ...tV1, name: "mux", headers: { signature: () => "Mux-Signature" } },
  id: [{ body: ["id"] }],
  type: [{ body: ["type"] }],
  time: [{ at: { body: ["created_at"] }, format: "rfc3339" }],
  data: [["data"]],
  // `attempts` lists the earlier attempts.
  hasStableBody: false,
};
