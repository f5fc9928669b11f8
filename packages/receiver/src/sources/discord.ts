// What Discord sends.
import { vendors } from "@posthorn/wire";
import type { Source } from "../source.ts";
import type { SigningOptions } from "./signing-source.ts";
import { vendorSource } from "./vendor-source.ts";

/**
 * Discord's webhook events. `secrets` are the application's public key in hex. An event has no id, so the digest of its body is
 * it; the same event sent again with other bytes would be another. Pings are answered. Interactions are verified and handed
 * to handlers too, but a handler cannot answer them here: Discord's REST API can.
 */
export function discord(options: SigningOptions): Source {
  return vendorSource(vendors.discord, options);
}
