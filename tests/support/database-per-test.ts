// A database for each test of a file, and as many Posthorns on it as the test opens: they are stopped, and it is
// dropped, when the test ends.
import { randomBytes } from "node:crypto";
import type pg from "pg";
import type { PublishInput } from "posthorn";
import { createTestInstance, type TestInstance, type TestInstanceOptions } from "posthorn/testing";
import { afterEach, beforeEach, onTestFinished } from "vitest";
import { createMigratedDatabase, createPool, type TestDatabase } from "./postgres.ts";

export interface DatabasePerTest {
  readonly connectionString: string;
  readonly encryptionKeys: string;
  readonly pool: pg.Pool;
  /** With the tenant `acme` in it. */
  open(options?: Partial<TestInstanceOptions>): Promise<TestInstance>;
  /** How many deliveries are in each state. */
  countStates(): Promise<Record<string, number>>;
}

/** Call it at the top of the file, after the hooks of what is to outlive the Posthorns, such as a receiver. */
export function databasePerTest(defaults: Partial<TestInstanceOptions> = {}): DatabasePerTest {
  const encryptionKeys = `test:${randomBytes(32).toString("base64")}`;
  let database: TestDatabase;
  let pool: pg.Pool;
  let opened: TestInstance[];

  beforeEach(async () => {
    database = await createMigratedDatabase();
    pool = createPool(database.connectionString);
    opened = [];
  });
  afterEach(async () => {
    await Promise.all(opened.map((instance) => instance.hooks.stop({ graceMs: 0 })));
    await pool.end();
    await database.drop();
  });

  return {
    encryptionKeys,
    get connectionString() {
      return database.connectionString;
    },
    get pool() {
      return pool;
    },
    async open(options = {}) {
      const { connectionString } = database;
      const instance = await createTestInstance({
        database: connectionString,
        encryptionKeys,
        ...defaults,
        ...options,
      });
      opened.push(instance);
      await instance.hooks.tenants.upsert("acme", {});
      return instance;
    },
    async countStates() {
      const { rows } = await pool.query(
        "select state, count(*)::integer as count from posthorn.delivery_states group by state",
      );
      return Object.fromEntries(rows.map((row) => [row.state, row.count]));
    },
  };
}

/** Publishes the same event so many times and returns the ids. */
export async function publishTimes(
  { hooks }: TestInstance,
  count: number,
  input: PublishInput,
): Promise<string[]> {
  const outcomes = await hooks.publishMany(Array(count).fill(input));
  return outcomes.map((outcome) => {
    if (!outcome.ok) throw outcome.error;
    return outcome.result.id;
  });
}

/** A promise that is kept by hand, or at the end of the test: holds answers open. */
export function gate<Value = void>(value?: Value): { opened: Promise<Value>; open: () => void } {
  let open = (): void => {};
  const opened = new Promise<Value>((resolve) => {
    open = () => resolve(value as Value);
  });
  onTestFinished(open);
  return { opened, open };
}
