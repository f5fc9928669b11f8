// What Linear sends.
import { vendors } from "@posthorn/wire";
import type { Source } from "../source.ts";
import { type UnsignedIdOptions, vendorSource } from "./vendor-source.ts";

/**
 * Linear. `secrets` are the webhook's signing secrets. The id is `Linear-Delivery`, which Linear does not sign; the time in the body is
 * signed, so that a request can be sent again under another id only within the tolerance. `id: "digest"` stops that, but
 * a retry whose body has another time is then another event.
 */
export function linear(options: UnsignedIdOptions): Source {
  return vendorSource(vendors.linear, options);
}
