// `X-Webhook-Signature: sha256=<hex>` over the body alone, as GitHub does, or with another algorithm or label. It has no
// timestamp, so a receiver stops a replay only by remembering ids; prefer another scheme where there is a choice.
import { BoundedMap } from "../bounded-map.ts";
import { single } from "./formats.ts";
import type { Scheme } from "./scheme.ts";

const ALGORITHMS = { sha256: "hmac-sha256", sha512: "hmac-sha512" } as const;
type AlgorithmName = keyof typeof ALGORITHMS;

export const sha256 = bodyHmac("sha256", "sha256", "sha256");
export const sha512 = bodyHmac("sha512", "sha512", "sha512");

export const LABELLED_NAMES = "sha256:<label>, sha512:<label>";

/** Returns the scheme `sha256:sha256_v2`, which writes `sha256_v2=<hex>`; undefined for any other name. */
export function labelledScheme(name: string): Scheme | undefined {
  const [, algorithm, label] = /^(sha256|sha512):([A-Za-z0-9_.-]{1,32})$/.exec(name) ?? [];
  if (algorithm === undefined || label === undefined) return undefined;
  let scheme = labelled.get(name);
  if (scheme === undefined) {
    scheme = bodyHmac(name, algorithm as AlgorithmName, label);
    labelled.set(name, scheme);
  }
  return scheme;
}

/** Labels come from settings of endpoints. */
const labelled = new BoundedMap<string, Scheme>(1_000);

function bodyHmac(name: string, algorithm: AlgorithmName, label: string): Scheme {
  return {
    name,
    algorithm: ALGORITHMS[algorithm],
    key: "text",
    encoding: "hex",
    signedParts: ({ body }) => [body],
    headers: { signature: (names) => names.signature, signatureNext: (names) => names.signatureNext },
    format: single(`${label}=`),
  };
}
