// Transactional mode: claim, the handler's own writes and the done mark are one commit.
import type { Message } from "../../model.ts";
import type { Claim, ClaimTerms, RunResult, Transactions } from "../../store.ts";
import { type PostgresDatabase, sqlState } from "./database.ts";
import { withConflictsRetried } from "./retry-conflicts.ts";
import type { Statements } from "./statements.ts";

export function transactionsOn<Tx>(db: PostgresDatabase<Tx>, statements: Statements): Transactions<Tx> {
  /** Of those that this process works on. A duplicate needs no connection to hear so, even of a pool that has only one. */
  const working = new Map<string, string>();

  return {
    async run(message, terms, work) {
      const name = JSON.stringify([message.source, message.id]);
      const digest = working.get(name);
      if (digest !== undefined && digest !== message.digest) return { kind: "other_body" };
      if (digest !== undefined) return { kind: "running", retryAfterMs: Math.min(1_000, terms.leaseMs) };
      working.set(name, message.digest);
      try {
        return await claimAndWork(message, terms, work);
      } finally {
        working.delete(name);
      }
    },

    async finish(claim, work) {
      return await inTransaction<boolean>(async (tx, query, worked) => {
        const xid = await statements.complete(query, claim);
        if (xid === null) return { result: false, lastly: null };
        await work(tx);
        worked();
        return { result: true, lastly: statements.stillIn(xid) };
      });
    },

    async noteFailure(message, failure, { windowMs }) {
      return await statements.fail(db.query, message, { windowMs }, failure);
    },
  };

  async function claimAndWork(
    message: Message,
    terms: ClaimTerms,
    work: (tx: Tx, claim: Claim) => Promise<void>,
  ): Promise<RunResult> {
    return await inTransaction<RunResult>(async (tx, query, worked) => {
      const { result, xid } = await statements.claimInTransaction(query, message, terms);
      if (result.kind !== "claimed") return { result, lastly: null };
      await work(tx, result.claim);
      worked();
      return { result: { kind: "worked" }, lastly: statements.stillIn(xid) };
    });
  }

  /** Until it meets no other transaction: all of it was undone, so the handler may run again, as for the next delivery. */
  async function inTransaction<Result>(
    work: (
      ...given: [...Parameters<Parameters<typeof db.transaction>[0]>, worked: () => void]
    ) => ReturnType<Parameters<typeof db.transaction<Result>>[0]>,
  ): Promise<Result> {
    return await withConflictsRetried(async () => {
      let hasWorked = false;
      const worked = () => {
        hasWorked = true;
      };
      try {
        return await db.transaction<Result>((tx, query) => work(tx, query, worked));
      } catch (error) {
        throw hasWorked ? explained(error) : error;
      }
    });
  }
}

/** What came of the last statement and the commit; a handler's own errors are passed on as they are. */
function explained(error: unknown): unknown {
  const state = sqlState(error);
  const cause = { cause: error };
  if (state === "PH001") {
    return new Error(
      "The handler ended the transaction it was given, so its writes and the done mark were not one. Leave commit and " +
        "rollback to the receiver: return to commit, throw to roll back.",
      cause,
    );
  }
  if (state === "25P02") {
    return new Error(
      "The handler caught an error of PostgreSQL and went on, but its transaction could not be committed any more and was " +
        "rolled back. Pass the error on, or put what may fail behind a savepoint.",
      cause,
    );
  }
  return error;
}
