// A database for each test of a file, or for all of them, and instances of Posthorn on it. The instances are stopped
// and the database is dropped at the end.
import { randomBytes } from "node:crypto";
import type pg from "pg";
import type { PublishInput } from "posthorn";
import {
  createTestInstance,
  type ScriptedReceiver,
  startScriptedReceiver,
  type TestInstance,
  type TestInstanceOptions,
} from "posthorn/testing";
import { afterAll, afterEach, beforeEach } from "vitest";
import type { EndpointInput } from "../../../packages/posthorn/src/resources/endpoints/settings.ts";
import { createMigratedDatabase, createPool } from "./postgres.ts";

type OpenDatabase = Awaited<ReturnType<typeof openDatabase>>;

/** Call it at the top of the file, after the hooks of resources that must outlive the instances, such as a receiver. */
export function databasePerTest(defaults: Partial<TestInstanceOptions> = {}): Omit<OpenDatabase, "close"> {
  const encryptionKeys = `test:${randomBytes(32).toString("base64")}`;
  let world: OpenDatabase;
  beforeEach(async () => {
    world = await openDatabase(encryptionKeys, defaults);
  });
  afterEach(() => world.close());
  return {
    encryptionKeys,
    get connectionString() {
      return world.connectionString;
    },
    get pool() {
      return world.pool;
    },
    open: (options) => world.open(options),
    countStates: () => world.countStates(),
    countRows: (...tables) => world.countRows(...tables),
  };
}

/** One database for all tests of a file, which use their own tenants. */
export async function databasePerFile(defaults: Partial<TestInstanceOptions> = {}): Promise<OpenDatabase> {
  const encryptionKeys = `test:${randomBytes(32).toString("base64")}`;
  const world = await openDatabase(encryptionKeys, defaults);
  afterAll(() => world.close());
  return world;
}

/** A receiver for all tests of a file. */
export async function receiverPerFile(): Promise<ScriptedReceiver> {
  const receiver = await startScriptedReceiver();
  afterAll(() => receiver.close());
  return receiver;
}

async function openDatabase(encryptionKeys: string, defaults: Partial<TestInstanceOptions>) {
  const database = await createMigratedDatabase();
  const { connectionString } = database;
  const pool = createPool(connectionString, { max: 20 });
  const opened: TestInstance[] = [];
  return {
    connectionString,
    encryptionKeys,
    pool,
    /** With the tenant `acme` in it. */
    async open(options: Partial<TestInstanceOptions> = {}): Promise<TestInstance> {
      const instance = await createTestInstance({
        database: connectionString,
        encryptionKeys,
        // reports would be further events for endpoints that receive all
        notifyDeadLetters: false,
        notifyCircuits: false,
        ...defaults,
        ...options,
      });
      opened.push(instance);
      await instance.hooks.tenants.upsert("acme", {});
      return instance;
    },
    /** How many deliveries are in each state. */
    async countStates(): Promise<Record<string, number>> {
      const { rows } = await pool.query(
        "select state, count(*)::integer as count from posthorn.delivery_states group by state",
      );
      return Object.fromEntries(rows.map((row) => [row.state, row.count]));
    },
    /** How many rows each of these tables has. */
    async countRows(...tables: readonly string[]): Promise<number[]> {
      const counts = tables.map((table) => `(select count(*)::integer from posthorn.${table}) as ${table}`);
      const { rows } = await pool.query(`select ${counts.join(", ")}`);
      return tables.map((table) => rows[0][table] as number);
    },
    async close() {
      await Promise.all(opened.map((instance) => instance.hooks.stop({ graceMs: 0 })));
      await pool.end();
      await database.drop();
    },
  };
}

let tenants = 0;
/** Creates a tenant with its own name, for tests that share a database. */
export async function newTenant({ hooks }: TestInstance): Promise<string> {
  tenants += 1;
  return (await hooks.tenants.upsert(`tenant-${tenants}`, {})).id;
}

let paths = 0;
/** Creates an endpoint at its own path; `lane` is its bare uuid. */
export async function newEndpoint(
  { hooks }: TestInstance,
  receiver: { readonly url: string },
  options: Partial<EndpointInput> = {},
  tenant = "acme",
) {
  paths += 1;
  const path = `/endpoint-${paths}`;
  const url = receiver.url + path;
  const { endpoint, secret } = await hooks.endpoints.create(tenant, { url, events: ["*"], ...options });
  return { path, secret, id: endpoint.id, lane: endpoint.id.slice(3) };
}

/** Lets time pass, and everything that is due then happen. */
export async function settleAfter(instance: TestInstance, ms: number): Promise<void> {
  await instance.advance(ms);
  await instance.settle();
}

/** Publishes the same event `count` times and returns the ids. */
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

/** Publishes with the SQL function and returns the event's id. */
export async function publishBySql(pool: pg.Pool, input: PublishInput): Promise<string> {
  const { tenant, type, data, rawData, subject, apiVersion = "1", idempotencyKey } = input;
  const json = rawData === undefined ? JSON.stringify(data) : String(Buffer.from(rawData as Uint8Array));
  const { rows } = await pool.query(
    `select posthorn.publish(tenant => $1, type => $2, data => $3::text, subject => $4, api_version => $5,
       idempotency_key => $6) as id`,
    [tenant, type, json, subject ?? null, apiVersion, idempotencyKey ?? null],
  );
  return rows[0].id;
}
