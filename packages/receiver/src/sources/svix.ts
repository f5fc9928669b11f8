// What Svix sends.
import { vendors } from "@posthorn/wire";
import type { Source } from "../source.ts";
import { type VendorOptions, vendorSource } from "./vendor-source.ts";

/**
 * Whoever sends through Svix, with `svix-*` headers; for `webhook-*` headers take `standardWebhooks()`. `secrets` are `whsec_…`.
 * The id is `svix-id`, which is signed. The type is what the payload calls so, else `message`.
 */
export function svix(options: VendorOptions): Source {
  return vendorSource(vendors.svix, options);
}
