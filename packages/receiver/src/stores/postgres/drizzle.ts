// Drizzle: the handler's transaction is that of `db.transaction`, over node-postgres or postgres.js.
import { databaseOf, type PostgresDatabase, type Query, type Row, type Value } from "./database.ts";

/** The used part of a Drizzle database. */
export interface DrizzleLike<Tx extends DrizzleExecutor> extends DrizzleExecutor {
  transaction(work: (tx: Tx) => Promise<unknown>): Promise<unknown>;
}

export interface DrizzleExecutor {
  // biome-ignore lint/suspicious/noExplicitAny: drizzle's own class of statements, made by its `sql`
  execute(statement: any): PromiseLike<unknown>;
}

/** Drizzle's `sql`. */
export interface DrizzleSql {
  (strings: TemplateStringsArray, ...parameters: unknown[]): unknown;
  param(value: unknown): unknown;
}

export function drizzleDatabase<Tx extends DrizzleExecutor>(
  db: DrizzleLike<Tx>,
  sql: DrizzleSql,
): PostgresDatabase<Tx> {
  const begin = (work: (tx: Tx) => Promise<unknown>) => db.transaction(work);
  return databaseOf<DrizzleExecutor, Tx>(db, (executor) => queryOn(executor, sql), begin);
}

function queryOn(executor: DrizzleExecutor, sql: DrizzleSql): Query {
  return async (text, values) => {
    const result = await executor.execute(statementOf(text, values, sql));
    // node-postgres returns { rows }, postgres.js the rows themselves.
    return (Array.isArray(result) ? result : (result as { rows: unknown }).rows) as Row[];
  };
}

/** Drizzle numbers the values itself, so the text is split at the placeholders. */
function statementOf(text: string, values: readonly Value[], sql: DrizzleSql): unknown {
  const [first = "", ...rest] = text.split(/\$(\d+)/);
  const strings = [first, ...rest.filter((_, index) => index % 2 === 1)];
  const positions = rest.filter((_, index) => index % 2 === 0);
  const parameters = positions.map((position) => sql.param(values[Number(position) - 1]));
  return sql(Object.assign(strings, { raw: strings }), ...parameters);
}
