// Verifies that a request was signed with one of the given secrets, within the tolerance.
import { decode } from "../encoding.ts";
import { headerNames } from "../headers.ts";
import type { Secret } from "./keys.ts";
import { sha256HexOf } from "./own-crypto.ts";
import { type HeaderSource, malformed, readSignature } from "./read-signature.ts";
import type { Scheme, SignedMessage } from "./scheme.ts";
import { schemeNamed } from "./schemes.ts";
import { readTimeMs, timeProblem } from "./time.ts";
import { equalInConstantTime, type Key, keyFor, matchesAny, signedPartsOf } from "./web-crypto.ts";

export interface VerifyInput {
  readonly scheme: Scheme | string;
  /** Names in any case. A `Headers` object or the plain object of a Node request. */
  readonly headers: HeaderSource;
  /** The raw bytes; JSON that was parsed and serialised again does not verify. */
  readonly body: Uint8Array;
  /** All accepted secrets, to allow rotation. */
  readonly secrets: readonly Secret[];
  /** Required, like `url`, by schemes that sign the URL. */
  readonly method?: string | undefined;
  /** As the sender addressed it: https, public host name, path and query. */
  readonly url?: string | undefined;
  readonly headerPrefix?: string;
  /** Default 300, in both directions. `Infinity` for requests that waited in a queue. */
  readonly toleranceSeconds?: number;
  readonly now?: Date;
}

/**
 * `too_old` and `too_new` occur only with a valid signature. `explainFailure` returns `body_changed` for some cases of
 * `no_match`.
 */
export type VerifyFailure =
  | "header_missing"
  | "malformed"
  | "no_match"
  | "body_changed"
  | "too_old"
  | "too_new";

export interface FailedVerification {
  readonly ok: false;
  readonly reason: VerifyFailure;
  /** For the log, not for the sender: the header, the problem, the difference in seconds. */
  readonly detail: string;
}

export type VerifyResult = { readonly ok: true } | FailedVerification;

/** Throws only for invalid arguments: no usable secret, a missing URL, an invalid tolerance. */
export async function verify(input: VerifyInput): Promise<VerifyResult> {
  const scheme = typeof input.scheme === "string" ? schemeNamed(input.scheme) : input.scheme;
  const keys = knownKeys(scheme, input.secrets) ?? (await usableKeys(scheme, input.secrets));
  const tolerance = checkedTolerance(input.toleranceSeconds);

  const received = readSignature(scheme, headerNames(input.headerPrefix), input.headers);
  if ("ok" in received) return received;

  const { body, method, url } = input;
  const { id, timestamp, signatures } = received;
  const message: SignedMessage = { id, timestamp, body, method, url };
  let matched = false;
  for (const parts of signedPartsOf(scheme, message)) {
    for (const key of keys) {
      const matches = matchesAny(scheme, key, parts, signatures);
      matched = (typeof matches === "boolean" ? matches : await matches) || matched;
    }
  }
  if (!matched) {
    return { ok: false, reason: "no_match", detail: "none of the given secrets signed these bytes" };
  }
  if (scheme.bodyDigest !== undefined && !(await hasSignedDigest(scheme, message))) {
    const detail = "the URL is signed, but the body does not match the SHA-256 in it";
    return { ok: false, reason: "body_changed", detail };
  }
  const signedAtMs = scheme.timeInBody === undefined ? received.signedAtMs : timeInBody(scheme, body);
  if (typeof signedAtMs === "string") return malformed(signedAtMs);
  return checkAge(signedAtMs, tolerance, input.now ?? new Date()) ?? { ok: true };
}

/** Null if a secret is used for the first time, or none is usable. */
function knownKeys(scheme: Scheme, secrets: readonly Secret[]): Key[] | null {
  const keys: Key[] = [];
  for (const secret of secrets) {
    const key = keyFor(scheme, secret, "verify");
    if (key instanceof Promise) return null;
    if (key !== null) keys.push(key);
  }
  return keys.length === 0 ? null : keys;
}

async function usableKeys(scheme: Scheme, secrets: readonly Secret[]): Promise<Key[]> {
  const keys: Key[] = [];
  for (const secret of secrets) {
    const key = await keyFor(scheme, secret, "verify");
    if (key !== null) keys.push(key);
  }
  if (keys.length > 0) return keys;
  throw new TypeError(`None of the secrets given can verify the scheme "${scheme.name}".`);
}

function checkedTolerance(seconds = 300): number {
  if (seconds >= 0) return seconds;
  throw new RangeError(`toleranceSeconds must be a number from 0 to Infinity, not ${seconds}.`);
}

/** False if the signed text contains a digest that does not match the body. */
async function hasSignedDigest(scheme: Scheme, message: SignedMessage): Promise<boolean> {
  const digest = scheme.bodyDigest?.(message) ?? null;
  if (digest === null) return true;
  const actual = decode("hex", await sha256HexOf(message.body as Uint8Array<ArrayBuffer>));
  const signed = decode("hex", digest);
  return signed !== null && actual !== null && equalInConstantTime(signed, actual);
}

/** Milliseconds, or a description of the problem. The body is verified by now, so parsing it is safe. */
function timeInBody(scheme: Scheme, body: Uint8Array): number | string {
  const path = scheme.timeInBody as readonly string[];
  const format = scheme.timeFormat ?? "seconds";
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(body));
  } catch {
    return `the body is not JSON, so there is no time in ${path.join(".")}`;
  }
  for (const name of path) value = (value as Record<string, unknown> | null | undefined)?.[name];
  const text = typeof value === "number" || typeof value === "string" ? String(value) : "";
  return readTimeMs(text, format) ?? `the time in ${path.join(".")} of the body ${timeProblem(text, format)}`;
}

function checkAge(signedAtMs: number | null, tolerance: number, now: Date): FailedVerification | null {
  if (signedAtMs === null) return null;
  const age = Math.floor(now.getTime() / 1000) - Math.floor(signedAtMs / 1000);
  if (Math.abs(age) <= tolerance) return null;
  const [reason, direction] = age > 0 ? (["too_old", "past"] as const) : (["too_new", "future"] as const);
  const detail = `the timestamp is ${Math.abs(age)} seconds in the ${direction}; the tolerance is ${tolerance} seconds`;
  return { ok: false, reason, detail };
}
