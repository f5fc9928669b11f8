// What Paddle sends.
import { vendors } from "@posthorn/wire";
import type { Source } from "../source.ts";
import type { SigningOptions } from "./signing-source.ts";
import { vendorSource } from "./vendor-source.ts";

/** Paddle Billing. `secrets` are the notification destination's, `pdl_ntfset_…`. The id is `event_id`, which is signed. */
export function paddle(options: SigningOptions): Source {
  return vendorSource(vendors.paddle, options);
}
