// From publish to effect under faults: two workers send, and two receivers write one effect per event into a table
// without a unique index, while processes, connections and the database fail.
import type { Mode } from "@posthorn/receiver";
import { postgresStore } from "@posthorn/receiver/postgres";
import { describe, expect, type TestContext, test } from "vitest";
import { startChaosProxy } from "../support/database/chaos-proxy.ts";
import { openOwnPostgres } from "../support/database/own-postgres.ts";
import { createPool, queueEmpty } from "../support/database/postgres.ts";
import { eventually } from "../support/eventually.ts";
import { openWorkerWorld } from "../support/processes/worker-world.ts";
import { startBalancer } from "./balanced-receivers.ts";
import type { HandlerFault } from "./faulty-receiver.ts";

type Fault = HandlerFault | "reply to the commit lost" | "worker killed" | "database restarted";

const endpoints = 4;
const eventsPerFault = 10;
/** One of this many first 2xx responses is lost. */
const answersPerLoss = 10;
const mostOwed = 100;
const leaseMs = 2_000;
const patienceMs = 60_000;

describe("Posthorn → receivers → effects, under faults", () => {
  test("transactional mode: every event has its effect exactly once", async (context) => {
    const world = await openWorld(context, "transactional");
    await world.runThrough([
      ...several(3, "handler slow"),
      ...several(2, "receiver killed"),
      ...several(4, "handler throws"),
      ...several(3, "connection lost in the handler"),
      ...several(3, "connection lost before the commit"),
      ...several(3, "connection lost by the commit"),
      ...several(4, "reply to the commit lost"),
      "worker killed",
      "database restarted",
      ...several(2, "receiver killed"),
      ...several(2, "handler slow"),
    ]);
    await world.expectEffectsOnce();
    expect(world.statuses()).toEqual(expect.arrayContaining([200, 409, 500, 503]));
  });

  test("inbox mode, finished in the handler's transaction: every event has its effect exactly once", async (context) => {
    const world = await openWorld(context, "inbox");
    await world.runThrough([
      ...several(2, "receiver killed"),
      ...several(5, "handler throws"),
      ...several(4, "connection lost in the handler"),
      ...several(4, "connection lost before the commit"),
      ...several(4, "connection lost by the commit"),
      ...several(4, "reply to the commit lost"),
      "worker killed",
      "receiver killed",
    ]);
    await world.expectEffectsOnce();
    expect(world.statuses()).toEqual(expect.arrayContaining([200, 202]));
  });
}, 120_000);

const several = (count: number, fault: Fault): Fault[] => Array(count).fill(fault);

async function openWorld({ onTestFinished }: TestContext, mode: Mode) {
  const balancer = await startBalancer();
  const inputs = Array.from({ length: endpoints }, (_, number) => ({
    url: `${balancer.url}/webhooks/${number}`,
    events: [`order.${number}`],
  }));
  const {
    pool: queue,
    secrets,
    open,
    startWorker,
  } = await openWorkerWorld({ onTestFinished }, inputs, {
    retryPolicy: ["100ms", "200ms", "400ms", ...Array(40).fill("1s")].join(),
    timeoutMs: 1_500,
    // failed deliveries are retried at once
    circuitFailures: 0,
    disableAfterFailures: 0,
    leaseMs,
  });
  const workers = [startWorker(), startWorker()];
  await Promise.all(workers.map(({ started }) => started));
  const api = await open("api");

  const postgres = await openOwnPostgres({ fsync: "off" });
  onTestFinished(() => postgres.close());
  const proxy = await startChaosProxy(postgres.connectionString);
  onTestFinished(() => proxy.close());
  const sql = createPool(postgres.connectionString);
  onTestFinished(() => sql.end());
  await postgresStore(sql).migrate();
  await sql.query(tables);
  onTestFinished(() => balancer.close());
  await balancer.startReceivers(2, { connectionString: proxy.connectionString, mode, secrets, leaseMs });

  const published = new Set<string>();
  let repliesLost = 0;
  const statuses = () => balancer.passages.map(({ status }) => status);
  /** Faults outside of the receivers. The returned function ends a fault after the next event is published. */
  const actions: Partial<Record<Fault, () => Promise<(() => Promise<void>) | void>>> = {
    // the commit succeeds, but the receiver does not get the reply
    "reply to the commit lost": async () => {
      void proxy.loseNextReply(".finish(").then(() => {
        repliesLost += 1;
      });
    },
    "worker killed": async () => {
      await workers.find(({ name }) => name === balancer.passages.at(-1)?.sender)?.kill();
      workers.push(startWorker());
    },
    // the next event is published while the database is down
    "database restarted": async () => {
      await postgres.stopImmediately();
      return async () => {
        await eventually("a response 503 without a database", () => statuses().includes(503), patienceMs);
        await postgres.start();
      };
    },
  };

  return {
    statuses,
    /** Publishes while the faults are injected, and returns when every delivery has succeeded. */
    async runThrough(faults: readonly Fault[]): Promise<void> {
      const delivered = new Set<string>();
      balancer.loses = ({ id, status }) => {
        if (status === null || status >= 300 || delivered.has(id)) return false;
        delivered.add(id);
        return delivered.size % answersPerLoss === 0;
      };
      for (let number = 0; number < faults.length * eventsPerFault; number += 1) {
        const planned = (number % eventsPerFault === 0 && faults[number / eventsPerFault]) || null;
        const action = planned && actions[planned];
        const endFault = await action?.();
        const data = { number, fault: action ? null : planned };
        published.add((await api.publish({ tenant: "acme", type: `order.${number % endpoints}`, data })).id);
        await endFault?.();
        await eventually("the backlog to shrink", () => delivered.size > number - mostOwed, patienceMs);
      }
      await queueEmpty(queue, patienceMs);
      const { rows } = await queue.query(
        "select state, count(*)::integer from posthorn.delivery_states group by state",
      );
      expect(rows).toEqual([{ state: "success", count: published.size }]);
      const injected = await sql.query("select from injected");
      expect(injected.rowCount).toBe(faults.filter((fault) => !(fault in actions)).length);
      expect(repliesLost).toBeGreaterThan(0);
    },
    async expectEffectsOnce(): Promise<void> {
      const states = async () =>
        (await sql.query("select distinct state from posthorn_receiver.messages")).rows;
      const isAllDone = async () => JSON.stringify(await states()) === '[{"state":"done"}]';
      await eventually("every message is done", isAllDone, patienceMs);
      const { rows } = await sql.query<{ id: string }>("select event_id as id from effects");
      expect(rows.map(({ id }) => id).toSorted()).toEqual([...published].toSorted());
      // the test proves nothing without duplicates
      const { passages } = balancer;
      const duplicates = passages.filter(({ isDuplicate }) => isDuplicate).length;
      expect(duplicates).toBeGreaterThan(published.size / answersPerLoss / 2);
      expect(passages.length).toBeGreaterThan(published.size + duplicates);
    },
  };
}

/** Only the receiver prevents that an effect is written twice. */
const tables = `
create table effects (id serial, event_id text not null);
create table injected (event_id text primary key);
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
