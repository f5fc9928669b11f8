// The store in SQLite. Handlers may write in the store's transaction, so a crash leaves all or nothing.
import { rejectUnknownOptions, wholeNumber } from "../../options.ts";
import { isOrdered, type Store, type Transactions } from "../../store.ts";
import { InFlightMessages, inTransaction } from "../in-flight-messages.ts";
import { LockedClaims } from "../locked-claims.ts";
import { StateMachine, storeMethods } from "../state-machine.ts";
import { Connection, type SqliteConnection } from "./connection.ts";
import { migrate } from "./migrate.ts";
import { SqliteTable } from "./sqlite-table.ts";
import { DatabaseBusy, TransactionQueue } from "./transaction-queue.ts";

export interface SqliteStoreOptions {
  /** How long to wait for the transactions of other processes. Default 5 seconds. */
  readonly busyWaitMs?: number;
  /** How long to wait for earlier handlers of this process. Default 30 seconds. */
  readonly queueWaitMs?: number;
}

export const sqliteStoreOptionNames = [
  "busyWaitMs",
  "queueWaitMs",
] as const satisfies (keyof SqliteStoreOptions)[];

/**
 * Give it its own connection, in WAL mode: the store's transactions and the handlers' (`tx` is this connection) run on it one
 * after another.
 */
export function sqliteStore<Db extends SqliteConnection>(
  db: Db,
  options: SqliteStoreOptions = {},
): Store<Db> {
  rejectUnknownOptions("sqliteStore", options, sqliteStoreOptionNames);
  const { busyWaitMs = 5_000, queueWaitMs = 30_000 } = options;
  const connection = new Connection(db);
  const queue = new TransactionQueue(connection, {
    busyWaitMs: wholeNumber("busyWaitMs", busyWaitMs, 0, 600_000),
    queueWaitMs: wholeNumber("queueWaitMs", queueWaitMs, 1, 600_000),
  });
  const table = new SqliteTable(connection);
  const states = new StateMachine(table);
  const inFlight = new InFlightMessages();
  const finishing = new LockedClaims();
  const methods = storeMethods(states, table, (step) => queue.transaction(step));

  const transactions: Transactions<Db> = {
    async run(message, claimOptions, work) {
      const claimAndWork = async () => {
        const decision = states.decide(message, claimOptions, Date.now());
        if (decision.kind !== "free") return decision;
        const claim = { message, token: crypto.randomUUID(), failures: decision.failures };
        await inFlight.trackSubject(message, claimOptions, () => queue.runHandler(() => work(db, claim)));
        states.finish(message, { isApplied: isOrdered(message, claimOptions) });
        return { kind: "worked" } as const;
      };
      return (
        inFlight.conflictWith(message, claimOptions) ??
        (await inFlight.track(message, () => orRunning(queue.transaction(claimAndWork))))
      );
    },

    /** Keeps the write lock from the check to the commit, so no other process can claim the message if its lease expires meanwhile. */
    finish(claim, work) {
      const workAndFinish = async () => {
        const held = states.held(claim, Date.now());
        if (held === null) return false;
        finishing.begin(claim);
        await queue.runHandler(() => work(db));
        states.finish(claim.message, { isApplied: held.isOrdered });
        return true;
      };
      // Before any other transaction of this process.
      const keepLease = () => {
        const leaseMs = finishing.leaseAfterRollback(claim);
        if (leaseMs !== null) states.renewLocked(claim, leaseMs);
      };
      return inFlight.track(claim.message, () =>
        queue.transaction(workAndFinish, keepLease).finally(() => finishing.end(claim)),
      );
    },

    recordFailure: (message, failure, claimOptions) =>
      queue.transaction(() => states.recordFailure(message, failure, claimOptions)),
  };

  return {
    ...methods,
    transactions,
    migrate: () => queue.transaction(() => migrate(connection)),
    claim: (message, claimOptions) => orRunning(methods.claim(message, claimOptions)),
    renew: async (claim, leaseMs) => finishing.recordRenewal(claim, leaseMs) || methods.renew(claim, leaseMs),
    accept: async (message, claimOptions) =>
      inFlight.conflictWith(message) ?? methods.accept(message, claimOptions),
  };
}

/** The process that has the lock may be handling this very message. */
async function orRunning<Result>(result: Promise<Result>): Promise<Result | typeof inTransaction> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof DatabaseBusy) return inTransaction;
    throw error;
  }
}
