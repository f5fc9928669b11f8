import { readFileSync } from "node:fs";
import { createTestInstance, startScriptedReceiver, type TestInstanceOptions } from "posthorn/testing";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { publishTimes } from "../../../../../tests/support/database-per-test.ts";
import { eventuallyPasses } from "../../../../../tests/support/eventually.ts";
import { createMigratedDatabase } from "../../../../../tests/support/postgres.ts";
import { silentLogger } from "../../observe/log.ts";
import type { Metrics } from "../../observe/metrics.ts";
import { statement } from "../../storage/sql.ts";
import { createMetricsText } from "./metrics-text.ts";

type Receiver = Awaited<ReturnType<typeof startScriptedReceiver>>;
type World = Awaited<ReturnType<typeof createTestInstance>> & {
  readonly receiver: Receiver;
  readonly connectionString: string;
};

async function makeWorld(options: Omit<TestInstanceOptions, "database"> = {}): Promise<World> {
  const database = await createMigratedDatabase();
  const receiver = await startScriptedReceiver();
  const instance = await createTestInstance({
    database: database.connectionString,
    retryPolicy: "1m,1h",
    circuitFailures: 1,
    ...options,
  });
  onTestFinished(async () => {
    await instance.hooks.stop({ graceMs: 0 });
    await receiver.close();
    await database.drop();
  });
  await instance.hooks.tenants.upsert("acme");
  return { ...instance, receiver, connectionString: database.connectionString };
}

async function endpointAt({ hooks, receiver }: World, path: string): Promise<string> {
  const { endpoint } = await hooks.endpoints.create("acme", { url: receiver.url + path, events: ["*"] });
  return endpoint.id;
}

/** The page, after the sample of the database that is shared for five seconds. */
async function read({ hooks }: World): Promise<Map<string, number>> {
  const text = await createFreshText(hooks);
  return new Map(
    text
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => {
        const at = line.lastIndexOf(" ");
        return [line.slice(0, at), Number(line.slice(at + 1))];
      }),
  );
}

const logger = {
  ...silentLogger,
  warn: (_message: string, fields?: object) => expect(fields).toBeUndefined(),
};

const createFreshText = ({ db, observer, engine }: World["hooks"]): Promise<string> =>
  createMetricsText({
    db,
    metrics: observer.metrics,
    logger,
    inFlight: () => engine?.inFlight ?? 0,
  })();

/** By the statement that deploy/ ships. */
async function countedByKeda({ db }: World["hooks"]): Promise<number> {
  const [, text = ""] =
    /query: >-\n([\s\S]*?)\n\s+targetQueryValue/.exec(readFileSync("deploy/keda.yaml", "utf8")) ?? [];
  const [row] = await db.query<{ count: string }>(statement("keda", text));
  return Number(row?.count);
}

describe("metrics", () => {
  test("count published events, attempts, successes and dead letters", async () => {
    const world = await makeWorld();
    const { hooks, receiver, settle } = world;
    const good = await endpointAt(world, "/good");
    const bad = await endpointAt(world, "/bad");
    receiver.answer("/bad", 400);
    await hooks.publish({ tenant: "acme", type: "order.paid", data: 1 });
    await settle();
    const metrics = await read(world);
    expect(metrics.get('webhook_events_published_total{source="direct"}')).toBe(1);
    expect(metrics.get(`webhook_delivery_attempts_total{endpoint="${good}",outcome="success"}`)).toBe(1);
    expect(metrics.get(`webhook_delivery_attempts_total{endpoint="${bad}",outcome="http_4xx"}`)).toBe(1);
    expect(metrics.get(`webhook_dead_lettered_total{endpoint="${bad}",reason="rejected"}`)).toBe(1);
    expect(metrics.get(`webhook_delivery_latency_seconds_count{endpoint="${good}"}`)).toBe(1);
    expect(metrics.get("webhook_attempt_seconds_count")).toBe(2);
    expect(metrics.get("webhook_settle_seconds_count")).toBeGreaterThan(0);
    expect(metrics.get("webhook_ingest_seconds_count")).toBeGreaterThan(0);
    expect(metrics.get("webhook_queue_depth")).toBe(0);
    expect(metrics.get("webhook_oldest_undelivered_age_seconds")).toBe(0);
    expect(metrics.get("webhook_workers")).toBe(1);
    expect(metrics.get("webhook_partition_days_ahead")).toBe(3);
  });

  test("latency includes retries, and starts again with a manual retry", async () => {
    const world = await makeWorld();
    const { hooks, receiver, settle, advance } = world;
    const endpoint = await endpointAt(world, "/late");
    receiver.answer("/late", [500, 200, 400, 200]);
    await hooks.publish({ tenant: "acme", type: "order.paid", data: 1 });
    await settle();
    await advance(70_000);
    await settle();
    const sum = `webhook_delivery_latency_seconds_sum{endpoint="${endpoint}"}`;
    expect((await read(world)).get(sum)).toBeGreaterThanOrEqual(70);
    const { id } = await hooks.publish({ tenant: "acme", type: "order.paid", data: 2 });
    await settle();
    await advance(3_600_000);
    const { deliveries } = await hooks.events.get(id);
    await hooks.deliveries.retry(deliveries[0]?.id as string);
    await settle();
    expect((await read(world)).get(sum)).toBeLessThan(100);
  });

  test("the oldest due age ignores disabled endpoints and future retries", async () => {
    const world = await makeWorld();
    const { hooks, receiver, settle, advance } = world;
    const failing = await endpointAt(world, "/failing");
    receiver.answer("/failing", 500);
    await hooks.publish({ tenant: "acme", type: "order.paid", data: 1 });
    await settle();
    await advance(30_000);
    const waiting = await read(world);
    expect(waiting.get("webhook_queue_depth")).toBe(1);
    expect(waiting.get("webhook_oldest_due_age_seconds")).toBe(0);
    expect(waiting.get("webhook_oldest_undelivered_age_seconds")).toBeGreaterThanOrEqual(30);
    expect(waiting.get("webhook_circuits_open")).toBe(1);
    expect(waiting.get("webhook_endpoints_disabled")).toBe(0);
    await hooks.endpoints.disable("acme", failing);
    await advance(3_600_000);
    const disabled = await read(world);
    expect(disabled.get("webhook_oldest_due_age_seconds")).toBe(0);
    expect(disabled.get("webhook_oldest_undelivered_age_seconds")).toBeGreaterThanOrEqual(3_600);
  });

  test.each([
    { reason: "circuit", answer: 500 },
    { reason: "throttle", answer: { status: 429, headers: { "retry-after": "3600" } } },
  ])("what a $reason holds up is not overdue, until it may be sent again", async ({ reason, answer }) => {
    const world = await makeWorld({ circuitPauseMs: 3_600_000 });
    const { hooks, receiver, settle, advance } = world;
    await endpointAt(world, "/failing");
    receiver.answer("/failing", answer);
    await hooks.publish({ tenant: "acme", type: "order.paid", data: 1 });
    await settle();
    await hooks.publish({ tenant: "acme", type: "order.paid", data: 2 });
    expect(await countedByKeda(hooks)).toBe(0);
    await advance(1_800_000);
    const held = await read(world);
    expect(held.get("webhook_oldest_due_age_seconds")).toBe(0);
    expect(held.get(`webhook_held_deliveries{reason="${reason}"}`)).toBeGreaterThanOrEqual(1);
    await hooks.stop({ graceMs: 0 });
    const watching = await createTestInstance({ database: world.connectionString, started: false });
    onTestFinished(() => watching.close());
    await watching.advance(3_600_000);
    const free = await read({ hooks: watching.hooks } as World);
    expect(free.get(`webhook_held_deliveries{reason="${reason}"}`)).toBe(0);
    expect(free.get("webhook_oldest_due_age_seconds")).toBeGreaterThan(1_000);
    expect(free.get("webhook_oldest_due_age_seconds")).toBeLessThan(3_000);
  });

  test.each([
    { limit: "max_in_flight", settings: { maxInFlight: 1 } },
    { limit: "rate_limit", settings: { maxInFlight: 1, rateLimit: 1 } },
  ])("what waits for the endpoint's own $limit is not overdue", async ({ settings }) => {
    const world = await makeWorld();
    const { hooks, receiver, advance } = world;
    receiver.answer("/slow", "hang");
    const { endpoint } = await hooks.endpoints.create("acme", {
      url: `${receiver.url}/slow`,
      events: ["*"],
      ...settings,
    });
    await publishTimes(world, 60, { tenant: "acme", type: "order.paid", data: 1 });
    await advance(600_000);
    await eventuallyPasses(async () => {
      const held = await read(world);
      expect(held.get("webhook_oldest_due_age_seconds")).toBe(0);
      expect(held.get('webhook_held_deliveries{reason="limit"}')).toBeGreaterThan(0);
      expect(await countedByKeda(hooks)).toBe(0);
    });
    await hooks.endpoints.update("acme", endpoint.id, { maxInFlight: 100, rateLimit: null });
    await eventuallyPasses(async () => {
      const free = await read(world);
      expect(free.get('webhook_held_deliveries{reason="limit"}')).toBe(0);
      expect(free.get("webhook_oldest_due_age_seconds")).toBeLessThan(60);
    });
  });

  test("an endpoint disabled after failures is counted, one disabled manually is not", async () => {
    const world = await makeWorld();
    const { hooks, receiver, settle } = world;
    await endpointAt(world, "/gone");
    await hooks.endpoints.disable("acme", await endpointAt(world, "/resting"));
    receiver.answer("/gone", 410);
    await hooks.publish({ tenant: "acme", type: "order.paid", data: 1 });
    await settle();
    expect((await read(world)).get("webhook_endpoints_disabled")).toBe(1);
  });

  test("a failed statement is counted, a rejected input is not", async () => {
    const world = await makeWorld();
    const { hooks } = world;
    for (let n = 0; n < 10; n += 1) await endpointAt(world, `/${n}`);
    await expect(endpointAt(world, "/one-too-many")).rejects.toMatchObject({
      code: "endpoint_limit_reached",
    });
    const refused = 'webhook_database_errors_total{kind="refused"}';
    expect((await read(world)).get(refused)).toBeUndefined();
    await expect(hooks.db.query(statement("wrong", "wrong"))).rejects.toThrow(/syntax/);
    expect((await read(world)).get(refused)).toBe(1);
  });

  test("the outbox and overdue deliveries are reported when no worker runs", async () => {
    const database = await createMigratedDatabase();
    const { hooks, advance, close } = await createTestInstance({
      database: database.connectionString,
      started: false,
    });
    onTestFinished(async () => {
      await close();
      await database.drop();
    });
    await hooks.publish({ tenant: "acme", type: "order.paid", data: 1 });
    await advance(600_000);
    const metrics = await read({ hooks } as World);
    expect(metrics.get("webhook_outbox_depth")).toBe(1);
    expect(metrics.get("webhook_oldest_undelivered_age_seconds")).toBeGreaterThanOrEqual(600);
    await hooks.start({ role: "api" });
    await hooks.tenants.upsert("acme");
    await hooks.endpoints.create("acme", { url: "https://hooks.example/in", events: ["*"] });
    await hooks.publish({ tenant: "acme", type: "order.paid", data: 2 });
    await advance(300_000);
    const later = await read({ hooks } as World);
    expect(later.get("webhook_oldest_due_age_seconds")).toBeGreaterThanOrEqual(300);
    expect(later.get("webhook_oldest_due_age_seconds")).toBeLessThan(600);
    expect(later.get("webhook_workers")).toBe(0);
  });
});

describe("asking the database", () => {
  const texts: string[] = [];
  const metrics = {
    text: (_now: unknown, gauges: unknown) => (gauges === null ? "without" : "with"),
  } as unknown as Metrics;
  let asked = 0;
  beforeAll(async () => {
    const db = {
      waitingForConnection: 0,
      query: async () => {
        asked += 1;
        return [{}];
      },
    };
    const text = createMetricsText({ db: db as never, metrics, logger, inFlight: () => 0 });
    texts.push(...(await Promise.all([text(), text(), text()])), await text());
  });

  test("is done once for concurrent requests and those shortly after", () => {
    expect(texts).toEqual(["with", "with", "with", "with"]);
    expect(asked).toBe(1);
  });

  test("omits the gauges if the database does not respond", async () => {
    const query = () => Promise.reject(new Error("away"));
    const db = { waitingForConnection: 0, query } as never;
    expect(await createMetricsText({ db, metrics, logger: silentLogger, inFlight: () => 0 })()).toBe(
      "without",
    );
  });
});
