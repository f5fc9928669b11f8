import { expect, test } from "vitest";
import {
  endedAttempt,
  openResources,
  readPages,
  rowsRead,
} from "../../../../../tests/support/database/resources.ts";
import { countDeliveries } from "../../storage/queries/deliveries/walk.ts";
import { createDeliveries, type Deliveries, type DeliveryQuery } from "./deliveries.ts";

const world = await openResources();
const { deliveries, newEndpoint } = world;
const NO_ID = "0198c2f0-0000-7000-8000-000000000000";

async function idsOf(query: DeliveryQuery): Promise<string[]> {
  return (await deliveries.list(query)).data.map(({ id }) => id);
}

test("a delivery is returned with its attempts", async () => {
  const { tenant, id: endpoint } = await newEndpoint();
  const event = await world.addEvent(tenant, { type: "invoice.paid", atMs: 1_750_000_000_123 });
  const id = await world.addEnded(event, endpoint, "success");
  expect(await deliveries.get(id)).toEqual({
    id,
    eventId: `evt_${event}`,
    endpointId: endpoint,
    endpointName: "example.com",
    endpointUrl: "https://example.com/hooks",
    tenant,
    eventType: "invoice.paid",
    subject: null,
    sequence: null,
    editedFrom: null,
    state: "success",
    attemptCount: 1,
    lastError: null,
    nextRetryAt: null,
    deadReason: null,
    replayCount: 0,
    createdAt: new Date(1_750_000_000_123),
    deliveredAt: expect.any(Date),
    deadAt: null,
    waitsFor: null,
    members: null,
    attempts: [endedAttempt],
  });
});

test("a listed delivery has the error of its last attempt", async () => {
  const { tenant, id: endpoint } = await newEndpoint();
  const add = async (state: "success" | "dead" | "failed" | "new") => {
    const event = await world.addEvent(tenant);
    if (state === "success" || state === "dead")
      return await world.addEnded(event, endpoint, state, state === "dead" ? "rejected" : null);
    return await world.addQueued(event, endpoint, { failures: state === "failed" ? 2 : 0 });
  };
  const [success, dead, failed, fresh] = [
    await add("success"),
    await add("dead"),
    await add("failed"),
    await add("new"),
  ];
  await world.pool.query(
    `insert into posthorn.attempt_log (delivery_id, number, started_at, duration_ms, error, trigger, worker)
     values ($1, 1, now(), 12, 'dns_error', 'event', 7), ($1, 2, now(), 12, 'timeout', 'retry', 7)`,
    [failed.slice(4)],
  );
  const { data } = await deliveries.list({ tenant });
  const errors = new Map(data.map(({ id, lastError }) => [id, lastError]));
  expect([success, dead, failed, fresh].map((id) => errors.get(id))).toEqual([
    null,
    "HTTP 400",
    "timeout",
    null,
  ]);
});

test("the newest 250 attempts are returned, and none that ended after the delivery's state was read", async () => {
  const { tenant, id: endpoint } = await newEndpoint();
  const id = await world.addEnded(await world.addEvent(tenant), endpoint, "success");
  const addUpTo = (last: number) =>
    world.pool.query(
      `insert into posthorn.attempt_log
       select (jsonb_populate_record(a, jsonb_build_object('number', n))).*
       from posthorn.attempts a, generate_series($2::integer, $3::integer) n
       where a.delivery_id = $1::uuid and a.number = 1`,
      [id.slice(4), last - 248, last],
    );
  const countUpTo = (last: number) =>
    world.pool.query("update posthorn.deliveries set attempts = $2 where id = $1", [id.slice(4), last]);
  const numbers = async () => (await deliveries.get(id)).attempts.map(({ number }) => number);
  await addUpTo(250);
  expect(await numbers()).toEqual([1]);
  await countUpTo(250);
  expect(await numbers()).toEqual(Array.from({ length: 250 }, (_, n) => n + 1));
  await addUpTo(499);
  await countUpTo(499);
  expect(await numbers()).toEqual(Array.from({ length: 250 }, (_, n) => n + 250));
});

test("an unknown or malformed id and another tenant's are not found, and a misspelt scope is refused", async () => {
  const { tenant, id: endpoint } = await newEndpoint();
  const event = await world.addEvent(tenant);
  const delivery = await world.addQueued(event, endpoint);
  for (const [resource, code, id] of [
    [deliveries, "delivery_not_found", delivery],
    [world.events, "event_not_found", `evt_${event}`],
  ] as const) {
    for (const asked of [`${id.slice(0, 4)}${NO_ID}`, id.slice(0, 4), id.slice(4), `ep_${event}`, ""])
      await expect(resource.get(asked)).rejects.toMatchObject({ code, status: 404 });
    await expect(resource.get(id, { tenant: "other" })).rejects.toMatchObject({ code });
    expect(await resource.get(id, { tenant })).toMatchObject({ id });
    for (const scope of [{ tennant: "other" }, "other", null])
      await expect(resource.get(id, scope as never)).rejects.toMatchObject({ code: "invalid_query" });
  }
  expect((await deliveries.list({ tenant: "other", endpoint })).data).toEqual([]);
});

test("deliveries are filtered by state, type and reason, newest first", async () => {
  const { tenant, id: endpoint } = await newEndpoint();
  // one per millisecond: ids created within the same one are not ordered
  let atMs = Date.now();
  const event = (type = "order.paid") => {
    atMs += 1;
    return world.addEvent(tenant, { type, atMs });
  };
  const pending = await world.addQueued(await event(), endpoint);
  const failed = await world.addQueued(await event(), endpoint, { failures: 1 });
  const inFlight = await world.addQueued(await event("order.sent"), endpoint, { claimedBy: 1 });
  const success = await world.addEnded(await event(), endpoint, "success");
  const rejected = await world.addEnded(await event("order.sent"), endpoint, "dead", "rejected");
  const tooOld = await world.addEnded(await event(), endpoint, "dead", "too_old");

  const all = [tooOld, rejected, success, inFlight, failed, pending];
  for (const [query, expected] of [
    [{ tenant }, all],
    [{ endpoint }, all],
    [{ tenant, state: "pending" }, [pending]],
    [{ tenant, state: "failed" }, [failed]],
    [{ tenant, state: "in_flight" }, [inFlight]],
    [{ tenant, state: "success" }, [success]],
    [{ tenant, state: "dead" }, [tooOld, rejected]],
    [{ tenant, reason: "rejected" }, [rejected]],
    [{ tenant, endpoint, type: "order.sent" }, [rejected, inFlight]],
    [{ endpoint, state: "dead", type: "order.sent", reason: "rejected" }, [rejected]],
  ] as const)
    expect(await idsOf(query), JSON.stringify(query)).toEqual(expected);
  expect(await idsOf({ state: "failed", type: "order.paid", limit: 1 })).toHaveLength(1);
  const failedView = (await deliveries.list({ tenant, state: "failed" })).data[0];
  expect(failedView).toMatchObject({
    // due now
    nextRetryAt: null,
    deliveredAt: null,
    deadAt: null,
    waitsFor: null,
    attemptCount: 1,
  });
  const deadView = (await deliveries.list({ tenant, reason: "rejected" })).data[0];
  expect(deadView).toMatchObject({ deliveredAt: null, deadAt: expect.any(Date) });
});

test.each(["tenant", "everything"])(
  "pages of %s have no gap and no repeat while rows are added and move into history",
  async (scope) => {
    const { tenant, id: endpoint } = await newEndpoint();
    const { id: second } = await newEndpoint({}, tenant);
    const startMs = Date.now() - 60_000;
    const there = new Set<string>();
    for (let n = 0; n < 300; n += 1) {
      const event = await world.addEvent(tenant, { atMs: startMs + Math.floor(n / 3) });
      const to = n % 2 === 0 ? endpoint : second;
      there.add(n % 5 === 0 ? await world.addQueued(event, to) : await world.addEnded(event, to, "success"));
    }
    const query = { ...(scope === "tenant" ? { tenant } : {}), createdAfter: new Date(startMs), limit: 70 };
    const pages = await readPages(async (cursor) => {
      const page = await deliveries.list({ ...query, cursor });
      await world.addQueued(await world.addEvent(tenant), endpoint);
      await world.pool.query(
        `with moved as (delete from posthorn.queue where endpoint_id = $1 returning *)
         insert into posthorn.deliveries (id, event_id, endpoint_id, state, attempts, replay_count, finished_at)
         select id, event_id, endpoint_id, 'success', 1, 0, now() from moved`,
        [second.slice(3)],
      );
      return page;
    });
    const seen = pages.flat().map(({ id }) => id);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(seen.toSorted().reverse());
    const mine = seen.filter((id) => there.has(id));
    expect(mine).toHaveLength(there.size);
  },
);

test.each(["tenant", "everything"])(
  "a rare type among many is found page by page, in %s, and a short page has a next one",
  async (scope) => {
    const { tenant, id: endpoint } = await newEndpoint();
    const beginMs = Date.now() - 3_600_000;
    const rare = await world.addEvent(tenant, { type: `rare.${scope}`, atMs: beginMs });
    const id = await world.addEnded(rare, endpoint, "success");
    await world.addMany(tenant, 4_500, beginMs + 1_000, { endpoint });
    const query = {
      ...(scope === "tenant" ? { tenant } : {}),
      type: `rare.${scope}`,
      createdAfter: new Date(beginMs),
    };
    const pages = await readPages((cursor) => deliveries.list({ ...query, cursor }));
    expect(pages[0]).toEqual([]);
    expect(pages.flat().map((delivery) => delivery.id)).toEqual([id]);
    expect(pages.length).toBeGreaterThan(2);
  },
);

/** How many rows of the table a call reads. */
const rowsOf = (table: "queue" | "events", call: (reading: Deliveries) => Promise<unknown>) =>
  rowsRead(world.db, table, (db) => call(createDeliveries({ db, catalogue: world.catalogue })));

test("in-flight deliveries are on the first page, without reading a long queue of others", async () => {
  const { tenant, id: endpoint } = await newEndpoint();
  const { id: busy } = await newEndpoint();
  const beginMs = Date.now() - 7_200_000;
  const flying = await world.addQueued(await world.addEvent(tenant, { atMs: beginMs }), endpoint, {
    claimedBy: 1,
  });
  const ended = await world.addEnded(
    await world.addEvent(tenant, { atMs: beginMs - 1_000 }),
    endpoint,
    "success",
  );
  await world.addBacklog(busy, 60_000, beginMs);
  const pageOf = async (query: DeliveryQuery) => {
    const { data, nextCursor } = await deliveries.list(query);
    return { ids: data.map(({ id }) => id), nextCursor };
  };
  expect(await pageOf({ tenant })).toEqual({ ids: [flying, ended], nextCursor: null });
  expect(await pageOf({ endpoint, state: "in_flight" })).toEqual({ ids: [flying], nextCursor: null });
  expect(await pageOf({ endpoint, state: "success" })).toEqual({ ids: [ended], nextCursor: null });
  expect((await idsOf({ state: "in_flight" })).includes(flying)).toBe(true);
  for (const query of [{ tenant }, { state: "in_flight" }] as const)
    expect(await rowsOf("queue", (reading) => reading.list(query))).toBeLessThan(100);
  // so many that they are scanned, not sorted
  expect((await deliveries.list({ endpoint: busy, state: "failed" })).data).toEqual([]);
});

test("a rare type in a long backlog is found page by page, and each page reads a limited number of events", async () => {
  const { tenant, id: endpoint } = await newEndpoint();
  const beginMs = Date.now() - 3_600_000;
  const rare = await world.addEvent(tenant, { type: "rare.waiting", atMs: beginMs });
  const id = await world.addQueued(rare, endpoint);
  await world.addMany(tenant, 2_500, beginMs, { endpoint, isQueued: true });
  const query = { tenant, type: "rare.waiting", state: "pending" } as const;
  const pages = await readPages((cursor) => deliveries.list({ ...query, cursor }));
  expect(pages).toMatchObject([[], [], [{ id }]]);
  expect(await rowsOf("events", (reading) => reading.list(query))).toBe(1_000);
});

test("a page of the retry queue reads only the rows it returns, for one endpoint and for all", async () => {
  const { tenant, id: endpoint } = await newEndpoint();
  const event = await world.addEvent(tenant);
  // it has all retries; the planner knows how many an endpoint has on average, and expects as few of this one
  await world.pool.query(
    `insert into posthorn.queue (id, event_id, endpoint_id, next_at, schedule_started_at, attempts, failures, trigger)
     select posthorn.uuidv7(now()), $1, case when n % 2 = 0 then $2 else md5((n % 199)::text)::uuid end,
       now() + n * interval '1 s', now(), (n % 20 = 0)::integer, (n % 20 = 0)::integer,
       case when n % 20 = 0 then 'retry' else 'event' end
     from generate_series(1, 60000) n
     order by random()`,
    [event, endpoint.slice(3)],
  );
  await world.pool.query("analyze posthorn.queue");
  for (const query of [{}, { tenant }, { endpoint }]) {
    const largest = await deliveries.retryQueue({ ...query, limit: 250 });
    expect([largest.data.length, largest.nextCursor]).toEqual([250, expect.any(String)]);
    const { data, nextCursor } = await deliveries.retryQueue({ ...query, limit: 20 });
    expect(data).toHaveLength(20);
    for (const cursor of [undefined, nextCursor as string]) {
      const page = { ...query, limit: 20, cursor };
      expect(await rowsOf("queue", (reading) => reading.retryQueue(page))).toBeLessThan(60);
    }
  }
});

test("a count is exact below its limit, and marked as inexact above", async () => {
  const { tenant, id: endpoint } = await newEndpoint();
  await world.addMany(tenant, 3, Date.now(), { endpoint });
  const count = (limit: number) =>
    countDeliveries(world.db, {
      after: "00000000-0000-0000-0000-000000000000",
      before: "ffffffff-ffff-ffff-ffff-ffffffffffff",
      direction: "oldest_first",
      limit,
      endpointIds: [endpoint.slice(3)],
      states: ["success"],
    });
  expect(await count(4)).toEqual({ count: 3, isExact: true });
  expect(await count(3)).toEqual({ count: 3, isExact: false });
});
