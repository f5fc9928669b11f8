// Transactional mode: claim, the handler's writes and the completion are one commit.
import { EndpointGone, HandlerTimeout, PermanentFailure, RetryLater } from "../../errors.ts";
import type { Message } from "../../model.ts";
import type { Claim, ClaimOptions, RunResult, Transactions } from "../../store.ts";
import type { LockedClaims } from "../locked-claims.ts";
import {
  type PostgresDatabase,
  type Query,
  sqlState,
  type TransactionEnd,
  TransactionEnded,
} from "./database.ts";
import { retryConflicts } from "./retry-conflicts.ts";
import type { Hold, Statements } from "./statements.ts";
import type { TransactionLimit } from "./transaction-limit.ts";

export function transactionsOn<Tx>(
  db: PostgresDatabase<Tx>,
  statements: Statements,
  held: LockedClaims,
  line: TransactionLimit,
): Transactions<Tx> {
  /** The digests of the messages that this process handles. A duplicate is detected without a connection. */
  const working = new Map<string, string>();

  return {
    async run(message, terms, work) {
      const name = JSON.stringify([message.source, message.id]);
      const digest = working.get(name);
      if (digest !== undefined && digest !== message.digest) return { kind: "other_body" };
      if (digest !== undefined) return { kind: "running", retryAfterMs: Math.min(1_000, terms.leaseMs) };
      working.set(name, message.digest);
      try {
        return await line.run(() => claimAndWork(message, terms, work));
      } finally {
        working.delete(name);
      }
    },

    async finish(claim, work) {
      return await line.runWithoutTimeout(() => retryConflicts(() => holdAndWork(claim, work)));
    },

    async recordFailure(message, failure, { windowMs }) {
      return await statements.fail(db.query, message, { windowMs }, failure);
    },
  };

  /** Repeats until there is no conflict: everything was rolled back, so the handler may run again, as for the next delivery. */
  async function claimAndWork(
    message: Message,
    terms: ClaimOptions,
    work: (tx: Tx, claim: Claim) => Promise<void>,
  ): Promise<RunResult> {
    return await retryConflicts(() =>
      inTransaction<RunResult>(async (tx, query, handle) => {
        const { result, hold } = await statements.claimInTransaction(query, message, terms);
        if (result.kind !== "claimed") return { result, finalStatement: null };
        await handle(hold, () => work(tx, result.claim));
        return { result: { kind: "worked" }, finalStatement: statements.finish(hold) };
      }),
    );
  }

  async function holdAndWork(claim: Claim, work: (tx: Tx) => Promise<void>): Promise<boolean> {
    try {
      return await inTransaction<boolean>(async (tx, query, handle) => {
        const hold = await statements.hold(query, claim);
        if (hold === null) return { result: false, finalStatement: null };
        held.begin(claim);
        await handle(hold, () => work(tx));
        return { result: true, finalStatement: statements.finish(hold) };
      });
    } catch (error) {
      const leaseMs = held.leaseAfterRollback(claim);
      // If this fails, the lease is lost, and the next step finds that out.
      if (leaseMs !== null)
        await statements.renew(db.query, claim, leaseMs, { wasHeld: true }).catch(() => false);
      throw error;
    } finally {
      held.end(claim);
    }
  }

  /** Rethrows the handler's error unchanged, and explains errors of the completion and the commit. */
  async function inTransaction<Result>(
    work: (tx: Tx, query: Query, handle: Handle) => Promise<TransactionEnd<Result>>,
  ): Promise<Result> {
    let handled: "not yet" | "to its end" | { readonly error: unknown } = "not yet";
    try {
      return await db.transaction<Result>((tx, query) =>
        work(tx, query, async (hold, handler) => {
          try {
            await handler();
            handled = "to its end";
          } catch (error) {
            handled = { error };
            // A query would wait behind the handler's running statement.
            if (error instanceof HandlerTimeout) throw error;
            if (await statements.hasEnded(query, hold)) throw new TransactionEnded();
            throw error;
          }
        }),
      );
    } catch (error) {
      // Assigned in a callback, which the type checker does not track.
      const how = handled as "not yet" | "to its end" | { readonly error: unknown };
      if (how === "not yet") throw error;
      throw how === "to its end" ? explained(error) : explainedFailure(error, how.error);
    }
  }
}

type Handle = (hold: Hold, handler: () => Promise<void>) => Promise<void>;

/** Explains an error of the completion or the commit. */
function explained(error: unknown): unknown {
  const state = sqlState(error);
  const cause = { cause: error };
  if (state === "PH001") return new Error(endedByHandler, cause);
  if (state === "25P02") {
    return new Error(
      "The handler caught a PostgreSQL error and continued, but its transaction was already aborted and has been rolled back. " +
        "Rethrow the error, or use a savepoint for statements that may fail.",
      cause,
    );
  }
  return error;
}

/** The handler's error, unless it ended its transaction before; requests such as `RetryLater` count in any case. */
function explainedFailure(error: unknown, own: unknown): unknown {
  const isRequest =
    own instanceof PermanentFailure || own instanceof RetryLater || own instanceof EndpointGone;
  if (isRequest || !(error instanceof TransactionEnded)) return own;
  return new Error(`${endedByHandler} Then it failed: ${String(own)}`, { cause: own });
}

const endedByHandler =
  "The handler ended its transaction, so its writes and the completion were not committed together. Leave commit and " +
  "rollback to the receiver: return to commit, throw to roll back.";
