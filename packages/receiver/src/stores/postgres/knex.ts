// Knex, and Objection on it: the handler's transaction is that of `knex.transaction`.
import {
  type PostgresDatabase,
  type Query,
  type Row,
  runLast,
  type Statement,
  TransactionEnded,
  type TransactionWork,
  type Value,
} from "./database.ts";

/** The used part of a Knex instance. Its transactions have `commit` and `rollback`, so handlers may call them. */
export interface KnexLike<Tx extends KnexTransaction> extends KnexExecutor {
  transaction(work: (tx: Tx) => Promise<unknown>): Promise<unknown>;
}

export interface KnexExecutor {
  // biome-ignore lint/suspicious/noExplicitAny: Knex lists its own types here
  raw(text: string, bindings: any): PromiseLike<unknown>;
}

export interface KnexTransaction extends KnexExecutor {
  isCompleted(): boolean;
}

export function knexDatabase<Tx extends KnexTransaction>(knex: KnexLike<Tx>): PostgresDatabase<Tx> {
  return {
    query: queryOn(knex),
    async transaction<Result>(first: Statement, work: TransactionWork<Tx, Result>) {
      let isOver = false;
      let handled: Promise<unknown> | undefined;
      const handle = async (tx: Tx) => {
        const query = queryOn(tx);
        try {
          const end = await work(tx, await query(first.text, first.values), query);
          return tx.isCompleted() ? undefined : await runLast(end, query);
        } finally {
          isOver = tx.isCompleted();
        }
      };
      const committed = knex.transaction((tx) => {
        handled = handle(tx);
        return handled;
      });
      // Knex settles when the transaction ends, even if the handler that ended it is still running.
      await Promise.allSettled([committed]);
      await Promise.allSettled([handled]);
      if (isOver) throw new TransactionEnded();
      return (await committed) as Result;
    },
  };
}

/** Knex supports only `?`, so a value that is used twice is passed twice. */
function queryOn(executor: KnexExecutor): Query {
  return async (text, values) => {
    const bindings: (Value | undefined)[] = [];
    const withMarks = text.replaceAll(/\$(\d+)/g, (_, position) => {
      bindings.push(values[Number(position) - 1]);
      return "?";
    });
    return ((await executor.raw(withMarks, bindings)) as { rows: Row[] }).rows;
  };
}
