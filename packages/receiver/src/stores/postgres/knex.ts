// Knex, and Objection on it: the handler's transaction is that of `knex.transaction`.
import {
  type PostgresDatabase,
  type Query,
  type Row,
  runFinalStatement,
  type TransactionEnd,
  TransactionEnded,
  type Value,
} from "./database.ts";

/** The used part of a Knex instance. Its transactions have `commit` and `rollback`, so handlers may call them. */
export interface KnexLike<Tx extends KnexTransaction> extends KnexExecutor {
  transaction(work: (tx: Tx) => Promise<unknown>): Promise<unknown>;
}

export interface KnexExecutor {
  // biome-ignore lint/suspicious/noExplicitAny: Knex lists types of its own here
  raw(text: string, bindings: any): PromiseLike<unknown>;
}

export interface KnexTransaction extends KnexExecutor {
  isCompleted(): boolean;
}

export function knexDatabase<Tx extends KnexTransaction>(knex: KnexLike<Tx>): PostgresDatabase<Tx> {
  return {
    query: queryOn(knex),
    async transaction<Result>(work: (tx: Tx, query: Query) => Promise<TransactionEnd<Result>>) {
      let isOver = false;
      let handled: Promise<unknown> | undefined;
      const handle = async (tx: Tx) => {
        const query = queryOn(tx);
        try {
          const ending = await work(tx, query);
          return tx.isCompleted() ? undefined : await runFinalStatement(ending, query);
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
    const withMarks = text.replaceAll(/\$(\d+)/g, (_, place) => {
      bindings.push(values[Number(place) - 1]);
      return "?";
    });
    return ((await executor.raw(withMarks, bindings)) as { rows: Row[] }).rows;
  };
}
