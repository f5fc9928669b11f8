// The receiver's question: did the holder of one of these secrets send exactly these bytes, and just now?
import { decode } from "../encoding.ts";
import { headerNames } from "../headers.ts";
import { sha256Of } from "./own-crypto.ts";
import { type HeaderSource, malformed, readSignature } from "./read-signature.ts";
import type { Scheme, SignedMessage } from "./scheme.ts";
import { schemeNamed } from "./schemes.ts";
import { readTimeMs, timeProblem } from "./time.ts";
import { equalInConstantTime, type Key, matchesAny, signedContents, verifyingKey } from "./web-crypto.ts";

export interface VerifyInput {
  readonly scheme: Scheme | string;
  /** Names in any case. A `Headers` object or the plain object of a Node request. */
  readonly headers: HeaderSource;
  /** The bytes as they came; JSON that was parsed and written again is another body. */
  readonly body: Uint8Array;
  /** All that may have signed, so that a secret can be changed without a gap. */
  readonly secrets: readonly string[];
  /** Needed, with `url`, only by schemes that sign the URL. */
  readonly method?: string | undefined;
  /** As the sender addressed it: https, public host name, path and query. */
  readonly url?: string | undefined;
  readonly headerPrefix?: string;
  /** Default 300, into the past and the future. `Infinity` for requests that waited in a queue. */
  readonly toleranceSeconds?: number;
  readonly now?: Date;
}

/**
 * `too_old` and `too_new` are said only of a request that was truly signed; `body_changed` only by
 * `explainRefusal`, which looks closer at `no_match`.
 */
export type VerifyFailure =
  | "header_missing"
  | "malformed"
  | "no_match"
  | "body_changed"
  | "too_old"
  | "too_new";

export interface Refusal {
  readonly ok: false;
  readonly reason: VerifyFailure;
  /** For the log, never for the sender: which header, what is wrong with it, by how many seconds. */
  readonly detail: string;
}

export type VerifyResult = { readonly ok: true } | Refusal;

/** Throws only for wrong arguments: no secret this scheme can use, no URL where it is signed, a tolerance that is no number. */
export async function verify(input: VerifyInput): Promise<VerifyResult> {
  const scheme = typeof input.scheme === "string" ? schemeNamed(input.scheme) : input.scheme;
  const keys = await usableKeys(scheme, input.secrets);
  const tolerance = checkedTolerance(input.toleranceSeconds);

  const received = readSignature(scheme, headerNames(input.headerPrefix), input.headers);
  if ("ok" in received) return received;

  const { body, method, url } = input;
  const { id, timestamp, signatures } = received;
  const message: SignedMessage = { id, timestamp, body, method, url };
  let matched = false;
  for (const content of signedContents(scheme, message)) {
    for (const key of keys) matched = (await matchesAny(scheme, key, content, signatures)) || matched;
  }
  if (!matched) {
    return { ok: false, reason: "no_match", detail: "no secret given has signed these bytes" };
  }
  if (!(await isBodyPromised(scheme, message))) {
    const detail = "the URL was signed, but the body is not the one whose SHA-256 it holds";
    return { ok: false, reason: "body_changed", detail };
  }
  const signedAtMs = scheme.timeInBody === undefined ? received.signedAtMs : timeInBody(scheme, body);
  if (typeof signedAtMs === "string") return malformed(signedAtMs);
  return untimely(signedAtMs, tolerance, input.now ?? new Date()) ?? { ok: true };
}

async function usableKeys(scheme: Scheme, secrets: readonly string[]): Promise<Key[]> {
  const keys: Key[] = [];
  for (const secret of secrets) {
    const key = await verifyingKey(scheme, secret);
    if (key !== null) keys.push(key);
  }
  if (keys.length > 0) return keys;
  throw new TypeError(`None of the secrets given can verify the scheme "${scheme.name}".`);
}

function checkedTolerance(seconds = 300): number {
  if (seconds >= 0) return seconds;
  throw new RangeError(`toleranceSeconds is a number from 0 to Infinity, not ${seconds}.`);
}

/** True unless the signed text holds a digest in place of the body, and the body has another. */
async function isBodyPromised(scheme: Scheme, message: SignedMessage): Promise<boolean> {
  const digest = scheme.bodyDigest?.(message) ?? null;
  if (digest === null) return true;
  const actual = await sha256Of(message.body as Uint8Array<ArrayBuffer>);
  const promised = decode("hex", digest);
  return promised !== null && equalInConstantTime(promised, actual);
}

/** Milliseconds, or a description of the problem. The body is verified by now, so parsing it is safe. */
function timeInBody(scheme: Scheme, body: Uint8Array): number | string {
  const path = scheme.timeInBody as readonly string[];
  const format = scheme.timeFormat ?? "seconds";
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(body));
  } catch {
    return `the body is not JSON, and should hold the time in ${path.join(".")}`;
  }
  for (const name of path) value = (value as Record<string, unknown> | null | undefined)?.[name];
  const text = typeof value === "number" || typeof value === "string" ? String(value) : "";
  return readTimeMs(text, format) ?? `the time in ${path.join(".")} of the body ${timeProblem(text, format)}`;
}

function untimely(signedAtMs: number | null, tolerance: number, now: Date): Refusal | null {
  if (signedAtMs === null) return null;
  const age = Math.floor(now.getTime() / 1000) - Math.floor(signedAtMs / 1000);
  if (Math.abs(age) <= tolerance) return null;
  const [reason, direction] = age > 0 ? (["too_old", "past"] as const) : (["too_new", "future"] as const);
  const detail = `the timestamp lies ${Math.abs(age)} seconds in the ${direction}; ${tolerance} are allowed`;
  return { ok: false, reason, detail };
}
