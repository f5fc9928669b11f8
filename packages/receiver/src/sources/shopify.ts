// What Shopify sends.
import { vendors } from "@posthorn/wire";
import type { Source } from "../source.ts";
import { type UnsignedIdOptions, vendorSource } from "./vendor-source.ts";

/**
 * Shopify. `secrets` are the app's client secrets. The id is `X-Shopify-Webhook-Id` and the type `X-Shopify-Topic`, and Shopify signs
 * neither, nor a time: the id stops Shopify's own retries, but who got hold of one request can send it again under
 * another id and type. `id: "digest"` stops that.
 */
export function shopify(options: UnsignedIdOptions): Source {
  return vendorSource(vendors.shopify, options);
}
