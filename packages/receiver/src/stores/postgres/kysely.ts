// Kysely: the handler's transaction is that of `db.transaction().execute`.
import { databaseOf, type PostgresDatabase, type Query, type Row } from "./database.ts";

/** The used part of a Kysely database. */
export interface KyselyLike<Tx extends KyselyExecutor> extends KyselyExecutor {
  transaction(): { execute(work: (tx: Tx) => Promise<unknown>): Promise<unknown> };
}

export interface KyselyExecutor {
  // biome-ignore lint/suspicious/noExplicitAny: kysely's CompiledQuery, built below as CompiledQuery.raw does
  executeQuery(statement: any): Promise<{ readonly rows: unknown[] }>;
}

export function kyselyDatabase<Tx extends KyselyExecutor>(db: KyselyLike<Tx>): PostgresDatabase<Tx> {
  return databaseOf<KyselyExecutor, Tx>(db, queryOn, (work) => db.transaction().execute(work));
}

function queryOn(executor: KyselyExecutor): Query {
  return async (text, values) => {
    const query = { kind: "RawNode", sqlFragments: [text], parameters: [] };
    const statement = { sql: text, parameters: values, query, queryId: { queryId: crypto.randomUUID() } };
    return (await executor.executeQuery(statement)).rows as Row[];
  };
}
