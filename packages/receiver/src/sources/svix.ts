// What Svix sends.
import { vendors } from "@posthorn/wire";
import type { Source } from "../source.ts";
import type { SigningOptions } from "./signing-source.ts";
import { vendorSource } from "./vendor-source.ts";

/**
 * Whoever sends through Svix, with `svix-*` headers; for `webhook-*` headers take `standardWebhooks()`. `secrets` are `whsec_…`.
 * The id is `svix-id`, which is signed. The type is what the payload calls so, else `message`.
 */
export function svix(options: SigningOptions): Source {
  return vendorSource(vendors.svix, options);
}
