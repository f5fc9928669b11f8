// What Twitch sends.
import { vendors } from "@posthorn/wire";
import type { Source } from "../source.ts";
import type { SigningOptions } from "./signing-source.ts";
import { vendorSource } from "./vendor-source.ts";

/** Twitch EventSub. `secrets` are the subscription's. The id is signed. The callback verification is answered. */
export function twitch(options: SigningOptions): Source {
  return vendorSource(vendors.twitch, options);
}
