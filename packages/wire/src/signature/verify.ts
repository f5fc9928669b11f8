// The receiver's question: did the holder of one of these secrets send exactly these bytes, and just now?
import { decode } from "../encoding.ts";
import { type HeaderNames, headerNames } from "../headers.ts";
import { verifyingKeyBytes } from "./keys.ts";
import { type Scheme, SIGNATURE_BYTES } from "./scheme.ts";
import { schemeNamed } from "./schemes.ts";
import { joinParts, matchesAny } from "./web-crypto.ts";

export interface VerifyInput {
  readonly scheme: Scheme | string;
  /** Names in any case. A `Headers` object or the plain object of a Node request. */
  readonly headers: HeaderSource;
  /** The bytes as they came; JSON that was parsed and written again is another body. */
  readonly body: Uint8Array;
  /** All that may have signed, so that a secret can be changed without a gap. */
  readonly secrets: readonly string[];
  readonly headerPrefix?: string;
  /** Default 300, into the past and the future. `Infinity` for requests that waited in a queue. */
  readonly toleranceSeconds?: number;
  readonly now?: Date;
}

export type HeaderSource =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** `too_old` and `too_new` are said only of a request that was truly signed. */
export type VerifyFailure = "header_missing" | "malformed" | "no_match" | "too_old" | "too_new";
export type VerifyResult = { readonly ok: true } | { readonly ok: false; readonly reason: VerifyFailure };

const TIMESTAMP = /^\d{1,12}$/;
// The standard forbids a dot, by which the end of the id could be moved. 255 is far above any id in use.
const MESSAGE_ID = /^[\x21-\x2d\x2f-\x7e]{1,255}$/;
const MAX_SIGNATURE_HEADER_LENGTH = 8192;

/** Throws only for wrong arguments: no secret this scheme can use, a tolerance that is not a number. */
export async function verify(input: VerifyInput): Promise<VerifyResult> {
  const scheme = typeof input.scheme === "string" ? schemeNamed(input.scheme) : input.scheme;
  const keys = usableKeys(scheme, input.secrets);
  const tolerance = checkedTolerance(input.toleranceSeconds);

  const received = readRequest(scheme, headerNames(input.headerPrefix), input.headers);
  if (typeof received === "string") return { ok: false, reason: received };

  const { id, timestamp, signatures } = received;
  const content = joinParts(
    scheme.signedParts({ id: id ?? "", timestamp: timestamp ?? "", body: input.body }),
  );
  let matched = false;
  for (const key of keys) matched = (await matchesAny(scheme, key, content, signatures)) || matched;
  if (!matched) return { ok: false, reason: "no_match" };

  const reason = timestamp === null ? null : untimely(Number(timestamp), tolerance, input.now ?? new Date());
  return reason === null ? { ok: true } : { ok: false, reason };
}

function usableKeys(scheme: Scheme, secrets: readonly string[]): Uint8Array<ArrayBuffer>[] {
  const keys = secrets.map((secret) => verifyingKeyBytes(scheme.key, secret)).filter((key) => key !== null);
  if (keys.length > 0) return keys;
  throw new TypeError(`None of the secrets given can verify the scheme "${scheme.name}".`);
}

function checkedTolerance(seconds = 300): number {
  if (seconds >= 0) return seconds;
  throw new RangeError(`toleranceSeconds is a number from 0 to Infinity, not ${seconds}.`);
}

interface Received {
  readonly id: string | null;
  readonly timestamp: string | null;
  readonly signatures: readonly Uint8Array<ArrayBuffer>[];
}

function readRequest(scheme: Scheme, names: HeaderNames, source: HeaderSource): Received | VerifyFailure {
  const where = scheme.headers;
  const values = valuesOf(source, where.signature(names));
  const ids = where.id && valuesOf(source, where.id(names));
  const timestamps = where.timestamp && valuesOf(source, where.timestamp(names));
  const needed = [values, ids, timestamps].filter((found) => found !== undefined);
  if (needed.some((found) => found.length === 0)) return "header_missing";
  if (needed.some((found) => found.length > 1)) return "malformed";
  if (where.signatureNext) values.push(...valuesOf(source, where.signatureNext(names)));

  const signatures: string[] = [];
  const times = [...(timestamps ?? [])];
  for (const value of values) {
    const read = value.length > MAX_SIGNATURE_HEADER_LENGTH ? null : scheme.format.read(value);
    if (read === null) return "malformed";
    signatures.push(...read.signatures);
    if (read.timestamp !== null) times.push(read.timestamp);
  }
  const [id = null] = ids ?? [];
  const [timestamp = null] = times;
  if (id !== null && !MESSAGE_ID.test(id)) return "malformed";
  if (timestamp !== null && !TIMESTAMP.test(timestamp)) return "malformed";

  const decoded = signatures
    .map((text) => decode(scheme.encoding, text))
    .filter((bytes) => bytes?.length === SIGNATURE_BYTES[scheme.algorithm]);
  // A list that has items, but none of this version, is well-formed: it does not match.
  if (signatures.length > 0 && decoded.length === 0) return "malformed";
  return { id, timestamp, signatures: decoded as Uint8Array<ArrayBuffer>[] };
}

function untimely(timestamp: number, tolerance: number, now: Date): "too_old" | "too_new" | null {
  const age = Math.floor(now.getTime() / 1000) - timestamp;
  if (age > tolerance) return "too_old";
  return -age > tolerance ? "too_new" : null;
}

/** Empty values count as absent. */
function valuesOf(source: HeaderSource, name: string): string[] {
  if (hasGet(source)) return [source.get(name) ?? ""].filter(Boolean);
  const wanted = name.toLowerCase();
  return Object.entries(source)
    .filter(([key]) => key.toLowerCase() === wanted)
    .flatMap(([, value]) => value ?? [])
    .filter(Boolean);
}

function hasGet(source: HeaderSource): source is { get(name: string): string | null } {
  return typeof source.get === "function";
}
