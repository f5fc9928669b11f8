// Transactional mode: claim, the handler's writes and the completion are one commit.
import { EndpointGone, HandlerTimeout, PermanentFailure, RetryLater } from "../../errors.ts";
import type { Message } from "../../model.ts";
import type { Claim, ClaimOptions, RunResult, Transactions } from "../../store.ts";
import { InFlightMessages } from "../in-flight-messages.ts";
import type { LockedClaims } from "../locked-claims.ts";
import {
  type PostgresDatabase,
  type Row,
  retryConflicts,
  type Statement,
  sqlState,
  type TransactionEnd,
  TransactionEnded,
} from "./database.ts";
import type { Statements } from "./statements.ts";
import type { TransactionLimit } from "./transaction-limit.ts";
import type { Hold, TransactionStatements } from "./transaction-statements.ts";

export function transactionsOn<Tx>(
  db: PostgresDatabase<Tx>,
  { recordFailure, renew }: Statements,
  statements: TransactionStatements,
  held: LockedClaims,
  limit: TransactionLimit,
): Transactions<Tx> {
  /** Detects duplicates in this process without a connection. */
  const inFlight = new InFlightMessages();

  return {
    async run(message, options, work) {
      const claimed = () => limit.run(() => claimAndWork(message, options, work));
      return inFlight.conflictWith(message) ?? (await inFlight.track(message, claimed));
    },

    async finish(claim, work) {
      return await limit.run(() => retryConflicts(() => holdAndWork(claim, work)), null);
    },

    recordFailure,
  };

  /** Repeats until there is no conflict: everything was rolled back, so the handler may run again, as for the next delivery. */
  function claimAndWork(
    message: Message,
    options: ClaimOptions,
    work: (tx: Tx, claim: Claim) => Promise<void>,
  ): Promise<RunResult> {
    return retryConflicts(() =>
      inTransaction<RunResult>(statements.claim(message, options), async (tx, rows, handle) => {
        const claimed = statements.claimedBy(rows, message);
        if (claimed.kind !== "claimed") {
          return { result: claimed, last: statements.unclaimed(message, claimed) };
        }
        await handle(claimed.hold, () => work(tx, claimed.claim));
        return { result: { kind: "worked" }, last: statements.finish(claimed.hold) };
      }),
    );
  }

  async function holdAndWork(claim: Claim, work: (tx: Tx) => Promise<void>): Promise<boolean> {
    try {
      return await inTransaction<boolean>(statements.hold(claim), async (tx, rows, handle) => {
        const hold = statements.heldBy(rows, claim);
        if (hold === null) return { result: false, last: null };
        held.begin(claim);
        await handle(hold, () => work(tx));
        return { result: true, last: statements.finish(hold) };
      });
    } catch (error) {
      const leaseMs = held.leaseAfterRollback(claim);
      // If this fails, the lease is lost, and the next step finds that out.
      if (leaseMs !== null) await renew(claim, leaseMs, { wasHeld: true }).catch(() => false);
      throw error;
    } finally {
      held.end(claim);
    }
  }

  /** Rethrows the handler's error unchanged, and explains errors of the completion and the commit. */
  async function inTransaction<Result>(
    first: Statement,
    work: (tx: Tx, rows: readonly Row[], handle: Handle) => Promise<TransactionEnd<Result>>,
  ): Promise<Result> {
    let handled: "not yet" | "to its end" | { readonly error: unknown } = "not yet";
    try {
      return await db.transaction<Result>(first, (tx, rows, query) =>
        work(tx, rows, async (hold, handler) => {
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
