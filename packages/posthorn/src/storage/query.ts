// A query is a statement together with the type of its parameters and of its result, written as one tagged template:
//
//   export const findTenant = firstRow<TenantRow, [id: string]>("find tenant")`select … where t.id = $1::text`;
//   const tenant = await findTenant(db, "acme");
//
// The arguments become the parameters $1, $2, … unless `values` derives these from them.
import type { Queryable } from "./database.ts";
import { type Statement, statement } from "./sql.ts";

type Args = readonly unknown[];
type Query<A extends Args, Result> = (db: Queryable, ...args: A) => Promise<Result>;
type Tag<A extends Args, Result> = (
  texts: TemplateStringsArray,
  ...parts: readonly (string | number)[]
) => Query<A, Result>;
type Name = Parameters<typeof statement>[0];
type Values<A extends Args> = (...args: A) => readonly unknown[];

export function rows<Row, A extends Args = []>(name: Name, values?: Values<A>): Tag<A, Row[]> {
  return query(name, values, (result) => result as Row[]);
}

/** Returns null if there is no row. */
export function firstRow<Row, A extends Args = []>(name: Name, values?: Values<A>): Tag<A, Row | null> {
  return query(name, values, ([row]) => (row as Row | undefined) ?? null);
}

/** For a statement that always returns one row. */
export function onlyRow<Row, A extends Args = []>(name: Name, values?: Values<A>): Tag<A, Row> {
  return query(name, values, ([row]) => row as Row);
}

/** Returns the only column of the first row; null if there is no row. */
export function value<Value, A extends Args = []>(name: Name, values?: Values<A>): Tag<A, Value> {
  return query(name, values, ([row]) => onlyColumn(row) as Value);
}

/** Returns the only column of all rows. */
export function column<Value, A extends Args = []>(name: Name, values?: Values<A>): Tag<A, Value[]> {
  return query(name, values, (result) => result.map(onlyColumn) as Value[]);
}

/** Returns a map of the first column to the second. */
export function mapOf<Key, Value, A extends Args = []>(
  name: Name,
  values?: Values<A>,
): Tag<A, Map<Key, Value>> {
  return query(
    name,
    values,
    (result) => new Map(result.map((row) => Object.values(row as object) as [Key, Value])),
  );
}

/** Returns whether there is a row. */
export function hasRow<A extends Args = []>(name: Name, values?: Values<A>): Tag<A, boolean> {
  return query(name, values, (result) => result.length > 0);
}

/** Returns the number of changed rows, for an insert, update or delete without "returning". */
export function changes<A extends Args = []>(name: Name, values?: Values<A>): Tag<A, number> {
  const count = value<number, A>(name, values);
  return (texts, ...parts) => count`
with changed as (${String.raw({ raw: texts }, ...parts)}
  returning 1
)
select count(*)::integer as count
from changed
`;
}

/** Ignores the result. */
export function run<A extends Args = []>(name: Name, values?: Values<A>): Tag<A, void> {
  return query(name, values, () => {});
}

function query<A extends Args, Result>(
  name: Name,
  values: Values<A> = (...args) => args,
  resultOf: (rows: readonly unknown[]) => Result,
): Tag<A, Result> {
  return (texts, ...parts) => {
    const sql: Statement = statement(name)(texts, ...parts);
    return async (db, ...args) => resultOf(await db.query(sql, values(...args)));
  };
}

function onlyColumn(row: unknown): unknown {
  return row === undefined ? null : Object.values(row as object)[0];
}

/** Parameters from the fields of an object. */
export const fields =
  <Name extends string>(...names: readonly Name[]) =>
  (object: { readonly [name in Name]: unknown }): unknown[] =>
    names.map((name) => object[name]);

/** Array parameters from the fields of objects: `arrays(members, { id: uuidArray, subject: textArray })`. */
export function arrays<Item>(
  items: readonly Item[],
  encoders: { readonly [name in keyof Item]?: (values: readonly Item[name][]) => Buffer },
): Buffer[] {
  const entries = Object.entries(encoders) as [keyof Item, (values: readonly unknown[]) => Buffer][];
  return entries.map(([name, encode]) => encode(items.map((item) => item[name])));
}
