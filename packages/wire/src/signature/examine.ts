// Finds the scheme of a given request, for tools: `posthorn verify` and the dashboard. A receiver knows its scheme and
// uses `verify`.
import { headerNames } from "../headers.ts";
import { explainFailure } from "./explain.ts";
import { verifyingKeyBytes } from "./keys.ts";
import { readSignature, valuesOf } from "./read-signature.ts";
import type { Scheme } from "./scheme.ts";
import { schemeNamed, schemeNames } from "./schemes.ts";
import { type VerifyFailure, type VerifyInput, verify } from "./verify.ts";

export interface Finding {
  readonly scheme: string;
  readonly ok: boolean;
  /** Null if the signature is valid. `url_missing`: the URL is signed, but was not given. */
  readonly reason: VerifyFailure | "url_missing" | null;
  /** A sentence without its full stop. */
  readonly message: string;
}

export type ExaminedRequest = Omit<VerifyInput, "scheme">;

/**
 * Tries every scheme whose header is present and for which a secret was given; empty if there is none. HTTP Message Signatures are
 * left to the libraries of that standard.
 */
export async function examine(request: ExaminedRequest): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const scheme of signedBy(request)) {
    if (request.secrets.some((secret) => verifyingKeyBytes(scheme.key, secret) !== null))
      findings.push(await tryScheme(scheme, request));
  }
  // Several schemes read the same header, but only one was used: report that one.
  const valid = findings.filter(({ ok }) => ok);
  if (valid.length > 0) return valid;
  const specific = findings.filter(({ reason }) => reason !== "header_missing" && reason !== "malformed");
  return specific.length > 0 ? specific : findings;
}

/** The schemes whose signature header is present, valid or not. */
export function signedBy({ headers, headerPrefix }: Pick<VerifyInput, "headers" | "headerPrefix">): Scheme[] {
  const names = headerNames(headerPrefix);
  return [...schemeNames, ...labelledIn(valuesOf(headers, names.signature))]
    .map(schemeNamed)
    .filter((scheme) => !scheme.isMessageSignature)
    .filter((scheme) => valuesOf(headers, scheme.headers.signature(names)).length > 0);
}

/** The schemes with a label of their own that a signature header may have, by the length of the signature. */
function labelledIn(values: readonly string[]): readonly string[] {
  return values.flatMap((value) => {
    const [, label, hex = ""] = /^([\w.-]{1,32})=([0-9a-f]+)$/.exec(value) ?? [];
    if (label === undefined || schemeNames.includes(label)) return [];
    if (hex.length === 64) return [`sha256:${label}`, `two-headers:${label}`];
    return hex.length === 128 ? [`sha512:${label}`] : [];
  });
}

async function tryScheme(scheme: Scheme, request: ExaminedRequest): Promise<Finding> {
  const { name } = scheme;
  if (scheme.signedUrls !== undefined && (request.url === undefined || request.method === undefined)) {
    const message = "the URL is signed too; pass the URL that the request was sent to";
    return { scheme: name, ok: false, reason: "url_missing", message };
  }
  const input = { ...request, scheme };
  const result = await verify(input);
  if (result.ok) return { scheme: name, ok: true, reason: null, message: describeValid(scheme, request) };
  const { reason, hint } = await explainFailure(input, result, "thorough");
  return { scheme: name, ok: false, reason, message: hint };
}

function describeValid(scheme: Scheme, { headers, headerPrefix, toleranceSeconds }: ExaminedRequest): string {
  const received = readSignature(scheme, headerNames(headerPrefix), headers);
  const isTimed =
    scheme.timeInBody !== undefined || ("signedAtMs" in received && received.signedAtMs !== null);
  if (!isTimed) return "signed with the given secret; the time is not signed, so the age is unknown";
  const isChecked = toleranceSeconds !== Number.POSITIVE_INFINITY;
  return `signed with the given secret${isChecked ? ", within the tolerance" : ""}`;
}
