// Masks redacted paths for people without the scope and for public topics. Endpoints always receive the unredacted
// bytes.
import { ownTypeOf, unescapePointer } from "@posthorn/wire";
import { BATCH_TYPE, type Event } from "../model.ts";

export const REDACTED = "[redacted]";
export const MAX_REDACT_PATHS = 50;
export const MAX_REDACT_PATH_LENGTH = 256;

/** Checks a JSON Pointer whose parts may be `*`: every item of an array or member of an object. */
export function redactPathProblem(path: unknown): string | null {
  const isPath = typeof path === "string" && path.startsWith("/") && !/\p{Cc}|\p{Cs}/u.test(path);
  if (!isPath || path.length > MAX_REDACT_PATH_LENGTH)
    return `A path is a JSON Pointer into data of at most ${MAX_REDACT_PATH_LENGTH} characters, such as /card/number or /lines/*/price.`;
  const [item] = /[^/]\[(?:\d+|\*?)\](?=\/|$)/.exec(path) ?? [];
  if (item === undefined) return null;
  return "Brackets are not part of a JSON Pointer: write /lines/0/price for one item, /lines/*/price for every item.";
}

/** Redacted paths of a type; for a null version those of all versions. */
export type RedactedPaths = (type: string, apiVersion: string | null) => readonly string[];

/** Returns the redacted paths of an event: for a batch those of every member, and all of data that is not JSON. */
export function redactedPathsOf(event: Event, redactedPaths: RedactedPaths): readonly string[] {
  if (event.type === BATCH_TYPE) return redactedPathsOfBatch(event, redactedPaths);
  const paths = redactedPaths(event.type, event.apiVersion);
  return paths.length > 0 && event.attributes?.encoding !== undefined ? [WHOLE] : paths;
}

const WHOLE = "";

export function redactedEvent(event: Event, redactedPaths: RedactedPaths): Event {
  const paths = redactedPathsOf(event, redactedPaths);
  return paths.length === 0 ? event : redactEvent(event, paths);
}

function redactedPathsOfBatch({ payload }: Event, redactedPaths: RedactedPaths): string[] {
  const members = JSON.parse(Buffer.from(payload).toString("utf8")) as readonly Record<string, unknown>[];
  return members.flatMap(({ type, apiversion }, index) => {
    const version = typeof apiversion === "string" ? apiversion : "1";
    const paths = redactedPaths(ownTypeOf(String(type)), version);
    if (paths.length === 0) return [];
    return [`/${index}/data_base64`, ...paths.map((path) => `/${index}/data${path}`)];
  });
}

/**
 * Returns the JSON with everything at the paths masked, including values that a path cannot be followed through. Without
 * paths, returns the same bytes.
 */
export function redactPayload(payload: Uint8Array, paths: readonly string[]): Buffer {
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  if (paths.length === 0) return bytes;
  return Buffer.from(JSON.stringify(redactData(JSON.parse(bytes.toString("utf8")), paths, REDACTED)));
}

/** Redacts an event. The mask for binary data is text, not base64. */
export function redactEvent({ attributes, ...event }: Event, paths: readonly string[]): Event {
  const payload = redactPayload(event.payload, paths);
  const isBytes = paths.length > 0 && attributes?.encoding === "base64";
  return { ...event, payload, attributes: isBytes ? { ...attributes, encoding: "text" } : attributes };
}

/** Replaces everything at the paths by the mask, in place. */
export function redactData(data: unknown, paths: readonly string[], mask: unknown): unknown {
  return paths.reduce((shown, path) => masked(shown, partsOf(path), 0, mask), data);
}

const INDEX = /^(0|[1-9]\d*)$/;

/** Follows a path from its part `at`. A value that it cannot be followed through may be the secret in another shape. */
function masked(value: unknown, parts: readonly string[], at: number, mask: unknown): unknown {
  const part = parts[at];
  if (part === undefined) return mask;
  if (value === null) return value;
  if (typeof value !== "object") return mask;
  const isIndex = INDEX.test(part);
  if (Array.isArray(value) && !isIndex) {
    // a name where there is an array: the path continues in its items
    const next = part === "*" ? at + 1 : at;
    for (const [index, item] of value.entries()) value[index] = masked(item, parts, next, mask);
    return value;
  }
  const members = value as Record<string, unknown>;
  // own members only, so __proto__ is an ordinary name
  const one = Object.hasOwn(members, part) ? [part] : [];
  const names = part === "*" ? Object.keys(members) : one;
  for (const name of names) members[name] = masked(members[name], parts, at + 1, mask);
  if (!isIndex || names.length > 0 || Array.isArray(value)) return value;
  // an index where there is an object
  return Object.keys(members).every((name) => INDEX.test(name)) ? value : mask;
}

function partsOf(path: string): string[] {
  return path.slice(1).split("/").map(unescapePointer);
}
