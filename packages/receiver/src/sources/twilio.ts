// What Twilio sends.
import { vendors } from "@posthorn/wire";
import type { Source } from "../source.ts";
import { type SignedUrlOptions, vendorSource } from "./vendor-source.ts";

/**
 * Twilio's status callbacks and other forms, and JSON with `bodySHA256`. `secrets` are auth tokens. Twilio signs no id and no time: the id
 * is the digest of what is signed, so that a request can be sent again once the window of remembered ids is over. Names and
 * values of a form are signed without separators; do not trust where a name ends that you do not know.
 */
export function twilio(options: SignedUrlOptions): Source {
  return vendorSource(vendors.twilio, options);
}
