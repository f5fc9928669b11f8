import { readFileSync } from "node:fs";
import type { ScriptedStep, TestInstance } from "posthorn/testing";
import { describe, expect, test } from "vitest";
import {
  databasePerTest,
  newEndpoint,
  publishTimes,
  receiverPerFile,
} from "../../../../../tests/support/database/database-per-test.ts";
import { eventuallyPasses } from "../../../../../tests/support/eventually.ts";
import { silentLogger } from "../../observe/log.ts";
import type { Metrics } from "../../observe/metrics.ts";
import { statement } from "../../storage/sql.ts";
import { createMetricsText } from "./metrics-text.ts";

type Hooks = TestInstance["hooks"];

const receiver = await receiverPerFile();
const database = databasePerTest({ retryPolicy: "1m,1h", circuitFailures: 1 });
const paid = { tenant: "acme", type: "order.paid", data: 1 };

/** Creates an endpoint that responds like this. Returns its id. */
async function endpointWith(instance: TestInstance, answer: ScriptedStep | readonly ScriptedStep[] = 200) {
  const { id, path } = await newEndpoint(instance, receiver);
  receiver.answer(path, answer);
  return id;
}

/** The page, after the sample of the database that is shared for five seconds. */
async function read(hooks: Hooks): Promise<Map<string, number>> {
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

const createFreshText = ({ db, observer, engine }: Hooks): Promise<string> =>
  createMetricsText({
    db,
    metrics: observer.metrics,
    logger,
    deliveryMode: () => "on",
    inFlight: () => engine?.worker.inFlight ?? 0,
  })();

/** By the statement in deploy/. */
async function countedByKeda({ db }: Hooks): Promise<number> {
  const [, text = ""] =
    /query: >-\n([\s\S]*?)\n\s+targetQueryValue/.exec(readFileSync("deploy/keda.yaml", "utf8")) ?? [];
  const [row] = await db.query<{ count: string }>(statement("keda")`${text}`);
  return Number(row?.count);
}

describe("metrics", () => {
  test("count published events, attempts, successes and dead letters", async () => {
    const instance = await database.open();
    const { hooks, settle } = instance;
    const good = await endpointWith(instance);
    const bad = await endpointWith(instance, 400);
    await hooks.publish(paid);
    await settle();
    const metrics = await read(hooks);
    for (const [name, value] of Object.entries({
      'webhook_events_published_total{source="direct"}': 1,
      [`webhook_delivery_attempts_total{endpoint="${good}",outcome="success"}`]: 1,
      [`webhook_delivery_attempts_total{endpoint="${bad}",outcome="http_4xx"}`]: 1,
      [`webhook_dead_lettered_total{endpoint="${bad}",reason="rejected"}`]: 1,
      [`webhook_delivery_latency_seconds_count{endpoint="${good}"}`]: 1,
      webhook_attempt_seconds_count: 2,
      webhook_queue_depth: 0,
      webhook_oldest_undelivered_age_seconds: 0,
      webhook_workers: 1,
      webhook_partitions_ahead: 3,
    }))
      expect([name, metrics.get(name)]).toEqual([name, value]);
    expect(metrics.get("webhook_settle_seconds_count")).toBeGreaterThan(0);
    expect(metrics.get("webhook_ingest_seconds_count")).toBeGreaterThan(0);
  });

  test("without the installation have the series of the process only", async () => {
    const { hooks } = await database.open();
    const text = await hooks.metrics({ installation: false });
    expect(text).toContain("webhook_attempts_in_flight 0");
    expect(text).not.toContain("webhook_queue_depth");
    await expect(hooks.metrics({ instalation: false } as object)).rejects.toThrow(/installation/);
  });

  test("latency includes retries, and starts again with a manual retry", async () => {
    const instance = await database.open();
    const { hooks, settle, advance } = instance;
    const endpoint = await endpointWith(instance, [500, 200, 400, 200]);
    await hooks.publish(paid);
    await settle();
    await advance(70_000);
    await settle();
    const sum = `webhook_delivery_latency_seconds_sum{endpoint="${endpoint}"}`;
    expect((await read(hooks)).get(sum)).toBeGreaterThanOrEqual(70);
    const { id } = await hooks.publish(paid);
    await settle();
    await advance(3_600_000);
    const { deliveries } = await hooks.events.get(id);
    await hooks.deliveries.retry(deliveries[0]?.id as string);
    await settle();
    expect((await read(hooks)).get(sum)).toBeLessThan(100);
  });

  test("the oldest due age ignores disabled endpoints and future retries", async () => {
    const instance = await database.open();
    const { hooks, settle, advance } = instance;
    const failing = await endpointWith(instance, 500);
    await hooks.publish(paid);
    await settle();
    await advance(30_000);
    const waiting = await read(hooks);
    expect(waiting.get("webhook_queue_depth")).toBe(1);
    expect(waiting.get("webhook_oldest_due_age_seconds")).toBe(0);
    expect(waiting.get("webhook_oldest_undelivered_age_seconds")).toBeGreaterThanOrEqual(30);
    expect(waiting.get("webhook_circuits_open")).toBe(1);
    expect(waiting.get("webhook_endpoints_disabled")).toBe(0);
    await hooks.endpoints.disable("acme", failing);
    await advance(3_600_000);
    const disabled = await read(hooks);
    expect(disabled.get("webhook_oldest_due_age_seconds")).toBe(0);
    expect(disabled.get("webhook_oldest_undelivered_age_seconds")).toBeGreaterThanOrEqual(3_600);
  });

  test("the oldest undelivered age includes events that wait for their batch", async () => {
    const instance = await database.open();
    const { hooks, advance } = instance;
    const batch = { maxDelayMs: 3_600_000 };
    const { path } = await newEndpoint(instance, receiver, { format: "cloudevents-batch", batch });
    receiver.answer(path, 200);
    await hooks.publish(paid);
    await advance(600_000);
    expect((await read(hooks)).get("webhook_oldest_undelivered_age_seconds")).toBeGreaterThanOrEqual(600);
  });

  test.each([
    { reason: "circuit", answer: 500 },
    { reason: "rate_limit", answer: { status: 429, headers: { "retry-after": "3600" } } },
  ])("a delivery held by a $reason is not overdue until it may be sent again", async ({ reason, answer }) => {
    const instance = await database.open({ circuitPauseMs: 3_600_000 });
    const { hooks, settle, advance } = instance;
    await endpointWith(instance, answer);
    await hooks.publish(paid);
    await settle();
    await hooks.publish(paid);
    expect(await countedByKeda(hooks)).toBe(0);
    await advance(1_800_000);
    const held = await read(hooks);
    expect(held.get("webhook_oldest_due_age_seconds")).toBe(0);
    expect(held.get(`webhook_waiting_deliveries{reason="${reason}"}`)).toBeGreaterThanOrEqual(1);
    await hooks.stop({ graceMs: 0 });
    const watching = await database.open({ started: false });
    await watching.advance(3_600_000);
    const free = await read(watching.hooks);
    // with an open circuit, its probe is overdue
    expect(held.get("webhook_overdue_deliveries")).toBe(0);
    expect(free.get("webhook_overdue_deliveries")).toBe(2);
    expect(free.get("webhook_oldest_due_age_seconds")).toBeGreaterThan(1_000);
    expect(free.get("webhook_oldest_due_age_seconds")).toBeLessThan(3_000);
  });

  test.each([
    { limit: "cap", settings: { maxInFlight: 1 } },
    { limit: "rate_limit", settings: { maxInFlight: 1, rateLimit: 1 } },
  ])("a delivery that waits for the endpoint's $limit is not overdue", async ({ limit, settings }) => {
    const instance = await database.open();
    const { hooks, advance } = instance;
    const { id, path } = await newEndpoint(instance, receiver, settings);
    receiver.answer(path, "hang");
    await publishTimes(instance, 60, paid);
    await advance(600_000);
    await eventuallyPasses(async () => {
      const held = await read(hooks);
      expect(held.get("webhook_oldest_due_age_seconds")).toBe(0);
      expect(held.get(`webhook_waiting_deliveries{reason="${limit}"}`)).toBeGreaterThan(0);
      expect(await countedByKeda(hooks)).toBe(0);
    });
    await hooks.endpoints.update("acme", id, { maxInFlight: 100, rateLimit: null });
    await eventuallyPasses(async () => {
      const free = await read(hooks);
      expect(free.get(`webhook_waiting_deliveries{reason="${limit}"}`)).toBe(0);
      expect(free.get("webhook_oldest_due_age_seconds")).toBeLessThan(60);
    });
  });

  test("an endpoint disabled after failures is counted, one disabled manually is not", async () => {
    const instance = await database.open();
    const { hooks, settle } = instance;
    await endpointWith(instance, 410);
    await hooks.endpoints.disable("acme", await endpointWith(instance));
    await hooks.publish(paid);
    await settle();
    expect((await read(hooks)).get("webhook_endpoints_disabled")).toBe(1);
  });

  test("a failed statement is counted, a rejected input is not", async () => {
    const { hooks } = await database.open();
    await expect(hooks.tenants.get("nobody")).rejects.toMatchObject({ code: "tenant_not_found" });
    const input = { url: "https://hooks.example/in", events: ["*"] };
    // thrown in a transaction
    await expect(hooks.endpoints.create("nobody", input)).rejects.toMatchObject({ code: "tenant_not_found" });
    const refused = 'webhook_database_errors_total{kind="rejected"}';
    expect((await read(hooks)).get(refused)).toBeUndefined();
    await expect(hooks.db.query(statement("wrong")`wrong`)).rejects.toThrow(/syntax/);
    expect((await read(hooks)).get(refused)).toBe(1);
  });

  test("the outbox and overdue deliveries are reported when no worker runs", async () => {
    const { hooks, advance } = await database.open({ started: false });
    await hooks.publish(paid);
    await advance(600_000);
    const metrics = await read(hooks);
    expect(metrics.get("webhook_outbox_depth")).toBe(1);
    expect(metrics.get("webhook_oldest_undelivered_age_seconds")).toBeGreaterThanOrEqual(600);
    await hooks.start({ role: "api" });
    await hooks.endpoints.create("acme", { url: "https://hooks.example/in", events: ["*"] });
    await hooks.publish(paid);
    await advance(300_000);
    const later = await read(hooks);
    expect(later.get("webhook_oldest_due_age_seconds")).toBeGreaterThanOrEqual(300);
    expect(later.get("webhook_oldest_due_age_seconds")).toBeLessThan(600);
    expect(later.get("webhook_workers")).toBe(0);
  });
});

describe("gauges of the installation", () => {
  const metrics = {
    text: (_now: unknown, gauges: unknown) => (gauges === null ? "without" : "with"),
  } as unknown as Metrics;
  const textWith = (query: () => Promise<unknown>) => {
    const db = { waitingForConnection: 0, query } as never;
    return createMetricsText({
      db,
      metrics,
      logger: silentLogger,
      inFlight: () => 0,
      deliveryMode: () => "on",
    });
  };

  test("are read on request by two statements, once for concurrent requests and those shortly after", async () => {
    let reads = 0;
    const text = textWith(async () => {
      reads += 1;
      return [{ waiting: {} }];
    });
    expect([await text({ installation: false }), reads]).toEqual(["without", 0]);
    const texts = [...(await Promise.all([text(), text(), text()])), await text()];
    expect({ texts, reads }).toEqual({ texts: ["with", "with", "with", "with"], reads: 2 });
  });

  test("are left out if the database does not respond", async () => {
    expect(await textWith(() => Promise.reject(new Error("away")))()).toBe("without");
  });
});
