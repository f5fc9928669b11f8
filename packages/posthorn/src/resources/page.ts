// Pagination by the key of the last row, so that new rows never cause a row to be skipped or repeated.
import { type IdKind, lowestUuidAt, parseId } from "@posthorn/wire";
import { type ErrorCode, PosthornError } from "../errors.ts";
import type { Uuid } from "../model.ts";
import { type Field, type Fields, integer, optional, readFields, type ValuesOf } from "./read-fields.ts";

/** The same message whether it never existed, belongs to another tenant, or was deleted. */
export function notFound(name: "event" | "delivery" | "replay", kind: IdKind, id: unknown): PosthornError {
  const shown = parseId(kind, String(id)) === null ? `with that id; ids look like ${kind}_0198c2f0-…` : id;
  const list = name === "delivery" ? "deliveries" : `${name}s`;
  const code: ErrorCode = `${name}_not_found`;
  return new PosthornError(code, `There is no ${name} ${shown}. List ${list} to see their ids.`);
}

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

export interface TimeRangeQuery extends PageQuery {
  /** Inclusive. */
  readonly createdAfter?: Date | undefined;
  /** Exclusive. */
  readonly createdBefore?: Date | undefined;
}

const MAX_PAGE_LIMIT = 250;
const DEFAULT_PAGE_LIMIT = 50;

/** The bounds that include every id. */
export const HIGHEST_UUID: Uuid = "ffffffff-ffff-ffff-ffff-ffffffffffff";
export const LOWEST_UUID: Uuid = "00000000-0000-0000-0000-000000000000";
/** The syntax of an id in a cursor. */
export const UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";

export function readFilters<Known extends Fields>(query: object, filters: Known): ValuesOf<Known> {
  return readFields("invalid_query", "There is no filter", query, filters);
}

export const limit: Field<number> = (...field) => integer(1, MAX_PAGE_LIMIT)(...field) ?? DEFAULT_PAGE_LIMIT;

/** Reads the query of a list. */
export function readPage<Known extends Fields>(
  list: string,
  query: PageQuery,
  filters: Known,
  key = ".+",
): ValuesOf<Known & { limit: Field<number>; cursor: Field<string | null> }> {
  return readFilters(query, { limit, cursor: cursorOf(list, key), ...filters });
}

/** The key of the last row of the previous page, which matches `key`. */
export function cursorOf(list: string, key: string): Field<string | null> {
  // a forged cursor may contain NUL, which PostgreSQL rejects
  const form = new RegExp(`^${list}:(?!.*\0)(${key})$`, "s");
  const keyIn = (cursor: unknown): string | null => {
    const [, found] = form.exec(Buffer.from(String(cursor), "base64url").toString()) ?? [];
    return found !== undefined && encodeCursor(list, found) === cursor ? found : null;
  };
  const read = optional<string>(
    (cursor) => keyIn(cursor) !== null,
    "is not one of this list. Pass nextCursor of the previous page, or leave it out.",
  );
  return (...field) => keyIn(read(...field));
}

export const date: Field<Date | null> = optional(
  (value) => value instanceof Date && !Number.isNaN(value.getTime()),
  "is a valid date.",
);

const time: Field<Uuid | null> = (...field) => {
  const at = date(...field);
  return at === null ? null : lowestUuidAt(Math.min(Math.max(at.getTime(), 0), 2 ** 48 - 1));
};

/** Reads the query of a list by id: the ids before the cursor. */
export function readIdPage<Known extends Fields>(list: string, query: PageQuery, filters: Known) {
  const { cursor, ...asked } = readPage(list, query, filters, UUID);
  return { ...asked, before: cursor ?? HIGHEST_UUID };
}

/** Reads the query of a list by id and time. Ids contain their time, so all bounds are on the id. */
export function readTimedPage<Known extends Fields>(list: string, query: TimeRangeQuery, filters: Known) {
  const asked = readIdPage<Known & typeof TIME_RANGE>(list, query, { ...TIME_RANGE, ...filters });
  const { createdAfter, createdBefore, before, ...rest } = asked as typeof asked &
    ValuesOf<typeof TIME_RANGE>;
  const range = idRange({ createdAfter, createdBefore });
  return { ...rest, ...range, before: before < range.before ? before : range.before };
}

/** Filters by the time of an id. */
export const TIME_RANGE = { createdAfter: time, createdBefore: time };

/** `before` is exclusive. */
export function idRange({ createdAfter, createdBefore }: ValuesOf<typeof TIME_RANGE>) {
  return { notBefore: createdAfter ?? LOWEST_UUID, before: createdBefore ?? HIGHEST_UUID };
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

export function encodeCursor(list: string, key: string): string {
  return Buffer.from(`${list}:${key}`).toString("base64url");
}

export function toDate(ms: number | null | undefined): Date | null {
  return ms == null ? null : new Date(ms);
}

/** A row whose times are dates: `createdMs` is `createdAt`. */
export type Dated<Row> = {
  readonly [Name in keyof Row as Name extends `${infer Start}Ms`
    ? `${Start}At`
    : Name]: Name extends `${string}Ms` ? Date | Extract<Row[Name], null> : Row[Name];
};

export function dated<Row extends object>(row: Row): Dated<Row> {
  const fields = Object.entries(row).map(([name, value]) =>
    name.endsWith("Ms") ? [`${name.slice(0, -2)}At`, toDate(value)] : [name, value],
  );
  return Object.fromEntries(fields) as Dated<Row>;
}
