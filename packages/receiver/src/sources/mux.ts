// What Mux sends.
import { vendors } from "@posthorn/wire";
import type { Source } from "../source.ts";
import { type VendorOptions, vendorSource } from "./vendor-source.ts";

/** Mux. `secrets` are the webhook's signing secrets. The id is the event's, which is signed. */
export function mux(options: VendorOptions): Source {
  return vendorSource(vendors.mux, options);
}
