// From publish to effect under faults: two workers of Posthorn send, two receivers write one effect per event into a
// table that would take it twice, and everything between and below them fails now and then.
import { randomBytes } from "node:crypto";
import type { Mode } from "@posthorn/receiver";
import { postgresStore } from "@posthorn/receiver/postgres";
import type pg from "pg";
import { createPosthorn, type Posthorn, type PosthornOptions } from "posthorn";
import { describe, expect, type TestContext, test } from "vitest";
import { nothingOwed } from "../support/audit.ts";
import { type ChaosProxy, startChaosProxy } from "../support/chaos-proxy.ts";
import { eventually } from "../support/eventually.ts";
import { openOwnPostgres } from "../support/own-postgres.ts";
import { createDatabase, createMigratedDatabase, createPool } from "../support/postgres.ts";
import type { Direction } from "../support/receiver/directed-child.ts";
import {
  type DirectedReceivers,
  type SceneIn,
  startReceivers,
} from "../support/receiver/directed-receivers.ts";
import { type FrontDoor, openFrontDoor } from "../support/receiver/front-door.ts";
import { startWorker, type WorkerProcess } from "../support/worker-process.ts";

const leastEvents = 300;
/** Bounds a run in which a fault cannot strike; far more than any needs. */
const mostEvents = 2_000;
const mostOwed = 100;
const endpoints = 4;
/** Every so many calls of a handler one of them meets with a fault, and every so many answers of 2xx are lost. */
const callsPerFault = 7;
const answersPerLoss = 10;
const patienceMs = 60_000;

describe("Posthorn → receivers → effects, under faults", () => {
  test("transactional mode: every event has its effect exactly once", async (context) => {
    const world = await openWorld(context, { mode: "transactional", isRestarted: true });
    await runThrough(world, [
      ...several(3, slowerThanTheSenderWaits),
      ...several(2, receiverKilled),
      ...several(4, handlerThrows),
      ...several(3, connectionLostInTheHandler),
      ...several(3, connectionLostBeforeTheCommit),
      ...several(3, connectionLostByTheCommit),
      ...several(4, replyToTheCommitLost),
      workerKilled,
      databaseRestarted,
      ...several(2, receiverKilled),
      ...several(2, slowerThanTheSenderWaits),
    ]);
    expect(await effectsOf(world)).toEqual({ lost: [], repeated: [], unknown: [] });
    expect(await statesOf(world)).toEqual(["done"]);
    expectDuplicates(world);
    expect([...statusesOf(world)]).toEqual(expect.arrayContaining([200, 409, 500, 503]));
    expect(world.repliesLost()).toBeGreaterThan(0);
  });

  test("inbox mode, finished in the handler's transaction: every event has its effect exactly once", async (context) => {
    const world = await openWorld(context, { mode: "inbox" });
    await runThrough(world, [
      ...several(2, receiverKilled),
      ...several(5, handlerThrows),
      ...several(4, connectionLostInTheHandler),
      ...several(4, connectionLostBeforeTheCommit),
      ...several(4, connectionLostByTheCommit),
      ...several(4, replyToTheCommitLost),
      workerKilled,
      receiverKilled,
    ]);
    const isAllDone = async () => (await statesOf(world)).join() === "done";
    await eventually("everything in the inbox is worked on", isAllDone, patienceMs);
    expect(await effectsOf(world)).toEqual({ lost: [], repeated: [], unknown: [] });
    expectDuplicates(world);
    expect([...statusesOf(world)]).toEqual(expect.arrayContaining([200, 202]));
    expect(world.repliesLost()).toBeGreaterThan(0);
  });

  test("lease mode: no effect is lost, and only those repeat whose handler did not come to its end", async (context) => {
    // a lease that a busy machine does not lose
    const world = await openWorld(context, { mode: "lease", leaseMs: 5_000 });
    const thrown: string[] = [];
    const notedThrow: Fault = async (scene, given) => {
      thrown.push(scene.id);
      return await handlerThrows(scene, given);
    };
    await runThrough(world, [
      ...several(3, slowerThanTheSenderWaits),
      receiverKilled,
      ...several(8, notedThrow),
      workerKilled,
      receiverKilled,
    ]);
    const { lost, repeated, unknown } = await effectsOf(world);
    expect({ lost, unknown }).toEqual({ lost: [], unknown: [] });
    expect(repeated).toEqual(expect.arrayContaining(thrown));
    const cutOff = world.door.passages.filter(({ status }) => status === null).map(({ id }) => id);
    expect(repeated.filter((id) => !thrown.includes(id) && !cutOff.includes(id))).toEqual([]);
    expect(await statesOf(world)).toEqual(["done"]);
    expectDuplicates(world);
    expect([...statusesOf(world)]).toEqual(expect.arrayContaining([200, 409, 500]));
  });
}, 120_000);

// ── faults ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Strikes while a handler waits, its effect written; returns what it does then, if anything. */
type Fault = (scene: SceneIn, world: World) => Promise<Direction | null>;

const goOn: Direction = { kind: "go on" };

const handlerThrows: Fault = async () => ({ kind: "throw" });

const receiverKilled: Fault = async ({ receiver }) => {
  await receiver.kill();
  return null;
};

/** The next delivery comes while the handler of the first still runs. */
const slowerThanTheSenderWaits: Fault = async ({ id }, { door, held }) => {
  held.add(id);
  const isRefused = () => door.passages.some((passage) => passage.id === id && passage.status === 409);
  await door.until("a delivery of what is being worked on", isRefused, patienceMs);
  held.delete(id);
  return goOn;
};

/** The worker whose request this is: nobody is left to hear the answer. */
const workerKilled: Fault = async ({ id }, { door, replaceWorker }) => {
  await replaceWorker(door.passages.findLast((passage) => passage.id === id)?.sender as string);
  return goOn;
};

const connectionLostInTheHandler: Fault = async (scene, world) => {
  await terminate(scene, world);
  return { kind: "send", statement: "select 1" };
};

const connectionLostBeforeTheCommit: Fault = async (scene, world) => {
  await terminate(scene, world);
  return goOn;
};

async function terminate({ backendPid }: SceneIn, { sql }: World): Promise<void> {
  // fails when all of them are being lost at that very moment
  await sql.query("select pg_terminate_backend($1, 10000)", [backendPid]).catch(() => {});
}

const connectionLostByTheCommit: Fault = async () => ({
  kind: "send",
  statement: "insert into last_straws default values",
});

/** Committed, though the receiver cannot know it. */
const replyToTheCommitLost: Fault = async (_, { loseReplyToCommit }) => {
  loseReplyToCommit();
  return goOn;
};

const databaseRestarted: Fault = async (_, { restartDatabase }) => {
  await restartDatabase();
  return goOn;
};

/** Those that would end a slow handler, and leave none to serve when they come too soon. */
const needsAllAtEase = new Set([receiverKilled, databaseRestarted]);

const several = (count: number, fault: Fault): Fault[] => Array(count).fill(fault);

// ── the world ────────────────────────────────────────────────────────────────────────────────────────────────────────

interface World {
  readonly api: Posthorn;
  readonly queue: pg.Pool;
  /** Of the receivers' database, past the proxy. */
  readonly sql: pg.Pool;
  readonly door: FrontDoor;
  readonly receivers: DirectedReceivers;
  readonly published: Set<string>;
  /** Those to come. */
  readonly faults: Fault[];
  /** Ids of the events whose handlers are slow just now. */
  readonly held: Set<string>;
  loseReplyToCommit(): void;
  repliesLost(): number;
  restartDatabase(): Promise<void>;
  /** kill -9 of the worker of this name. */
  replaceWorker(name: string): Promise<void>;
}

interface WorldGiven {
  readonly mode: Mode;
  readonly leaseMs?: number;
  readonly isRestarted?: boolean;
}

async function openWorld(
  { onTestFinished }: TestContext,
  { mode, leaseMs = 2_000, isRestarted = false }: WorldGiven,
): Promise<World> {
  const door = await openFrontDoor();
  onTestFinished(() => door.close());
  const [sending, receiving] = await Promise.all([
    openSender(door, onTestFinished),
    openDatabase(isRestarted, onTestFinished),
  ]);
  const { proxy, ...database } = receiving;
  let repliesLost = 0;
  const world: Omit<World, "receivers"> = {
    ...sending,
    ...database,
    door,
    published: new Set(),
    faults: [],
    held: new Set(),
    loseReplyToCommit: () => {
      void proxy.loseNextReply(".finish(").then(() => {
        repliesLost += 1;
      });
    },
    repliesLost: () => repliesLost,
  };
  let calls = 0;
  const direct = async (scene: SceneIn): Promise<Direction | null> => {
    calls += 1;
    if (calls % callsPerFault !== 0) return goOn;
    const areAllAtEase = receivers.areComplete && world.held.size === 0;
    const next = world.faults.findIndex((fault) => areAllAtEase || !needsAllAtEase.has(fault));
    const [fault] = next === -1 ? [] : world.faults.splice(next, 1);
    return fault === undefined ? goOn : await fault(scene, { ...world, receivers });
  };
  const { secrets } = sending;
  const settings = { connectionString: proxy.connectionString, mode, secrets, leaseMs };
  const receivers = await startReceivers(2, settings, door, direct);
  onTestFinished(() => receivers.close());
  return { ...world, receivers };
}

type OnTestFinished = TestContext["onTestFinished"];

async function openSender(door: FrontDoor, onTestFinished: OnTestFinished) {
  const database = await createMigratedDatabase();
  onTestFinished(() => database.drop());
  const options = {
    database: database.connectionString,
    encryptionKeys: `test:${randomBytes(32).toString("base64")}`,
    allowHttp: true,
    allowCidrs: ["127.0.0.0/8"],
    retryPolicy: ["100ms", "200ms", "400ms", ...Array(40).fill("1s")].join(),
    timeoutMs: 1_500,
    // what fails here is meant to be tried again at once
    circuitFailures: 0,
    disableAfterFailures: 0,
    leaseMs: 2_000,
  } satisfies PosthornOptions;
  const api = createPosthorn(options);
  await api.migrate();
  await api.tenants.upsert("acme", {});
  const secrets: string[] = [];
  for (let number = 0; number < endpoints; number += 1) {
    const input = { url: `${door.url}/webhooks/${number}`, events: [`order.${number}`] };
    secrets.push((await api.endpoints.create("acme", input)).secret);
  }
  await api.start({ role: "api" });
  onTestFinished(() => api.stop());

  let raised = 0;
  const workers: WorkerProcess[] = [];
  function raise(): WorkerProcess {
    raised += 1;
    const worker = startWorker({ ...options, userAgent: `worker-${raised}` });
    onTestFinished(() => worker.kill());
    workers.push(worker);
    return worker;
  }
  await Promise.all([raise(), raise()].map(({ started }) => started));
  return {
    api,
    secrets,
    queue: createPool(database.connectionString),
    async replaceWorker(name: string) {
      await workers.find((worker) => worker.name === name)?.kill();
      raise();
    },
  };
}

async function openDatabase(isRestarted: boolean, onTestFinished: OnTestFinished) {
  const own = isRestarted ? await openOwnPostgres() : null;
  const shared = own === null ? await createDatabase() : null;
  const { connectionString } = (own ?? shared) as { connectionString: string };
  onTestFinished(async () => void (await Promise.all([own?.close(), shared?.drop()])));
  const proxy: ChaosProxy = await startChaosProxy(connectionString);
  onTestFinished(() => proxy.close());
  const sql = createPool(connectionString);
  await postgresStore(sql).migrate();
  await sql.query(effectTables);
  return {
    proxy,
    sql,
    async restartDatabase() {
      await own?.stopImmediately();
      await own?.start();
    },
  };
}

/** Nothing but the receiver keeps an effect from being written twice. */
const effectTables = `
create table effects (id serial, event_id text not null);
create table last_straws (id serial);
create function break_connection() returns trigger language plpgsql as $$
begin
  perform pg_terminate_backend(pg_backend_pid());
  return null;
end
$$;
create constraint trigger break_connection after insert on last_straws
deferrable initially deferred for each row execute function break_connection();
`;

// ── what is done and seen ────────────────────────────────────────────────────────────────────────────────────────────

/**
 * Publishes as fast as it is delivered until all faults have struck, and returns when nothing is owed any more. Every
 * delivery has succeeded by then.
 */
async function runThrough(world: World, faults: readonly Fault[]): Promise<void> {
  const { api, door, queue, published } = world;
  const delivered = new Set<string>();
  world.faults.push(...faults);
  door.loses = ({ id, status }) => {
    if (status === null || status >= 300 || delivered.has(id)) return false;
    delivered.add(id);
    return delivered.size % answersPerLoss === 0;
  };
  while (published.size < leastEvents || world.faults.length > 0) {
    const number = published.size;
    if (number === mostEvents) throw new Error(`${world.faults.length} faults have not struck yet.`);
    const input = { tenant: "acme", type: `order.${number % endpoints}`, data: { number } };
    published.add((await api.publish(input)).id);
    await door.until("the backlog to shrink", () => delivered.size > number - mostOwed, patienceMs);
  }
  await nothingOwed(queue, "posthorn", patienceMs);
  const { rows } = await queue.query(
    "select state, count(*)::integer from posthorn.delivery_states group by state",
  );
  expect(rows).toEqual([{ state: "success", count: published.size }]);
}

async function effectsOf({ sql, published }: World) {
  const { rows } = await sql.query<{ id: string; count: number }>(
    "select event_id as id, count(*)::integer from effects group by event_id",
  );
  const found = new Set(rows.map(({ id }) => id));
  return {
    lost: [...published].filter((id) => !found.has(id)),
    repeated: rows.filter(({ count }) => count > 1).map(({ id }) => id),
    unknown: [...found].filter((id) => !published.has(id)),
  };
}

/** Those that messages are in. */
async function statesOf({ sql }: World): Promise<string[]> {
  const { rows } = await sql.query("select distinct state from posthorn_receiver.messages");
  return rows.map(({ state }) => state);
}

function statusesOf({ door }: World): Set<number | null> {
  return new Set(door.passages.map(({ status }) => status));
}

/** Without them nothing would be proven. */
function expectDuplicates({ door: { passages }, published }: World): void {
  const duplicates = passages.filter(({ isDuplicate }) => isDuplicate).length;
  expect(duplicates).toBeGreaterThan(published.size / answersPerLoss / 2);
  expect(passages.length).toBeGreaterThan(published.size + duplicates);
}
