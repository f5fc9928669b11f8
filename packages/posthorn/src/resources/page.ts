// Lists are read a page at a time, by the key of the last row seen: no row is skipped or repeated when others come.
import { lowestUuidAt, parseId } from "@posthorn/wire";
import { findUnknown } from "../did-you-mean.ts";
import { type InputProblem, PosthornError } from "../errors.ts";
import type { Uuid } from "../model.ts";

export interface Page<T> {
  readonly data: readonly T[];
  /** Give it back as `cursor` for the next page; null at the end. */
  readonly nextCursor: string | null;
}

export interface PageQuery {
  /** 1 to 250; 50 unless told. */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export const MAX_PAGE_LIMIT = 250;
export const DEFAULT_PAGE_LIMIT = 50;

/** The highest and lowest possible id: bounds that leave nothing out. */
export const HIGHEST_UUID: Uuid = "ffffffff-ffff-ffff-ffff-ffffffffffff";
const LOWEST_UUID: Uuid = "00000000-0000-0000-0000-000000000000";

/** Collects everything wrong with a query, so that one answer names it all. */
export class QueryReader {
  readonly #problems: InputProblem[] = [];

  refuse(field: string, message: string): void {
    this.#problems.push({ pointer: `/${field}`, message });
  }

  limit({ limit }: PageQuery): number {
    if (limit === undefined) return DEFAULT_PAGE_LIMIT;
    if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_PAGE_LIMIT) return limit;
    this.refuse("limit", `limit is a whole number from 1 to ${MAX_PAGE_LIMIT}.`);
    return DEFAULT_PAGE_LIMIT;
  }

  /** The key of the last row of the page before, or null at the beginning. `list` tells cursors of lists apart. */
  cursor(list: string, { cursor }: PageQuery): string | null {
    if (cursor === undefined) return null;
    const text = typeof cursor === "string" ? Buffer.from(cursor, "base64url").toString() : "";
    if (
      text.startsWith(`${list}:`) &&
      text.length > list.length + 1 &&
      encodeCursor(list, text.slice(list.length + 1)) === cursor
    ) {
      return text.slice(list.length + 1);
    }
    this.refuseCursor();
    return null;
  }

  refuseCursor(): void {
    this.refuse(
      "cursor",
      "This is not a cursor of this list. Pass nextCursor of the page before, or leave it out.",
    );
  }

  id(field: string, kind: "evt" | "dlv" | "ep", value: string | undefined): Uuid | null {
    if (value === undefined) return null;
    const uuid = typeof value === "string" ? parseId(kind, value) : null;
    if (uuid === null) this.refuse(field, `${field} is an id such as ${kind}_0198c2f0-….`);
    return uuid;
  }

  text(field: string, value: string | undefined, maxLength = 256): string | null {
    if (value === undefined) return null;
    if (typeof value === "string" && value !== "" && value.length <= maxLength && !value.includes("\0"))
      return value;
    this.refuse(field, `${field} is text of 1 to ${maxLength} characters.`);
    return null;
  }

  oneOf<T extends string>(field: string, value: T | undefined, allowed: readonly T[]): T | null {
    if (value === undefined) return null;
    if (allowed.includes(value)) return value;
    this.refuse(field, `${field} is one of ${allowed.join(", ")}.`);
    return null;
  }

  /** Ids hold their time: a time range and a cursor are both bounds on the id. From `after` on, up to before `before`. */
  idRange(
    list: string,
    query: PageQuery & { createdAfter?: Date | undefined; createdBefore?: Date | undefined },
  ): IdRange {
    const cursor = this.cursor(list, query);
    if (cursor !== null && !UUID.test(cursor)) this.refuseCursor();
    const notBefore = this.#time("createdAfter", query.createdAfter) ?? LOWEST_UUID;
    const before = this.#time("createdBefore", query.createdBefore) ?? HIGHEST_UUID;
    return { notBefore, before: cursor !== null && cursor < before ? cursor : before };
  }

  /** Throws when anything was refused. */
  finish(known: readonly string[], query: object): void {
    findUnknown("There is no filter", query, known, this.#problems);
    const [first] = this.#problems;
    if (first !== undefined)
      throw new PosthornError("invalid_query", first.message, { problems: this.#problems });
  }

  #time(field: string, value: Date | undefined): Uuid | null {
    if (value === undefined) return null;
    const ms = value instanceof Date ? value.getTime() : Number.NaN;
    if (Number.isNaN(ms)) {
      this.refuse(field, `${field} is a valid date.`);
      return null;
    }
    return lowestUuidAt(Math.min(Math.max(ms, 0), 2 ** 48 - 1));
  }
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export interface IdRange {
  readonly notBefore: Uuid;
  readonly before: Uuid;
}

/** From rows read with one more than the limit: the one too many says that there is a next page. */
export function toPage<Row, T>(
  list: string,
  rows: readonly Row[],
  limit: number,
  view: (row: Row) => T,
  keyOf: (row: Row) => string,
): Page<T> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = rows.length > limit && last !== undefined;
  return { data: shown.map(view), nextCursor: hasMore ? encodeCursor(list, keyOf(last)) : null };
}

function encodeCursor(list: string, key: string): string {
  return Buffer.from(`${list}:${key}`).toString("base64url");
}
