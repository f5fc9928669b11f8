// Attempts over time: counted by the worker, written, rolled up, pruned, read.
import { beforeEach, expect, test } from "vitest";
import {
  databasePerTest,
  newEndpoint as endpointFor,
  receiverPerFile,
} from "../../../../../tests/support/database/database-per-test.ts";
import { rollUpHour } from "../../storage/queries/activity.ts";
import type { ScriptedStep, TestInstance } from "../../testing/index.ts";

const hour = 3_600_000;

const receiver = await receiverPerFile();
const world = databasePerTest({ retryPolicy: "30m" });
let instance: TestInstance;
beforeEach(async () => {
  instance = await world.open();
  await instance.hooks.tenants.upsert("rivals");
});

async function newEndpoint(tenant: string, answers: readonly ScriptedStep[] = [200]) {
  const { path, id } = await endpointFor(instance, receiver, {}, tenant);
  receiver.answer(path, answers);
  return id;
}

async function publish(tenant: string, events = 1): Promise<void> {
  for (let n = 0; n < events; n += 1) await instance.hooks.publish({ tenant, type: "order.paid", data: n });
  await instance.settle();
}

/** So that no hour ends during the test. */
async function toTheMiddleOfAnHour(): Promise<void> {
  await instance.advance(1.5 * hour - (instance.hooks.clock.nowMs() % hour));
}

test("attempts are counted per minute for all, per five minutes for a tenant or endpoint", async () => {
  const good = await newEndpoint("acme");
  const bad = await newEndpoint("acme", [500, 400]);
  await newEndpoint("rivals");
  await publish("acme", 2);
  await publish("rivals", 3);
  const { activity } = instance.hooks;
  const all = await activity.get();
  expect([all.period, all.stepSeconds, all.points.length]).toEqual(["hour", 60, 60]);
  expect(all.total).toMatchObject({ success: 5, failed: 1, dead: 1, successRate: 5 / 7 });
  expect(all.total.p99).toBeGreaterThanOrEqual(all.total.p50 as number);
  expect(all.points.reduce((sum, point) => sum + point.success, 0)).toBe(5);
  expect(all.points.at(-1)?.at.getTime()).toBeLessThanOrEqual(instance.hooks.clock.nowMs());
  const acme = await activity.get({ tenant: "acme" });
  expect([acme.stepSeconds, acme.points.length]).toEqual([300, 12]);
  expect(acme.total).toMatchObject({ success: 2, failed: 1, dead: 1 });
  expect((await activity.get({ endpoint: good, period: "day" })).total).toMatchObject({
    success: 2,
    failed: 0,
  });
  expect((await activity.get({ endpoint: bad, tenant: "acme" })).total).toMatchObject({ failed: 1, dead: 1 });
  expect((await activity.get({ endpoint: bad, tenant: "rivals" })).total).toMatchObject({
    success: 0,
    p50: null,
    successRate: null,
  });
});

test("a throttled attempt is not counted in charts", async () => {
  await newEndpoint("acme", [{ status: 409, headers: { "retry-after": "60" } }]);
  await publish("acme");
  expect((await instance.hooks.activity.get()).total).toMatchObject({ success: 0, failed: 0, dead: 0 });
});

test("hours are rolled up when they are over, kept for a month, and unchanged by a second roll-up", async () => {
  await toTheMiddleOfAnHour();
  const endpoint = await newEndpoint("acme", [200, 500, 200]);
  await publish("acme", 2);
  await instance.advance(2 * hour);
  await instance.settle();
  await instance.hooks.engine?.maintenance.runNow();
  const month = () => instance.hooks.activity.get({ endpoint, period: "month" });
  const before = await month();
  expect([before.stepSeconds, before.points.length]).toEqual([3_600, 720]);
  expect(before.total).toMatchObject({ success: 2, failed: 1 });
  await instance.hooks.engine?.maintenance.runNow();
  expect(await month()).toEqual(before);
  expect((await instance.hooks.activity.get({ period: "month" })).total).toMatchObject({
    success: 2,
    failed: 1,
  });
  await instance.advance(2 * hour);
  await instance.hooks.engine?.maintenance.runNow();
  // five-minute buckets are gone, hours are not
  await instance.advance(26 * hour);
  await instance.hooks.engine?.maintenance.runNow();
  const { rows: widths } = await world.pool.query("select distinct width from posthorn.activity");
  expect(widths).toEqual([{ width: 3_600 }]);
  expect((await month()).total).toMatchObject({ success: 2, failed: 1 });
  await instance.advance(30 * 24 * hour);
  await instance.hooks.engine?.maintenance.runNow();
  const { rows } = await world.pool.query("select count(*)::integer as count from posthorn.activity");
  expect(rows).toEqual([{ count: 0 }]);
});

test("an hour is rolled up in batches of endpoints, each exactly once", async () => {
  // an hour that is still kept: maintenance, which runs beside this, would delete an older one
  const at = new Date(Math.floor(Date.now() / hour) * hour - 3 * hour);
  await world.pool.query(
    `insert into posthorn.activity
     select 300, $1::timestamptz + part * interval '5 minutes', ('00000000-0000-7000-8000-00000000000' || n)::uuid,
       n, part, 0, array_fill(n, array[24])
     from generate_series(1, 5) as n, generate_series(0, 11) as part`,
    [at],
  );
  let last: string | null = null;
  const taken: (string | null)[] = [];
  do {
    last = await rollUpHour(instance.hooks.db, at, last, 2);
    taken.push(last?.slice(-1) ?? null);
  } while (last !== null);
  expect(taken).toEqual(["2", "4", "5", null]);
  const { rows } = await world.pool.query(
    "select at, success, failed, latency[24] as slowest from posthorn.activity where width = 3600 order by endpoint_id",
  );
  expect(rows).toEqual([1, 2, 3, 4, 5].map((n) => ({ at, success: 12 * n, failed: 66, slowest: 12 * n })));
});

test("an endpoint has its last day by hour, and null without attempts", async () => {
  await toTheMiddleOfAnHour();
  const quiet = await newEndpoint("rivals");
  const busy = await newEndpoint("acme", [200, 500, 200]);
  await publish("acme");
  await instance.advance(5 * hour);
  await instance.hooks.engine?.maintenance.runNow();
  await publish("acme");
  const { endpoints } = instance.hooks;
  expect((await endpoints.get("rivals", quiet)).health.lastDay).toBeNull();
  const { lastDay } = (await endpoints.get("acme", busy)).health;
  expect(lastDay).toMatchObject({ success: 1, failed: 1, successRate: 0.5 });
  expect(lastDay?.points).toHaveLength(25);
  expect(lastDay?.points.at(-1)).toMatchObject({ success: 0, failed: 1 });
  expect(lastDay?.points.at(-6)).toMatchObject({ success: 1, failed: 0 });
  const [listed] = (await endpoints.list("acme")).data;
  expect(listed?.health.lastDay).toEqual(lastDay);
});
