// What GitHub sends.
import { vendors } from "@posthorn/wire";
import type { Source } from "../source.ts";
import { type UnsignedIdOptions, vendorSource } from "./vendor-source.ts";

/**
 * GitHub. `secrets` are the webhook's. The id is `X-GitHub-Delivery` and the type `X-GitHub-Event`, and GitHub signs neither,
 * nor a time: the id stops GitHub's own redeliveries, but who got hold of one request can send it again under another id and type.
 * `id: "digest"` stops that.
 */
export function github(options: UnsignedIdOptions): Source {
  return vendorSource(vendors.github, options);
}
