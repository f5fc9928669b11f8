// The way of an event, from publish to a settled delivery, on real PostgreSQL and real HTTP.
import { verify } from "@posthorn/wire";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createMigratedDatabase, createPool, type TestDatabase } from "../../../tests/support/postgres.ts";
import {
  createTestInstance,
  type ScriptedReceiver,
  startScriptedReceiver,
  type TestInstance,
} from "./testing/index.ts";

const minute = 60_000;
const hour = 60 * minute;

describe("the way of an event", () => {
  let database: TestDatabase;
  let receiver: ScriptedReceiver;
  let instance: TestInstance;

  beforeAll(async () => {
    receiver = await startScriptedReceiver();
  });
  afterAll(async () => {
    await receiver.close();
  });
  beforeEach(async () => {
    database = await createMigratedDatabase();
    instance = await createTestInstance({ database: database.connectionString });
    await instance.hooks.tenants.upsert("acme", {});
  });
  afterEach(async () => {
    await instance.close();
    await database.drop();
  });

  let path = 0;
  async function endpoint(options: Record<string, unknown> = {}) {
    path += 1;
    const created = await instance.hooks.endpoints.create("acme", {
      url: `${receiver.url}/hook-${path}`,
      events: ["*"],
      ...options,
    });
    return { ...created, path: `/hook-${path}` };
  }

  test("a published event reaches its endpoint, signed so that both default schemes verify", async () => {
    const { path, secret } = await endpoint();
    const published = await instance.hooks.publish({ tenant: "acme", type: "order.paid", data: { id: 1 } });
    expect(published).toMatchObject({ duplicate: false, deliveries: 1 });
    const [request] = await receiver.received(1, { path });
    expect(JSON.parse(String(request?.body))).toMatchObject({
      id: published.id,
      type: "order.paid",
      tenant_id: "acme",
      data: { id: 1 },
    });
    for (const scheme of ["t-v1", "standard-webhooks"]) {
      const headers = request?.headers as Record<string, string>;
      expect(await verify({ scheme, headers, body: request?.body as Buffer, secrets: [secret] })).toEqual({
        ok: true,
      });
    }
    await instance.settle();
    const event = await instance.hooks.events.get(published.id);
    expect(event.deliveries).toMatchObject([{ state: "success", attemptCount: 1 }]);
  });

  test("an attempt records how long it waited since the event or since it was due, and nothing after a manual retry", async () => {
    const { path, endpoint: made } = await endpoint({ retryPolicy: "10m" });
    receiver.answer(path, [500, 500, 200]);
    await instance.hooks.publish({ tenant: "acme", type: "order.paid", data: {} });
    await instance.settle();
    await instance.advance(hour);
    await instance.settle();
    const [delivery] = (await instance.hooks.deliveries.list({ endpoint: made.id })).data;
    await instance.hooks.deliveries.retry(delivery?.id as string);
    await instance.settle();
    const { attempts } = await instance.hooks.deliveries.get(delivery?.id as string);
    expect(attempts.map(({ trigger }) => trigger)).toEqual(["event", "retry", "manual"]);
    const [first, second, third] = attempts.map(({ phases }) => phases.queueMs);
    expect(first).toBeLessThan(minute);
    // an hour later, of which ten minutes, give or take one, were the policy's
    expect(second).toBeGreaterThan(48 * minute);
    expect(second).toBeLessThan(52 * minute);
    expect(third).toBeNull();
    expect(attempts[0]?.phases).toMatchObject({ connectMs: expect.any(Number), tlsMs: null });
    const { data } = await instance.hooks.endpoints.attempts("acme", made.id);
    expect(data.map(({ phases }) => phases)).toEqual(attempts.map(({ phases }) => phases).reverse());
  });

  test("the courier schedule runs its whole 7 h 21 m and ends dead, attempt by attempt", async () => {
    const { path } = await endpoint();
    receiver.answer(path, { status: 500, body: "no" });
    const published = await instance.hooks.publish({ tenant: "acme", type: "order.paid", data: {} });
    await instance.settle();
    for (const gap of [minute, 5 * minute, 15 * minute, hour, 6 * hour]) {
      await instance.advance(gap * 0.85);
      await instance.settle();
      const before = receiver.requestsTo(path).length;
      await instance.advance(gap * 0.3);
      await instance.settle();
      expect(receiver.requestsTo(path).length).toBe(before + 1);
    }
    const [delivery] = (await instance.hooks.events.get(published.id)).deliveries;
    const { attempts, state, deadReason } = await instance.hooks.deliveries.get(delivery?.id as string);
    expect({ state, deadReason }).toEqual({ state: "dead", deadReason: "attempts_exhausted" });
    expect(attempts.map((attempt) => attempt.number)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(attempts.map((attempt) => attempt.trigger)).toEqual(["event", ...Array(5).fill("retry")]);
    expect(attempts.at(-1)).toMatchObject({ statusCode: 500, nextRetryAt: null });
    expect(String(attempts[0]?.responseBody)).toBe("no");
  });

  test("an event published in a transaction that rolls back never existed", async () => {
    const { path } = await endpoint();
    const pool = createPool(database.connectionString);
    const client = await pool.connect();
    await client.query("begin");
    const lost = await instance.hooks.publish(
      { tenant: "acme", type: "order.paid", data: 1 },
      { tx: client },
    );
    await client.query("rollback");
    await client.query("begin");
    const kept = await instance.hooks.publish(
      { tenant: "acme", type: "order.paid", data: 2 },
      { tx: client },
    );
    await client.query("commit");
    client.release();
    await instance.settle();
    expect(receiver.requestsTo(path).map((request) => JSON.parse(String(request.body)).data)).toEqual([2]);
    await expect(instance.hooks.events.get(lost.id)).rejects.toMatchObject({ code: "event_not_found" });
    expect((await instance.hooks.events.get(kept.id)).deliveries).toMatchObject([{ state: "success" }]);
    await pool.end();
  });
});
