// Finds the bytes of each member of a JSON object, or of each object in an array: parsing and serializing would lose 1.0,
// big integers, key order and repeated keys. Text that is not JSON is scanned to the end as well, to check limits before
// JSON.parse reports what is wrong. About 2 ns per byte.
import { endOfValue, isSpace } from "./end-of-value.ts";

/** Nesting of arrays and objects within the value of one member. */
export const MAX_DEPTH = 64;

export interface RawValue {
  readonly start: number;
  readonly end: number;
}

/** The value of a member, and the range of its name including quotes. */
export interface RawMember extends RawValue {
  readonly nameStart: number;
  readonly nameEnd: number;
}

/** An object's members in the order they are written. */
export type RawMembers = readonly RawMember[];

export interface RawItem extends RawValue {
  readonly members: RawMembers;
}

export class TooDeepError extends Error {}

/** Per object: many more than an event has. Half a million names took the parser and the checks 20 s. */
export const MAX_MEMBERS = 100;
export class TooManyMembersError extends Error {}

/** A document or array item that is not an object has no members. */
export type RawDocument = (
  | { readonly kind: "object"; readonly members: RawMembers }
  | { readonly kind: "array"; readonly items: readonly RawItem[] }
) & {
  /** True if JSON.parse accepts the text, given that it is UTF-8. Not determined, and false, for scalars and deep values. */
  readonly isValid: boolean;
};

export interface RawLimits {
  readonly depth: number;
  readonly members: number;
}

const LIMITS: RawLimits = { depth: MAX_DEPTH, members: MAX_MEMBERS };

export function rawMembers(json: Uint8Array, limits: RawLimits = LIMITS): RawDocument {
  return new Scanner(json, limits).document();
}

/** The bytes of the value at a path of valid JSON, of the last of repeated names as JSON.parse has it; null if there is none. */
export function rawValueAt(json: Uint8Array, path: readonly string[]): Uint8Array<ArrayBuffer> | null {
  let value = json;
  for (const name of path) {
    const document = rawMembers(value, NO_LIMITS);
    const found =
      document.kind === "array" ? document.items[Number(name)] : memberNamed(value, document.members, name);
    if (found === undefined) return null;
    value = value.subarray(found.start, found.end);
  }
  return new Uint8Array(value);
}

/** The bytes of each item of a valid JSON array, found in one pass. */
export function rawItems(json: Uint8Array): Uint8Array<ArrayBuffer>[] {
  const document = rawMembers(json, NO_LIMITS);
  const items = document.kind === "array" ? document.items : [];
  return items.map(({ start, end }) => new Uint8Array(json.subarray(start, end)));
}

const NO_LIMITS: RawLimits = { depth: Number.POSITIVE_INFINITY, members: Number.POSITIVE_INFINITY };

function memberNamed(json: Uint8Array, members: RawMembers, name: string): RawMember | undefined {
  return members.findLast(
    ({ nameStart, nameEnd }) => JSON.parse(decoder.decode(json.subarray(nameStart, nameEnd))) === name,
  );
}

const decoder = new TextDecoder();

/** The number of member names in a valid JSON text, repeated ones included. */
export function namesWritten(json: Uint8Array): number {
  let names = 0;
  let isInString = false;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === QUOTE) isInString = !isInString;
    else if (byte === BACKSLASH) at += 1;
    else if (byte === COLON && !isInString) names += 1;
  }
  return names;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

const NO_MEMBERS: RawMembers = [];

class Scanner {
  readonly #json: Uint8Array;
  readonly #limits: RawLimits;
  #at = 0;
  #isValid = true;

  constructor(json: Uint8Array, limits: RawLimits) {
    this.#json = json;
    this.#limits = limits;
  }

  document(): RawDocument {
    this.#skipSpace();
    const isArray = this.#byte() === OPEN_ARRAY;
    const found = isArray ? this.#items() : this.#members();
    this.#skipSpace();
    const isValid = this.#isValid && found !== NO_MEMBERS && this.#at === this.#json.length;
    return isArray
      ? { kind: "array", items: found as readonly RawItem[], isValid }
      : { kind: "object", members: found as RawMembers, isValid };
  }

  /** Ends after the closing bracket. */
  #items(): readonly RawItem[] {
    const items: RawItem[] = [];
    this.#at += 1;
    this.#skipSpace();
    while (this.#at < this.#json.length && this.#byte() !== CLOSE_ARRAY) {
      const start = this.#at;
      const members = this.#members();
      items.push({ start, end: this.#at, members });
      this.#skipComma(CLOSE_ARRAY);
    }
    this.#at += 1;
    return items;
  }

  /** Ends after the closing brace. */
  #members(): RawMembers {
    if (this.#byte() !== OPEN_OBJECT) {
      this.#skipValue();
      return NO_MEMBERS;
    }
    const members: RawMember[] = [];
    this.#at += 1;
    this.#skipSpace();
    while (this.#at < this.#json.length && this.#byte() !== CLOSE_OBJECT) {
      const nameStart = this.#at;
      this.#require(QUOTE);
      this.#skipValue();
      const nameEnd = this.#at;
      this.#skipSpace();
      this.#require(COLON);
      this.#skipSeparator(COLON);
      const start = this.#at;
      this.#skipValue();
      members.push({ start, end: this.#at, nameStart, nameEnd });
      if (members.length > this.#limits.members) throw new TooManyMembersError();
      this.#skipComma(CLOSE_OBJECT);
    }
    this.#at += 1;
    return members;
  }

  /** A comma must be followed by another value, and the last value by the closing byte. */
  #skipComma(close: number): void {
    this.#skipSpace();
    const isLast = this.#byte() === close;
    if (!isLast) this.#require(COMMA);
    this.#skipSeparator(COMMA);
    if (!isLast && this.#byte() === close) this.#isValid = false;
  }

  #require(byte: number): void {
    if (this.#byte() !== byte) this.#isValid = false;
  }

  #skipSeparator(separator: number): void {
    this.#skipSpace();
    if (this.#byte() !== separator) return;
    this.#at += 1;
    this.#skipSpace();
  }

  #skipValue(): void {
    const end = this.#isValid
      ? endOfValue(this.#json, this.#at, Math.min(this.#limits.depth, MAX_DEPTH))
      : -1;
    if (end !== -1 && endsScalar(this.#json[end] ?? COMMA)) {
      this.#at = end;
      return;
    }
    this.#isValid = false;
    this.#skipInvalid();
  }

  /** Always advances by at least one byte, so that it terminates. */
  #skipInvalid(): void {
    const first = this.#byte();
    if (first === QUOTE) this.#skipString();
    else if (first === OPEN_OBJECT || first === OPEN_ARRAY) this.#skipNested();
    else this.#skipScalar();
  }

  #skipString(): void {
    const json = this.#json;
    let at = this.#at + 1;
    while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1;
    this.#at = at + 1;
  }

  #skipNested(): void {
    const json = this.#json;
    let depth = 0;
    for (let at = this.#at; at < json.length; at += 1) {
      const byte = json[at];
      if (byte === QUOTE) {
        this.#at = at;
        this.#skipString();
        at = this.#at - 1;
      } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        depth += 1;
        if (depth > this.#limits.depth) throw new TooDeepError();
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
        depth -= 1;
        if (depth === 0) {
          this.#at = at + 1;
          return;
        }
      }
    }
    this.#at = json.length;
  }

  #skipScalar(): void {
    const json = this.#json;
    let at = this.#at + 1;
    while (at < json.length && !endsScalar(json[at] as number)) at += 1;
    this.#at = at;
  }

  #skipSpace(): void {
    const json = this.#json;
    while (this.#at < json.length && isSpace(json[this.#at] as number)) this.#at += 1;
  }

  #byte(): number {
    return this.#json[this.#at] ?? 0;
  }
}

function endsScalar(byte: number): boolean {
  return byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_ARRAY || byte === COLON || isSpace(byte);
}
