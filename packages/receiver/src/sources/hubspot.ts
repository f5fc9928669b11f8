// What HubSpot sends.
import { vendors } from "@posthorn/wire";
import type { Source } from "../source.ts";
import { type SignedUrlOptions, vendorSource } from "./vendor-source.ts";

/**
 * HubSpot with signature v3. `secrets` are the app's client secrets. Each event of a request is a message of its own; its id is made of portal,
 * subscription, event and time, which are signed, since HubSpot does not promise `eventId` to be unique.
 */
export function hubspot(options: SignedUrlOptions): Source {
  return vendorSource(vendors.hubspot, options);
}
