// What GitLab sends.
import { vendors } from "@posthorn/wire";
import type { Source } from "../source.ts";
import { type UnsignedIdOptions, vendorSource } from "./vendor-source.ts";

/**
 * GitLab. `secrets` are the webhook's secret tokens, which it sends along: nothing is signed, so whoever got hold of one request can send
 * any other. The id is `Idempotency-Key`, before GitLab 17.4 `X-Gitlab-Event-UUID`; `id: "digest"` takes the body's digest instead.
 */
export function gitlab(options: UnsignedIdOptions): Source {
  return vendorSource(vendors.gitlab, options);
}
