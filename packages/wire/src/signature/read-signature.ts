// Reads signature, id and timestamp of a request, or describes what is missing or malformed.
import { decode } from "../encoding.ts";
import type { HeaderNames } from "../headers.ts";
import { type Scheme, SIGNATURE_BYTES } from "./scheme.ts";
import { readTimeMs, timeProblem } from "./time.ts";

export type HeaderSource =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface ReceivedSignature {
  /** The signed texts; empty if the scheme has none. */
  readonly id: string;
  readonly timestamp: string;
  /** Null if no header contains it. */
  readonly signedAtMs: number | null;
  readonly signatures: readonly Uint8Array<ArrayBuffer>[];
}

export type SignatureProblem = {
  readonly ok: false;
  readonly reason: "header_missing" | "malformed";
  readonly detail: string;
};

// The standard forbids a dot, which would make the end of the id ambiguous. 255 is far above any id in use.
const MESSAGE_ID = /^[\x21-\x2d\x2f-\x7e]{1,255}$/;

/** Returns whether a scheme that signs the id accepts this one. */
export function isMessageId(id: string): boolean {
  return MESSAGE_ID.test(id);
}

const MAX_SIGNATURE_HEADER_LENGTH = 8192;
// A rotation has two or three; each costs a comparison, or 100 µs with ed25519.
const MAX_SIGNATURES = 16;

export function readSignature(
  scheme: Scheme,
  names: HeaderNames,
  source: HeaderSource,
): ReceivedSignature | SignatureProblem {
  const where = scheme.headers;
  const signature = onlyValue(source, where.signature(names));
  if (typeof signature !== "string") return signature;
  const id = where.id === undefined ? "" : onlyValue(source, where.id(names));
  if (typeof id !== "string") return id;
  const time = where.timestamp === undefined ? "" : onlyValue(source, where.timestamp(names));
  if (typeof time !== "string") return time;

  const values = [signature];
  if (where.signatureNext) values.push(...valuesOf(source, where.signatureNext(names)));
  const written = readValues(scheme, where.signature(names), values);
  if ("ok" in written) return written;

  if (where.id !== undefined && !isMessageId(id)) {
    return malformed(`the header ${where.id(names)} has no id of 1 to 255 visible characters without a dot`);
  }
  const timestamp = time === "" ? written.timestamp : time;
  const format = scheme.timeFormat ?? "seconds";
  const signedAtMs = timestamp === null ? null : readTimeMs(timestamp, format);
  if (timestamp !== null && signedAtMs === null) {
    const header = (where.timestamp ?? where.signature)(names);
    return malformed(`the timestamp in ${header} ${timeProblem(timestamp, format)}`);
  }
  return { id, timestamp: timestamp ?? "", signedAtMs, signatures: written.signatures };
}

interface Written {
  readonly signatures: readonly Uint8Array<ArrayBuffer>[];
  readonly timestamp: string | null;
}

function readValues(
  { name, format, encoding, algorithm }: Scheme,
  header: string,
  values: string[],
): Written | SignatureProblem {
  const texts: string[] = [];
  let timestamp: string | null = null;
  for (const value of values) {
    const read = value.length > MAX_SIGNATURE_HEADER_LENGTH ? null : format.read(value);
    if (read === null) return malformed(`the header ${header} is not written as ${name} is`);
    texts.push(...read.signatures);
    timestamp ??= read.timestamp;
  }
  if (texts.length > MAX_SIGNATURES) {
    return malformed(`the header ${header} has more than ${MAX_SIGNATURES} signatures`);
  }
  const length = SIGNATURE_BYTES[algorithm];
  const signatures: Uint8Array<ArrayBuffer>[] = [];
  for (const text of texts) {
    const bytes = decode(encoding, text);
    if (bytes !== null && (length === null || bytes.length === length)) signatures.push(bytes);
  }
  // A list without items of this version is well-formed; it does not match.
  if (texts.length > 0 && signatures.length === 0) {
    return malformed(`the header ${header} holds no signature of ${length} bytes in ${encoding}`);
  }
  return { signatures, timestamp };
}

function onlyValue(source: HeaderSource, name: string): string | SignatureProblem {
  const [value, ...others] = valuesOf(source, name);
  if (value === undefined) return missing(name);
  return others.length === 0 ? value : malformed(`the header ${name} is there more than once`);
}

function missing(name: string): SignatureProblem {
  return {
    ok: false,
    reason: "header_missing",
    detail: `the header ${name} is missing; a proxy may drop it`,
  };
}

export function malformed(detail: string): SignatureProblem {
  return { ok: false, reason: "malformed", detail };
}

/** Empty values count as absent. */
export function valuesOf(source: HeaderSource, name: string): string[] {
  if (hasGet(source)) {
    const value = source.get(name);
    return value ? [value] : [];
  }
  const wanted = name.toLowerCase();
  const values: string[] = [];
  for (const key of Object.keys(source)) {
    if (key.length !== wanted.length || key.toLowerCase() !== wanted) continue;
    const value = source[key] ?? [];
    for (const one of typeof value === "string" ? [value] : value) if (one !== "") values.push(one);
  }
  return values;
}

function hasGet(source: HeaderSource): source is { get(name: string): string | null } {
  return typeof source.get === "function";
}
