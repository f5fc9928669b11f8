// What Square sends.
import { vendors } from "@posthorn/wire";
import type { Source } from "../source.ts";
import { type SignedUrlOptions, vendorSource } from "./vendor-source.ts";

/**
 * Square. `secrets` are the subscription's signature keys; `url` is its notification URL. The id is `event_id`, which is signed; a time
 * is not, so that a request can be sent again once the window of remembered ids is over.
 */
export function square(options: SignedUrlOptions): Source {
  return vendorSource(vendors.square, options);
}
