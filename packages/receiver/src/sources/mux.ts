// What Mux sends.
import { vendors } from "@posthorn/wire";
import type { Source } from "../source.ts";
import type { SigningOptions } from "./signing-source.ts";
import { vendorSource } from "./vendor-source.ts";

/** Mux. `secrets` are the webhook's signing secrets. The id is the event's, which is signed. */
export function mux(options: SigningOptions): Source {
  return vendorSource(vendors.mux, options);
}
