// The signature, id and time that came with a request: found, or a sentence about what is missing or misspelt.
import { decode } from "../encoding.ts";
import type { HeaderNames } from "../headers.ts";
import { type Scheme, SIGNATURE_BYTES } from "./scheme.ts";
import { readTimeMs, timeProblem } from "./time.ts";

export type HeaderSource =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface ReceivedSignature {
  /** As the texts that were signed; empty where a scheme has none. */
  readonly id: string;
  readonly timestamp: string;
  /** Null when no header holds them. */
  readonly signedAtMs: number | null;
  readonly signatures: readonly Uint8Array<ArrayBuffer>[];
}

export type Unreadable = {
  readonly ok: false;
  readonly reason: "header_missing" | "malformed";
  readonly detail: string;
};

// The standard forbids a dot, by which the end of the id could be moved. 255 is far above any id in use.
const MESSAGE_ID = /^[\x21-\x2d\x2f-\x7e]{1,255}$/;
const MAX_SIGNATURE_HEADER_LENGTH = 8192;
// A rotation has two or three; each costs a comparison, or 100 µs with ed25519.
const MAX_SIGNATURES = 16;

export function readSignature(
  scheme: Scheme,
  names: HeaderNames,
  source: HeaderSource,
): ReceivedSignature | Unreadable {
  const where = scheme.headers;
  const idName = where.id?.(names);
  const timeName = where.timestamp?.(names);
  const signatureName = where.signature(names);
  const found = new Map<string, string>();
  for (const name of [signatureName, idName, timeName]) {
    if (name === undefined) continue;
    const values = valuesOf(source, name);
    if (values.length === 0) return missing(name);
    if (values.length > 1) return malformed(`the header ${name} is there more than once`);
    found.set(name, values[0] as string);
  }

  const values = [found.get(signatureName) as string];
  if (where.signatureNext) values.push(...valuesOf(source, where.signatureNext(names)));
  const texts: string[] = [];
  const times: string[] = timeName === undefined ? [] : [found.get(timeName) as string];
  for (const value of values) {
    const read = value.length > MAX_SIGNATURE_HEADER_LENGTH ? null : scheme.format.read(value);
    if (read === null) return malformed(`the header ${signatureName} is not written as ${scheme.name} is`);
    texts.push(...read.signatures);
    if (read.timestamp !== null) times.push(read.timestamp);
  }
  if (texts.length > MAX_SIGNATURES) {
    return malformed(`the header ${signatureName} has more than ${MAX_SIGNATURES} signatures`);
  }

  const id = idName === undefined ? "" : (found.get(idName) as string);
  if (idName !== undefined && !MESSAGE_ID.test(id)) {
    return malformed(`the header ${idName} has no id of 1 to 255 visible characters without a dot`);
  }
  const [timestamp] = times;
  const format = scheme.timeFormat ?? "seconds";
  const signedAtMs = timestamp === undefined ? null : readTimeMs(timestamp, format);
  if (timestamp !== undefined && signedAtMs === null) {
    return malformed(`the timestamp in ${timeName ?? signatureName} ${timeProblem(timestamp, format)}`);
  }

  const signatures = texts
    .map((text) => decode(scheme.encoding, text))
    .filter((bytes) => bytes?.length === SIGNATURE_BYTES[scheme.algorithm]);
  // A list that has items, but none of this version, is well-formed: it does not match.
  if (texts.length > 0 && signatures.length === 0) {
    const length = SIGNATURE_BYTES[scheme.algorithm];
    return malformed(
      `the header ${signatureName} holds no signature of ${length} bytes in ${scheme.encoding}`,
    );
  }
  return {
    id,
    timestamp: timestamp ?? "",
    signedAtMs,
    signatures: signatures as Uint8Array<ArrayBuffer>[],
  };
}

function missing(name: string): Unreadable {
  return {
    ok: false,
    reason: "header_missing",
    detail: `the header ${name} is missing; a proxy may drop it`,
  };
}

export function malformed(detail: string): Unreadable {
  return { ok: false, reason: "malformed", detail };
}

/** Empty values count as absent. */
function valuesOf(source: HeaderSource, name: string): string[] {
  if (hasGet(source)) return [source.get(name) ?? ""].filter(Boolean);
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
