// `X-Webhook-Signature: sha256=<hex>` over the body alone, as GitHub does, or with another algorithm or label. It has no
// timestamp, so a receiver stops a replay only by remembering ids; prefer another scheme where there is a choice.
import { BoundedMap } from "../bounded-map.ts";
import { single } from "./formats.ts";
import type { Scheme } from "./scheme.ts";
import { twoHeaders } from "./two-headers.ts";

export const sha256 = bodyHmac("sha256", "hmac-sha256");
export const sha512 = bodyHmac("sha512", "hmac-sha512");

export const LABELLED_NAMES = "sha256:<label>, sha512:<label>, two-headers:<label>";
const withLabel: Readonly<Record<string, Scheme>> = { sha256, sha512, "two-headers": twoHeaders };

/** Returns the scheme `sha256:sha256_v2`, which writes `sha256_v2=<hex>`; undefined for any other name. */
export function labelledScheme(name: string): Scheme | undefined {
  const [, unlabelled = "", label] = /^(sha256|sha512|two-headers):([A-Za-z0-9_.-]{1,32})$/.exec(name) ?? [];
  const base = withLabel[unlabelled];
  if (base === undefined) return undefined;
  let scheme = labelled.get(name);
  if (scheme === undefined) {
    scheme = { ...base, name, format: single(`${label}=`) };
    labelled.set(name, scheme);
  }
  return scheme;
}

/** Labels come from settings of endpoints. */
const labelled = new BoundedMap<string, Scheme>(1_000);

function bodyHmac(name: string, algorithm: "hmac-sha256" | "hmac-sha512"): Scheme {
  return {
    name,
    algorithm,
    key: "text",
    encoding: "hex",
    signedParts: ({ body }) => [body],
    headers: { signature: (names) => names.signature, signatureNext: (names) => names.signatureNext },
    format: single(`${name}=`),
  };
}
