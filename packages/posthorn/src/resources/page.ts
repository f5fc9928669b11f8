// Pagination by the key of the last row, so that new rows never cause a row to be skipped or repeated.
import { type IdKind, lowestUuidAt, parseId } from "@posthorn/wire";
import { findUnknown } from "../did-you-mean.ts";
import { type ErrorCode, type InputProblem, PosthornError } from "../errors.ts";
import type { Uuid } from "../model.ts";

export interface Page<T> {
  readonly data: readonly T[];
  /**
   * The `cursor` of the next page; null at the end. With a filter that matches few rows, a page may be short or empty and
   * still have a next one.
   */
  readonly nextCursor: string | null;
}

export interface PageQuery {
  /** 1 to 250. Default 50. */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export const MAX_PAGE_LIMIT = 250;
export const DEFAULT_PAGE_LIMIT = 50;

/** The bounds that include every id. */
export const HIGHEST_UUID: Uuid = "ffffffff-ffff-ffff-ffff-ffffffffffff";
export const LOWEST_UUID: Uuid = "00000000-0000-0000-0000-000000000000";

/** Reads a query and collects all its problems, so that one error reports them all. */
export class QueryReader {
  readonly #problems: InputProblem[] = [];

  refuse(field: string, message: string): void {
    this.#problems.push({ pointer: `/${field}`, message });
  }

  limit({ limit }: PageQuery): number {
    return this.whole("limit", limit, 1, MAX_PAGE_LIMIT) ?? DEFAULT_PAGE_LIMIT;
  }

  /** Returns the key of the last row of the previous page, or null for the first page. `list` is part of the cursor. */
  cursor(list: string, { cursor }: PageQuery): string | null {
    if (cursor === undefined) return null;
    const text = typeof cursor === "string" ? Buffer.from(cursor, "base64url").toString() : "";
    if (
      text.startsWith(`${list}:`) &&
      text.length > list.length + 1 &&
      // a forged cursor may contain NUL, which PostgreSQL rejects
      !text.includes("\0") &&
      encodeCursor(list, text.slice(list.length + 1)) === cursor
    ) {
      return text.slice(list.length + 1);
    }
    return this.refuseCursor();
  }

  /** Reads a cursor whose key must match a pattern. */
  key(list: string, query: PageQuery, form: RegExp): string | null {
    const cursor = this.cursor(list, query);
    return cursor === null || form.test(cursor) ? cursor : this.refuseCursor();
  }

  id(field: string, kind: IdKind, value: string | undefined): Uuid | null {
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

  whole(field: string, value: number | undefined, least: number, most: number): number | null {
    if (value === undefined) return null;
    if (Number.isInteger(value) && value >= least && value <= most) return value;
    this.refuse(field, `${field} is a whole number from ${least} to ${most}.`);
    return null;
  }

  /** Default false. */
  yesOrNo(field: string, value: boolean | undefined): boolean {
    if (value === undefined || typeof value === "boolean") return value ?? false;
    this.refuse(field, `${field} is true or false.`);
    return false;
  }

  /** Ids contain their time, so a time range and a cursor are both bounds on the id. `before` is exclusive. */
  idRange(
    list: string,
    query: PageQuery & { createdAfter?: Date | undefined; createdBefore?: Date | undefined },
  ): IdRange {
    const cursor = this.key(list, query, UUID);
    const notBefore = this.#time("createdAfter", query.createdAfter) ?? LOWEST_UUID;
    const before = this.#time("createdBefore", query.createdBefore) ?? HIGHEST_UUID;
    return { notBefore, before: cursor !== null && cursor < before ? cursor : before };
  }

  /** Throws if anything was refused, or if the query has unknown fields. */
  finish(known: readonly string[], query: object, code: ErrorCode = "invalid_query"): void {
    findUnknown("There is no filter", query, known, this.#problems);
    const [first] = this.#problems;
    if (first !== undefined) throw new PosthornError(code, first.message, { problems: this.#problems });
  }

  refuseCursor(): null {
    this.refuse(
      "cursor",
      "This is not a cursor of this list. Pass nextCursor of the previous page, or leave it out.",
    );
    return null;
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

/**
 * Returns a page of rows that were read with a limit higher by one: the extra row means that there is a next page. There is
 * also one if the query stopped at `examinedUpTo`.
 */
export function toPage<Row, T>(
  list: string,
  rows: readonly Row[],
  limit: number,
  view: (row: Row) => T,
  keyOf: (row: Row) => string,
  examinedUpTo: string | null = null,
): Page<T> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const isFull = rows.length > limit && last !== undefined;
  const next = isFull ? keyOf(last) : examinedUpTo;
  return { data: shown.map(view), nextCursor: next === null ? null : encodeCursor(list, next) };
}

function encodeCursor(list: string, key: string): string {
  return Buffer.from(`${list}:${key}`).toString("base64url");
}
