// Kysely: the handler's transaction is that of `db.transaction().execute`.
import {
  type PostgresDatabase,
  type Query,
  type Row,
  runFinalStatement,
  type TransactionEnd,
} from "./database.ts";

/** The used part of a Kysely database. */
export interface KyselyLike<Tx extends KyselyExecutor> extends KyselyExecutor {
  transaction(): { execute(work: (tx: Tx) => Promise<unknown>): Promise<unknown> };
}

export interface KyselyExecutor {
  // biome-ignore lint/suspicious/noExplicitAny: kysely's CompiledQuery, built below as CompiledQuery.raw does
  executeQuery(statement: any): Promise<{ readonly rows: unknown[] }>;
}

export function kyselyDatabase<Tx extends KyselyExecutor>(db: KyselyLike<Tx>): PostgresDatabase<Tx> {
  return {
    query: queryOn(db),
    async transaction<Result>(work: (tx: Tx, query: Query) => Promise<TransactionEnd<Result>>) {
      return (await db.transaction().execute(async (tx) => {
        const query = queryOn(tx);
        return await runFinalStatement(await work(tx, query), query);
      })) as Result;
    },
  };
}

function queryOn(executor: KyselyExecutor): Query {
  return async (text, values) => {
    const query = { kind: "RawNode", sqlFragments: [text], parameters: [] };
    const statement = { sql: text, parameters: values, query, queryId: { queryId: crypto.randomUUID() } };
    return (await executor.executeQuery(statement)).rows as Row[];
  };
}
