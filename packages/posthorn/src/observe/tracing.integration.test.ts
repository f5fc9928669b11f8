import { AsyncLocalStorage } from "node:async_hooks";
import { type Context, context, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { databasePerTest } from "../../../../tests/support/database/database-per-test.ts";
import { inTransaction } from "../../../../tests/support/database/postgres.ts";
import { startReceiver } from "../../../../tests/support/servers/start-receiver.ts";

const exporter = new InMemorySpanExporter();
const current = new AsyncLocalStorage<Context>();

const given = "00-11111111111111111111111111111111-2222222222222222-01";
const order = { tenant: "acme", type: "order.paid", data: { total: 1 } };

const world = databasePerTest({ retryPolicy: "1m" });

async function makeWorld() {
  const receiver = await startReceiver();
  const instance = await world.open();
  await instance.hooks.endpoints.create("acme", { url: `${receiver.url}/hooks`, events: ["*"] });
  return { ...instance, receiver };
}

/** The header of each request that arrived. */
function traceparents(receiver: Awaited<ReturnType<typeof startReceiver>>): (string | undefined)[] {
  return receiver.requests.map(({ headers }) => headers.traceparent as string | undefined);
}

describe("without an SDK", () => {
  test("every attempt carries the event's trace, or none", async () => {
    const { hooks, settle, advance, receiver } = await makeWorld();
    receiver.answer("/hooks", [500, 200]);
    await hooks.publish({ ...order, traceparent: given });
    await settle();
    await advance(70_000);
    await settle();
    expect(traceparents(receiver)).toEqual([given, given]);
    await hooks.publish(order);
    await settle();
    expect(traceparents(receiver)).toEqual([given, given, undefined]);
  });

  test("each event of a batch keeps its own trace, with a subject too", async () => {
    const { hooks, settle, receiver } = await makeWorld();
    const other = given.replace("1111", "3333");
    await hooks.publishMany([
      { ...order, subject: "order-1", traceparent: given },
      { ...order, subject: "order-2" },
      { ...order, traceparent: other },
      order,
    ]);
    await settle();
    const arrived = traceparents(receiver).map(String);
    expect(arrived.toSorted()).toEqual([given, other, "undefined", "undefined"].toSorted());
  });

  test("the trace is part of the caller's transaction, and a duplicate does not change it", async () => {
    const { hooks, settle, receiver } = await makeWorld();
    const publish = (traceparent: string, fails = false) =>
      inTransaction(world.pool, async (tx) => {
        await hooks.publish({ ...order, idempotencyKey: "k", traceparent }, { tx });
        if (fails) throw new Error("rolled back");
      });
    await expect(publish(given, true)).rejects.toThrow("rolled back");
    await publish(given);
    await publish(given.replace("2222", "4444"));
    await settle();
    expect(traceparents(receiver)).toEqual([given]);
  });

  describe("of the SQL function", () => {
    const publish = (traceparent: string, idempotencyKey: string | null = null) =>
      world.pool.query(
        "select posthorn.publish(tenant => 'acme', type => 'order.paid', data => '1', idempotency_key => $1, traceparent => $2)",
        [idempotencyKey, traceparent],
      );

    test("an event carries the trace that it is given, and a duplicate does not change it", async () => {
      const { settle, receiver } = await makeWorld();
      await publish(given, "k");
      await publish(given.replace("2222", "4444"), "k");
      await settle();
      expect(traceparents(receiver)).toEqual([given]);
    });

    test.each(["nonsense", "two\r\nlines", given.toUpperCase().replace("1", "A")])(
      "an event with the invalid trace %j is delivered without one",
      async (traceparent) => {
        const { settle, receiver } = await makeWorld();
        await publish(traceparent);
        await settle();
        expect(traceparents(receiver)).toEqual([undefined]);
      },
    );
  });
});

describe("with an SDK", () => {
  beforeAll(() => {
    const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
    trace.setGlobalTracerProvider(provider);
    context.setGlobalContextManager({
      active: () => current.getStore() ?? ROOT_CONTEXT,
      with: (active, work, thisArg, ...args) => current.run(active, () => work.apply(thisArg as never, args)),
      bind: (_active, target) => target,
      enable() {
        return this;
      },
      disable() {
        return this;
      },
    });
  });
  beforeEach(() => exporter.reset());
  afterAll(() => {
    trace.disable();
    context.disable();
  });

  const spansNamed = (name: string): ReadableSpan[] =>
    exporter.getFinishedSpans().filter((span) => span.name === `posthorn ${name}`);
  const idOf = (span: ReadableSpan | undefined): string | undefined => span?.spanContext().spanId;

  test("publish, attempts and settlements are spans of the caller's trace, hours later too", async () => {
    const { hooks, settle, advance, receiver } = await makeWorld();
    receiver.answer("/hooks", [500, 200]);
    const caller = trace.getTracer("test").startSpan("checkout");
    const { id } = await context.with(trace.setSpan(ROOT_CONTEXT, caller), () => hooks.publish(order));
    await settle();
    await advance(7_200_000);
    await settle();
    caller.end();
    const [publish] = spansNamed("publish");
    const attempts = spansNamed("attempt");
    const settles = spansNamed("settle");
    expect(publish?.parentSpanContext?.spanId).toBe(caller.spanContext().spanId);
    expect(publish?.kind).toBe(SpanKind.PRODUCER);
    expect(attempts.map((span) => span.parentSpanContext?.spanId)).toEqual([idOf(publish), idOf(publish)]);
    expect(settles.map((span) => span.parentSpanContext?.spanId)).toEqual(attempts.map(idOf));
    for (const span of [publish, ...attempts, ...settles]) {
      expect(span?.spanContext().traceId).toBe(caller.spanContext().traceId);
      expect(span?.attributes["posthorn.event.id"]).toBe(id);
    }
    expect(attempts.map(({ status }) => status.code)).toEqual([SpanStatusCode.ERROR, SpanStatusCode.UNSET]);
    expect(attempts[0]?.attributes).toMatchObject({
      "posthorn.attempt": 1,
      "http.response.status_code": 500,
    });
    const ids = attempts.map((span) => `00-${span.spanContext().traceId}-${span.spanContext().spanId}-01`);
    expect(traceparents(receiver)).toEqual(ids);
  });

  test("a traceparent of the request is the parent if no span is active", async () => {
    const { hooks, settle } = await makeWorld();
    await hooks.publish({ ...order, traceparent: given });
    await settle();
    const [publish] = spansNamed("publish");
    expect(publish?.parentSpanContext).toMatchObject({ spanId: "2222222222222222", isRemote: true });
    expect(spansNamed("attempt")[0]?.spanContext().traceId).toBe("1".repeat(32));
  });

  test("publishing for a user is one span, the parent of the attempts in every tenant", async () => {
    const { hooks, settle } = await makeWorld();
    await hooks.tenants.upsert("beta");
    for (const tenant of ["acme", "beta"]) await hooks.members.put(tenant, "anna", { role: "member" });
    await hooks.publish({ user: "anna", type: "user.invited", data: 1, traceparent: given });
    await settle();
    const [publish, ...more] = spansNamed("publish");
    expect(more).toEqual([]);
    expect(publish?.parentSpanContext?.spanId).toBe("2222222222222222");
    expect(publish?.attributes).toEqual({
      "messaging.system": "posthorn",
      "posthorn.event.type": "user.invited",
      "posthorn.user": "anna",
      "posthorn.events": 2,
    });
    expect(spansNamed("attempt").map((span) => span.parentSpanContext?.spanId)).toEqual([idOf(publish)]);
  });

  test("a rejected publish ends its span with the reason", async () => {
    const { hooks } = await makeWorld();
    const publish = (data: unknown) => hooks.publish({ ...order, data, idempotencyKey: "k" });
    await publish(1);
    await expect(publish(2)).rejects.toMatchObject({ code: "idempotency_conflict" });
    expect(spansNamed("publish")[1]?.status).toEqual({
      code: SpanStatusCode.ERROR,
      message: "idempotency_conflict",
    });
  });
});
