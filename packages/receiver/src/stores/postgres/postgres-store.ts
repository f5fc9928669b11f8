// The store in PostgreSQL, in its own tables beside yours, so that a claim and your writes can be one commit.
import { rejectUnknownOptions, wholeNumber } from "../../options.ts";
import type { Store } from "../../store.ts";
import { LockedClaims } from "../locked-claims.ts";
import type { PostgresDatabase, Query } from "./database.ts";
import { migrate } from "./migrate.ts";
import { withMigrationHint } from "./migration-hint.ts";
import { checkSchema, DEFAULT_SCHEMA } from "./migrations.ts";
import { type ClientOf, type PgPool, poolDatabase } from "./pool-database.ts";
import { retryConflicts } from "./retry-conflicts.ts";
import { statementsIn } from "./statements.ts";
import { subscriptionsIn } from "./subscriptions.ts";
import { TransactionLimit } from "./transaction-limit.ts";
import { transactionsOn } from "./transactions.ts";

export interface PostgresStoreOptions {
  /** The schema of its tables. Default `posthorn_receiver`. */
  readonly schema?: string;
  /**
   * How many handlers' transactions run at once; others wait up to ten seconds. Default: one less than the pool's `max`, or 9 if
   * the library does not expose it.
   */
  readonly maxTransactions?: number;
}

export const postgresStoreOptionNames = [
  "schema",
  "maxTransactions",
] as const satisfies (keyof PostgresStoreOptions)[];

/** The default of `pg`, Knex, and the pools that Drizzle, Kysely and Prisma usually use. */
const DEFAULT_POOL_SIZE = 10;

/** How often `claimDue` continues if all messages it examined must wait for their subjects. */
const MAX_LOOKS = 50;

export function postgresStore<Tx>(database: PostgresDatabase<Tx>, options?: PostgresStoreOptions): Store<Tx>;
export function postgresStore<Pool extends PgPool>(
  pool: Pool,
  options?: PostgresStoreOptions,
): Store<ClientOf<Pool>>;
export function postgresStore(
  given: PgPool | PostgresDatabase<unknown>,
  options: PostgresStoreOptions = {},
): Store<unknown> {
  rejectUnknownOptions("postgresStore", options, postgresStoreOptionNames);
  const { schema = DEFAULT_SCHEMA, maxTransactions = allButOneOf(given) } = options;
  checkSchema(schema);
  wholeNumber("maxTransactions", maxTransactions, 1, 10_000);
  const plain = databaseOf(given);
  const db = withMigrationHint(plain, schema);
  const statements = statementsIn(schema);
  const held = new LockedClaims();
  const query: Query = (text, values) => retryConflicts(() => db.query(text, values));

  return {
    migrate: () => migrate(plain, schema),
    claim: (message, terms) => statements.claim(query, message, terms),
    renew: async (claim, leaseMs) =>
      held.recordRenewal(claim, leaseMs) ||
      (await statements.renew(query, claim, leaseMs, { wasHeld: false })),
    complete: (claim) => statements.complete(query, claim),
    fail: ({ message, token }, failure) => statements.fail(query, message, { token }, failure),
    transactions: transactionsOn({ ...db, query }, statements, held, new TransactionLimit(maxTransactions)),
    accept: (message, terms) => statements.accept(query, message, terms),
    async claimDue(limit, terms) {
      for (let looks = 1; ; looks++) {
        const { claims, isAll } = await statements.claimDue(query, limit, terms);
        if (claims.length > 0 || isAll || looks === MAX_LOOKS) return claims;
      }
    },
    claimOne: (key, terms) => statements.claimOne(query, key, terms),
    deadLetters: {
      list: ({ limit, after }) => statements.listDead(query, limit, after),
      count: () => statements.countDead(query),
      requeue: (key) => statements.requeue(query, key),
      undoRequeue: (key) => statements.undoRequeue(query, key),
      discard: (key) => statements.discard(query, key),
    },
    subscriptions: subscriptionsIn(schema, query),
    prune: (limit, { windowMs }) => statements.prune(query, limit, windowMs),
  };
}

/** Leaves one connection for everything else. */
function allButOneOf(given: object | undefined): number {
  const { options } = (given ?? {}) as Partial<PgPool>;
  return Math.max(1, (options?.max ?? DEFAULT_POOL_SIZE) - 1);
}

function databaseOf(given: PgPool | PostgresDatabase<unknown>): PostgresDatabase<unknown> {
  // Drizzle, Kysely and Knex have a `transaction` too, but no method `query`.
  if (typeof given?.query === "function") {
    if ("transaction" in given) return given;
    if ("connect" in given) return poolDatabase(given) as PostgresDatabase<unknown>;
  }
  throw new TypeError(
    "postgresStore needs a Pool from pg, drizzleDatabase(db, sql), kyselyDatabase(db), knexDatabase(knex) or " +
      "prismaDatabase(prisma).",
  );
}
