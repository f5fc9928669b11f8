// The store in PostgreSQL, in its own tables beside yours, so that a claim and your writes can be one commit.
import { rejectUnknownOptions, wholeNumber } from "../../options.ts";
import type { Store } from "../../store.ts";
import { LockedClaims } from "../locked-claims.ts";
import { type PostgresDatabase, type Query, retryConflicts, sqlState } from "./database.ts";
import { History } from "./history.ts";
import { migrate } from "./migrate.ts";
import { checkSchema, DEFAULT_SCHEMA } from "./migrations.ts";
import { type ClientOf, type PgPool, poolDatabase } from "./pool-database.ts";
import { statementsIn } from "./statements.ts";
import { subscriptionsIn } from "./subscriptions.ts";
import { TransactionLimit } from "./transaction-limit.ts";
import { transactionStatementsIn } from "./transaction-statements.ts";
import { transactionsOn } from "./transactions.ts";

export interface PostgresStoreOptions {
  /** The schema of its tables. Default `posthorn_receiver`. */
  readonly schema?: string;
  /**
   * How many handlers' transactions run at once; others wait up to ten seconds. Default: one less than the pool's `max`, or 9 if
   * the library does not expose it.
   */
  readonly maxTransactions?: number;
  /** Records every received message with its body in the table `history`, for this many days. Default: none. */
  readonly historyDays?: number | undefined;
}

export const postgresStoreOptionNames = [
  "schema",
  "maxTransactions",
  "historyDays",
] as const satisfies (keyof PostgresStoreOptions)[];

/** The default of `pg`, Knex, and the pools that Drizzle, Kysely and Prisma usually use. */
const DEFAULT_POOL_SIZE = 10;

export function postgresStore<Tx>(database: PostgresDatabase<Tx>, options?: PostgresStoreOptions): Store<Tx>;
export function postgresStore<Pool extends PgPool>(
  pool: Pool,
  options?: PostgresStoreOptions,
): Store<ClientOf<Pool>>;
export function postgresStore(
  database: PgPool | PostgresDatabase<unknown>,
  options: PostgresStoreOptions = {},
): Store<unknown> {
  rejectUnknownOptions("postgresStore", options, postgresStoreOptionNames);
  const { schema = DEFAULT_SCHEMA, maxTransactions = allButOneOf(database), historyDays } = options;
  checkSchema(schema);
  wholeNumber("maxTransactions", maxTransactions, 1, 10_000);
  const plain = databaseOf(database);
  const db = withMigrationHint(plain, schema);
  const query: Query = (text, values) => retryConflicts(() => db.query(text, values));
  const history =
    historyDays === undefined ? null : new History(wholeNumber("historyDays", historyDays, 1, 3_650));
  const statements = statementsIn(schema, query, history);
  const held = new LockedClaims();

  return {
    ...statements.store,
    migrate: () => migrate(plain, schema),
    renew: async (claim, leaseMs) =>
      held.recordRenewal(claim, leaseMs) || (await statements.renew(claim, leaseMs, { wasHeld: false })),
    transactions: transactionsOn(
      db,
      statements,
      transactionStatementsIn(schema, history),
      held,
      new TransactionLimit(maxTransactions),
    ),
    subscriptions: subscriptionsIn(schema, query),
  };
}

/** Leaves one connection for everything else. */
function allButOneOf(database: object | undefined): number {
  const { options } = (database ?? {}) as Partial<PgPool>;
  return Math.max(1, (options?.max ?? DEFAULT_POOL_SIZE) - 1);
}

function databaseOf(database: PgPool | PostgresDatabase<unknown>): PostgresDatabase<unknown> {
  // Drizzle, Kysely and Knex have a `transaction` too, but no method `query`.
  if (typeof (database as PostgresDatabase<unknown>)?.query === "function") {
    if ("transaction" in database) return database;
    if ("connect" in database) return poolDatabase(database) as PostgresDatabase<unknown>;
  }
  throw new TypeError(
    "postgresStore needs a Pool from pg, drizzleDatabase(db, sql), kyselyDatabase(db), knexDatabase(knex) or " +
      "prismaDatabase(prisma).",
  );
}

/** Missing schema, function or table. */
const missing = new Set(["3F000", "42883", "42P01"]);

/** Adds advice to errors of the store's own statements, which refer only to its schema. */
function withMigrationHint<Tx>(db: PostgresDatabase<Tx>, schema: string): PostgresDatabase<Tx> {
  const hinted = (error: unknown) => {
    if (!missing.has(sqlState(error) ?? "")) return error;
    return new Error(
      `The schema "${schema}" of the receiver's store is missing or outdated: run store.migrate() first.`,
      { cause: error },
    );
  };
  return {
    query: async (text, values) => {
      try {
        return await db.query(text, values);
      } catch (error) {
        throw hinted(error);
      }
    },
    async transaction(first, work) {
      let hasBegun = false;
      try {
        return await db.transaction(first, (tx, rows, query) => {
          hasBegun = true;
          return work(tx, rows, query);
        });
      } catch (error) {
        throw hasBegun ? error : hinted(error);
      }
    },
  };
}
