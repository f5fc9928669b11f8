// Masks redacted paths for people without the scope and for public topics. Endpoints always receive the unredacted
// bytes.
import { unescapePointer } from "@posthorn/wire";
import type { Event } from "../model.ts";

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
  return "Brackets are no part of a JSON Pointer: write /lines/0/price for one item, /lines/*/price for every item.";
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
  return paths.length === 0 ? data : masked(data, [placeOf(paths.map(partsOf))], mask);
}

/** The state of all paths at a value, so that one walk through the data serves all of them. */
interface Place {
  /** A path ends here. */
  readonly isEnd: boolean;
  /** Continues for every item or member. */
  readonly every: Place | null;
  readonly names: ReadonlyMap<string, Place>;
  /** Names that may be array indexes. */
  readonly indexes: ReadonlyMap<string, Place>;
  /** Continues in the items of an array where an object was expected. */
  readonly ofItems: Place | null;
}

const INDEX = /^(0|[1-9]\d*)$/;

function placeOf(paths: readonly (readonly string[])[]): Place {
  const byPart = new Map<string, (readonly string[])[]>();
  for (const [part, ...rest] of paths) {
    if (part !== undefined) byPart.set(part, [...(byPart.get(part) ?? []), rest]);
  }
  const places = [...byPart].map(([part, rest]) => [part, placeOf(rest)] as const);
  const names = new Map(places.filter(([part]) => part !== "*" && !INDEX.test(part)));
  return {
    isEnd: paths.some(({ length }) => length === 0),
    every: places.find(([part]) => part === "*")?.[1] ?? null,
    names,
    indexes: new Map(places.filter(([part]) => INDEX.test(part))),
    ofItems: names.size === 0 ? null : ofItemsWith(names),
  };
}

/** Nested arrays are traversed by names, not by indexes. */
function ofItemsWith(names: Place["names"]): Place {
  const place = { isEnd: false, every: null, names, indexes: new Map(), ofItems: null as Place | null };
  place.ofItems = place;
  return place;
}

/** A value that a path cannot be followed through may be the secret in another shape, so it is masked. */
function masked(value: unknown, places: readonly Place[], mask: unknown): unknown {
  if (places.some(({ isEnd }) => isEnd)) return mask;
  if (value === null || places.length === 0) return value;
  if (typeof value !== "object") return mask;
  if (Array.isArray(value)) return maskedList(value, places, mask);
  const names = Object.keys(value);
  if (places.some((place) => isNoList(names, place))) return mask;
  const members = value as Record<string, unknown>;
  // own members, so __proto__ is an ordinary name
  for (const name of names) members[name] = masked(members[name], placesOfMember(name, places), mask);
  return value;
}

function placesOfMember(name: string, places: readonly Place[]): Place[] {
  const found: Place[] = [];
  for (const { every, names, indexes } of places) {
    if (every !== null) found.push(every);
    const named = names.get(name) ?? indexes.get(name);
    if (named !== undefined) found.push(named);
  }
  return found;
}

/** Whether an object appears where a path has an index, with other keys than indexes. */
function isNoList(names: readonly string[], { indexes }: Place): boolean {
  return (
    indexes.size > 0 && !names.some((name) => indexes.has(name)) && !names.every((name) => INDEX.test(name))
  );
}

function maskedList(list: unknown[], places: readonly Place[], mask: unknown): unknown[] {
  const ofEach: Place[] = [];
  for (const { every, ofItems } of places) {
    if (every !== null) ofEach.push(every);
    if (ofItems !== null) ofEach.push(ofItems);
  }
  const hasIndexes = places.some(({ indexes }) => indexes.size > 0);
  for (let index = 0; index < list.length; index += 1) {
    const ofThis = hasIndexes ? [...ofEach, ...placesAt(index, places)] : ofEach;
    list[index] = masked(list[index], ofThis, mask);
  }
  return list;
}

function placesAt(index: number, places: readonly Place[]): Place[] {
  return places.flatMap(({ indexes }) => indexes.get(String(index)) ?? []);
}

function partsOf(path: string): string[] {
  return path.slice(1).split("/").map(unescapePointer);
}
