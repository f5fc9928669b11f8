// Exactly one event for each row although processes are killed: Posthorn, and the server of the source's database.
import type pg from "pg";
import { expect, onTestFinished, type TestContext, test } from "vitest";
import { type OwnPostgres, openOwnPostgres } from "../../../../tests/support/database/own-postgres.ts";
import { createPool } from "../../../../tests/support/database/postgres.ts";
import { eventually } from "../../../../tests/support/eventually.ts";
import { openWorkerWorld } from "../../../../tests/support/processes/worker-world.ts";
import type { SourceOptions } from "./options.ts";

const ROWS = 3_000;
const PER_TRANSACTION = 20;
const LIMIT_MS = 40_000;

async function openShop(kind: SourceOptions["kind"]) {
  const server = await openOwnPostgres({ wal_level: "logical", max_slot_wal_keep_size: "1GB" });
  onTestFinished(() => server.close());
  await server.query(`create table outbox (
    id bigint generated always as identity primary key,
    n integer not null unique,
    updated_at timestamptz not null default now()
  )`);
  await server.query("create publication posthorn_shop for table outbox with (publish = 'insert')");
  const isPolling = kind === "polling";
  const source: SourceOptions = {
    name: "shop",
    kind,
    database: server.connectionString,
    table: "outbox",
    columns: { id: "id", data: "n", ...(isPolling && { updatedAt: "updated_at" }) },
    values: { tenant: "acme", type: "order.paid" },
    ...(isPolling && { intervalMs: 100, delayMs: 0 }),
  };
  return { server, source };
}

/**
 * Writes rows until there are `ROWS`, in small transactions, through restarts of the server. It is never more than 400
 * rows ahead of the events, so that every kill is in the middle.
 */
async function writeRows(server: OwnPostgres, events: () => Promise<readonly number[]>): Promise<void> {
  let pool: pg.Pool = createPool(server.connectionString, { max: 1 });
  for (let first = 1; first <= ROWS; first += PER_TRANSACTION) {
    if (first % 400 === 1)
      await eventually("the events follow", async () => (await events()).length > first - 400, LIMIT_MS);
    await eventually(
      "the rows are written",
      async () => {
        try {
          // a commit whose reply was lost is not repeated
          await pool.query(
            "insert into outbox (n) select n from generate_series($1::integer, $2::integer) n on conflict do nothing",
            [first, first + PER_TRANSACTION - 1],
          );
          return true;
        } catch (error) {
          await pool.end();
          pool = createPool(server.connectionString, { max: 1 });
          throw error;
        }
      },
      LIMIT_MS,
    );
  }
  await pool.end();
}

async function openWorld(context: TestContext, source: SourceOptions) {
  const world = await openWorkerWorld(context, [], { sources: [source] });
  const events = async (): Promise<number[]> => {
    const { rows } = await world.pool.query<{ n: number }>(
      "select convert_from(payload, 'UTF8')::integer as n from posthorn.events order by n",
    );
    return rows.map(({ n }) => n);
  };
  return {
    ...world,
    events,
    eventsAre: (count: number) =>
      eventually(`${count} events are stored`, async () => (await events()).length >= count, LIMIT_MS),
    async running() {
      await eventually(
        "the source runs",
        async () => {
          const { rows } = await world.pool.query("select from posthorn.sources where state = 'running'");
          return rows.length === 1;
        },
        LIMIT_MS,
      );
    },
  };
}

const everyRow = Array.from({ length: ROWS }, (_, index) => index + 1);

test.each(["polling", "replication"] as const)(
  "by %s, each row has one event although the process that follows it is killed several times",
  async (kind) => {
    const { server, source } = await openShop(kind);
    const world = await openWorld({ onTestFinished } as TestContext, source);
    let worker = world.startWorker();
    await worker.started;
    await world.running();
    const writing = writeRows(server, world.events);
    for (const count of [200, 700, 1_300, 2_200]) {
      await world.eventsAre(count);
      await worker.kill();
      worker = world.startWorker();
      await worker.started;
    }
    await writing;
    await world.eventsAre(ROWS);
    expect(await world.events()).toEqual(everyRow);
  },
);

test.each([
  ["polling", "SIGQUIT"],
  ["replication", "SIGQUIT"],
  ["replication", "SIGKILL"],
] as const)(
  "by %s, each row has one event although the server of the source ends by %s",
  async (kind, signal) => {
    const { server, source } = await openShop(kind);
    const world = await openWorld({ onTestFinished } as TestContext, source);
    await world.startWorker().started;
    await world.running();
    const writing = writeRows(server, world.events);
    for (const count of [400, 1_500]) {
      await world.eventsAre(count);
      await server.stopImmediately(signal);
      await server.start();
    }
    await writing;
    await world.eventsAre(ROWS);
    expect(await world.events()).toEqual(everyRow);
  },
);
