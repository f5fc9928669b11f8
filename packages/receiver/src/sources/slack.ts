// What Slack sends.
import { vendors } from "@posthorn/wire";
import type { Source } from "../source.ts";
import type { SigningOptions } from "./signing-source.ts";
import { vendorSource } from "./vendor-source.ts";

/**
 * Slack's Events API, slash commands and interactions. `secrets` are the app's signing secrets. The id is `event_id`, which is
 * signed; a command or an interaction has none, so the digest of its body is it. The URL verification is answered.
 */
export function slack(options: SigningOptions): Source {
  return vendorSource(vendors.slack, options);
}
