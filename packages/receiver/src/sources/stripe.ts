// What Stripe sends.
import { vendors } from "@posthorn/wire";
import type { Source } from "../source.ts";
import type { SigningOptions } from "./signing-source.ts";
import { vendorSource } from "./vendor-source.ts";

/**
 * Stripe. `secrets` are the endpoint's signing secrets, `whsec_…`. The id is the event's (`evt_…`), which is signed.
 */
export function stripe(options: SigningOptions): Source {
  return vendorSource(vendors.stripe, options);
}
