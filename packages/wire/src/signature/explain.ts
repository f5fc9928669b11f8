// Explains why a request was rejected, for the receiver's log and `posthorn verify`. The sender does not learn it.
import { verifyingKeyBytes } from "./keys.ts";
import { schemeNamed } from "./schemes.ts";
import { type FailedVerification, type VerifyFailure, type VerifyInput, verify } from "./verify.ts";

export interface Explanation {
  readonly reason: VerifyFailure;
  /** A sentence without its full stop: what happened, and what to check. */
  readonly hint: string;
}

/** `bounded` for untrusted requests; `thorough` for one that a person examines. */
export type Effort = "bounded" | "thorough";

// Anyone can send a request with a wrong signature, so explaining it must not cost much more than rejecting it. At most 5 changes
// are undone, each tried with at most 2 secrets, and only if the body is small: 10 HMACs of 64 KB and one pass of JSON take
// about 2 ms. Receivers also limit explanations to a few per second; a configuration error repeats, so none is missed.
const LIMITS = {
  bounded: { bodyBytes: 64 * 1024, secrets: 2 },
  thorough: { bodyBytes: Number.POSITIVE_INFINITY, secrets: Number.POSITIVE_INFINITY },
} as const;

/** Takes the input and the result of `verify`. */
export async function explainFailure(
  input: VerifyInput,
  failure: FailedVerification,
  effort: Effort = "bounded",
): Promise<Explanation> {
  const { reason, detail } = failure;
  if (reason === "no_match") return explainMismatch(input, effort);
  return { reason, hint: HINTS[reason] === undefined ? detail : `${HINTS[reason]}: ${detail}` };
}

const HINTS: Partial<Record<VerifyFailure, string>> = {
  too_old:
    "the signature is valid, but the timestamp is older than the tolerance. The request was delayed or replayed, or a clock is wrong",
  too_new:
    "the signature is valid, but the timestamp is in the future. The clock of this machine or of the sender is wrong",
};

/** Undoes common changes of the body; if the signature matches then, that was the cause. Otherwise the secret is probably wrong. */
async function explainMismatch(input: VerifyInput, effort: Effort): Promise<Explanation> {
  if (input.secrets.some((secret) => typeof secret === "string" && secret.trim() !== secret)) {
    return noMatch("a secret has leading or trailing white space");
  }
  if (input.body.length > LIMITS[effort].bodyBytes) return noMatch(NO_MATCH);
  const scheme = typeof input.scheme === "string" ? schemeNamed(input.scheme) : input.scheme;
  const usable = input.secrets.filter((secret) => verifyingKeyBytes(scheme.key, secret) !== null);
  const secrets = usable.slice(0, LIMITS[effort].secrets);
  const timeless = { ...input, secrets, toleranceSeconds: Number.POSITIVE_INFINITY };
  for (const [change, undone] of usualChanges(input.body)) {
    if ((await verify({ ...timeless, body: undone })).ok) {
      const hint = `the secret is right, but the body was changed in transit: ${change}`;
      return { reason: "body_changed", hint };
    }
  }
  if (scheme.signedUrls === undefined) return noMatch(NO_MATCH);
  return noMatch(`${NO_MATCH}. The URL is signed too; the URL used was ${input.url}`);
}

function noMatch(hint: string): Explanation {
  return { reason: "no_match", hint };
}

const NO_MATCH =
  "none of the given secrets signed these bytes. The secret belongs to another endpoint or was rotated, or the body was changed; verify the raw bytes, before any JSON parser";

function* usualChanges(body: Uint8Array): Generator<[change: string, undone: Uint8Array]> {
  // A byte order mark is one of the changes, so decoding must keep it.
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(body);
  const bytes = (changed: string): Uint8Array => new TextEncoder().encode(changed);
  if (/\r?\n$/.test(text)) yield ["a line ending was added", bytes(text.replace(/\r?\n$/, ""))];
  if (text.includes("\r\n")) yield ["line endings became CRLF", bytes(text.replaceAll("\r\n", "\n"))];
  if (text.startsWith("\u{feff}")) yield ["a byte order mark was added", bytes(text.slice(1))];
  yield ["the last line ending is missing", bytes(`${text}\n`)];
  try {
    yield [
      "the JSON was parsed and serialised again with different white space",
      bytes(JSON.stringify(JSON.parse(text))),
    ];
  } catch {
    // Not JSON, so it was not rewritten as JSON.
  }
}
