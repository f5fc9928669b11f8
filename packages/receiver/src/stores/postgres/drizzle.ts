// Drizzle: the handler's transaction is that of `db.transaction`, over node-postgres or postgres.js.
import {
  type PostgresDatabase,
  type Query,
  type Row,
  runFinalStatement,
  type TransactionEnd,
  type Value,
} from "./database.ts";

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
  return {
    query: queryOn(db, sql),
    async transaction<Result>(work: (tx: Tx, query: Query) => Promise<TransactionEnd<Result>>) {
      return (await db.transaction(async (tx) => {
        const query = queryOn(tx, sql);
        return await runFinalStatement(await work(tx, query), query);
      })) as Result;
    },
  };
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
  const places = rest.filter((_, index) => index % 2 === 0);
  const parameters = places.map((place) => sql.param(values[Number(place) - 1]));
  return sql(Object.assign(strings, { raw: strings }), ...parameters);
}
