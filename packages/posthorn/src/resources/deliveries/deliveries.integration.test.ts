import { expect, test } from "vitest";
import { openResources } from "../../../../../tests/support/resources.ts";
import { rowsRead } from "../../../../../tests/support/rows-read.ts";
import { countDeliveries } from "../../storage/queries/deliveries/walk.ts";
import { createDeliveries, type DeliveryQuery } from "./deliveries.ts";

const world = await openResources();
const { tenants, endpoints, deliveries } = world;
const hook = { url: "https://example.com/hooks", events: ["*"] };

async function newEndpoint(tenant = `tenant-${crypto.randomUUID()}`) {
  await tenants.upsert(tenant);
  const { endpoint } = await endpoints.create(tenant, hook);
  return { tenant, endpoint: endpoint.id };
}

async function idsOf(query: DeliveryQuery): Promise<string[]> {
  return (await deliveries.list(query)).data.map(({ id }) => id);
}

test("a delivery is returned with its attempts", async () => {
  const { tenant, endpoint } = await newEndpoint();
  const event = await world.addEvent(tenant, { type: "invoice.paid", atMs: 1_750_000_000_123 });
  const id = await world.addEnded(event, endpoint, "success");
  expect(await deliveries.get(id)).toEqual({
    id,
    eventId: `evt_${event}`,
    endpointId: endpoint,
    tenant,
    eventType: "invoice.paid",
    subject: null,
    sequence: null,
    state: "success",
    attemptCount: 1,
    nextRetryAt: null,
    deadReason: null,
    replayCount: 0,
    createdAt: new Date(1_750_000_000_123),
    deliveredAt: expect.any(Date),
    deadAt: null,
    waitsFor: null,
    members: null,
    attempts: [
      {
        number: 1,
        startedAt: expect.any(Date),
        durationMs: 12,
        statusCode: 200,
        error: null,
        responseBody: Buffer.from("hello"),
        nextRetryAt: null,
        trigger: "event",
        worker: 7,
        phases: {
          queueMs: expect.any(Number),
          connectMs: null,
          tlsMs: null,
          firstByteMs: null,
          bodyMs: null,
        },
      },
    ],
  });
});

test("the newest 250 attempts are returned, and none that ended after the delivery's state was read", async () => {
  const { tenant, endpoint } = await newEndpoint();
  const id = await world.addEnded(await world.addEvent(tenant), endpoint, "success");
  const addUpTo = (last: number) =>
    world.pool.query(
      `insert into posthorn.attempts
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

test("an unknown id, a malformed one and another tenant's are all not found", async () => {
  const { tenant, endpoint } = await newEndpoint();
  const id = await world.addOwed(await world.addEvent(tenant), endpoint);
  const unknown = "dlv_0198c2f0-0000-7000-8000-000000000000";
  for (const asked of [unknown, "dlv_x", "evt_0198c2f0-0000-7000-8000-000000000000", ""]) {
    await expect(deliveries.get(asked)).rejects.toMatchObject({ code: "delivery_not_found" });
  }
  const foreign = await deliveries.get(id, { tenant: "other" }).catch((error) => error);
  const none = await deliveries.get(unknown, { tenant: "other" }).catch((error) => error);
  expect(foreign.message.replace(id, "…")).toBe(none.message.replace(unknown, "…"));
  expect(await deliveries.get(id, { tenant })).toMatchObject({ id });
});

test("a misspelt or invalid scope returns no delivery", async () => {
  const { tenant, endpoint } = await newEndpoint();
  const id = await world.addOwed(await world.addEvent(tenant), endpoint);
  for (const scope of [{ tennant: "other" }, "other", null])
    await expect(deliveries.get(id, scope as never)).rejects.toMatchObject({ code: "invalid_query" });
});

test("deliveries are filtered by state, type and reason, newest first", async () => {
  const { tenant, endpoint } = await newEndpoint();
  // a millisecond each: ids made within the same one are in no order
  let atMs = Date.now();
  const event = (type = "order.paid") => {
    atMs += 1;
    return world.addEvent(tenant, { type, atMs });
  };
  const pending = await world.addOwed(await event(), endpoint);
  const failed = await world.addOwed(await event(), endpoint, { failures: 1 });
  const inFlight = await world.addOwed(await event("order.sent"), endpoint, { claimedBy: 1 });
  const success = await world.addEnded(await event(), endpoint, "success");
  const rejected = await world.addEnded(await event("order.sent"), endpoint, "dead", "rejected");
  const tooOld = await world.addEnded(await event(), endpoint, "dead", "too_old");

  expect(await idsOf({ tenant })).toEqual([tooOld, rejected, success, inFlight, failed, pending]);
  expect(await idsOf({ endpoint })).toEqual([tooOld, rejected, success, inFlight, failed, pending]);
  expect(await idsOf({ tenant, state: "pending" })).toEqual([pending]);
  expect(await idsOf({ tenant, state: "failed" })).toEqual([failed]);
  expect(await idsOf({ tenant, state: "in_flight" })).toEqual([inFlight]);
  expect(await idsOf({ tenant, state: "success" })).toEqual([success]);
  expect(await idsOf({ tenant, state: "dead" })).toEqual([tooOld, rejected]);
  expect(await idsOf({ tenant, reason: "rejected" })).toEqual([rejected]);
  expect(await idsOf({ tenant, endpoint, type: "order.sent" })).toEqual([rejected, inFlight]);
  expect(await idsOf({ endpoint, state: "dead", type: "order.sent", reason: "rejected" })).toEqual([
    rejected,
  ]);
  expect(await idsOf({ state: "failed", type: "order.paid", limit: 1 })).toHaveLength(1);
  const failedView = (await deliveries.list({ tenant, state: "failed" })).data[0];
  expect(failedView).toMatchObject({
    nextRetryAt: expect.any(Date),
    deliveredAt: null,
    deadAt: null,
    waitsFor: null,
    attemptCount: 1,
  });
  const deadView = (await deliveries.list({ tenant, reason: "rejected" })).data[0];
  expect(deadView).toMatchObject({ deliveredAt: null, deadAt: expect.any(Date) });
});

test("an unknown state or reason is refused with the list of valid ones", async () => {
  await expect(idsOf({ reason: "typo" as never })).rejects.toMatchObject({
    code: "invalid_query",
    problems: [
      { pointer: "/reason", message: expect.stringContaining("attempts_exhausted, too_old, rejected") },
    ],
  });
  await expect(idsOf({ state: "typo" as never })).rejects.toMatchObject({
    code: "invalid_query",
    problems: [{ pointer: "/state", message: expect.stringContaining("pending, in_flight, success") }],
  });
  for (const reason of ["endpoint_deleted", "discarded"] as const)
    expect(await idsOf({ reason })).toEqual([]);
});

test("a time range includes its start and excludes its end", async () => {
  const { tenant, endpoint } = await newEndpoint();
  const ids: string[] = [];
  for (const atMs of [1_000, 2_000, 3_000]) {
    ids.push(await world.addEnded(await world.addEvent(tenant, { atMs }), endpoint, "success"));
  }
  expect(await idsOf({ tenant, createdAfter: new Date(2_000) })).toEqual([ids[2], ids[1]]);
  expect(await idsOf({ tenant, createdBefore: new Date(2_000) })).toEqual([ids[0]]);
  expect(await idsOf({ tenant, createdAfter: new Date(2_000), createdBefore: new Date(3_000) })).toEqual([
    ids[1],
  ]);
});

test("another tenant's endpoint has an empty list, like an unknown one", async () => {
  const [mine, theirs] = [await newEndpoint(), await newEndpoint()];
  await world.addOwed(await world.addEvent(theirs.tenant), theirs.endpoint);
  expect(await idsOf({ tenant: mine.tenant, endpoint: theirs.endpoint })).toEqual([]);
  expect(await idsOf({ tenant: "nobody" })).toEqual([]);
});

test("the history of a deleted endpoint stays", async () => {
  const { tenant, endpoint } = await newEndpoint();
  const id = await world.addEnded(await world.addEvent(tenant), endpoint, "success");
  await endpoints.delete(tenant, endpoint);
  expect(await idsOf({ tenant })).toEqual([id]);
});

test("all problems of a query are reported at once", async () => {
  const query = {
    state: "done",
    endpoint: "ep_x",
    limit: 0,
    cursor: "?",
    createdAfter: new Date("x"),
    tenant: "",
    colour: "red",
  };
  const error = await deliveries.list(query as never).catch((caught) => caught);
  expect(error.code).toBe("invalid_query");
  expect(error.problems.map(({ pointer }: { pointer: string }) => pointer).toSorted()).toEqual(
    ["/colour", "/createdAfter", "/cursor", "/endpoint", "/limit", "/state", "/tenant"].toSorted(),
  );
});

test.each(["tenant", "everything"])(
  "pages of %s have no gap and no repeat while rows are added and move into history",
  async (scope) => {
    const { tenant, endpoint } = await newEndpoint();
    const { endpoint: second } = await newEndpoint(tenant);
    const startMs = Date.now() - 60_000;
    const there = new Set<string>();
    for (let n = 0; n < 300; n += 1) {
      const event = await world.addEvent(tenant, { atMs: startMs + Math.floor(n / 3) });
      const to = n % 2 === 0 ? endpoint : second;
      there.add(n % 5 === 0 ? await world.addOwed(event, to) : await world.addEnded(event, to, "success"));
    }
    const query = { ...(scope === "tenant" ? { tenant } : {}), createdAfter: new Date(startMs), limit: 70 };
    const seen: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await deliveries.list({ ...query, cursor });
      seen.push(...page.data.map(({ id }) => id));
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
      await world.addOwed(await world.addEvent(tenant), endpoint);
      await world.pool.query(
        `with moved as (delete from posthorn.queue where endpoint_id = $1 returning *)
         insert into posthorn.deliveries (id, event_id, endpoint_id, state, attempts, replay_count, finished_at)
         select id, event_id, endpoint_id, 'success', 1, 0, now() from moved`,
        [second.slice(3)],
      );
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(seen.toSorted().reverse());
    const mine = seen.filter((id) => there.has(id));
    expect(mine).toHaveLength(there.size);
  },
);

test("a page has up to 250 deliveries and a cursor if there are more", async () => {
  const { tenant, endpoint } = await newEndpoint();
  await world.pool.query(
    `with made as (
       insert into posthorn.events (id, tenant, type, api_version, payload)
       select posthorn.uuidv7(now()), $1, 'a.b', '1', '1' from generate_series(1, 251) returning id
     )
     insert into posthorn.deliveries (id, event_id, endpoint_id, state, attempts, replay_count, finished_at)
     select posthorn.uuidv7(now()), id, $2, 'success', 1, 0, now() from made`,
    [tenant, endpoint.slice(3)],
  );
  const first = await deliveries.list({ tenant, limit: 250 });
  expect(first.data).toHaveLength(250);
  const second = await deliveries.list({ tenant, limit: 250, cursor: first.nextCursor ?? "" });
  expect(second).toEqual({ data: [expect.anything()], nextCursor: null });
});

/** So many successes of an endpoint that has nothing else, the last one named first, a millisecond after each other. */
async function addMany(tenant: string, endpoint: string, count: number, beginMs: number): Promise<void> {
  await world.pool.query(
    `with made as (
       insert into posthorn.events (id, tenant, type, api_version, payload)
       select posthorn.uuidv7(to_timestamp(($4::double precision + n) / 1000)), $1, 'a.b', '1', '1'
       from generate_series(1, $3::integer) n
       returning id
     )
     insert into posthorn.deliveries (id, event_id, endpoint_id, state, attempts, replay_count, finished_at)
     select id, id, $2, 'success', 1, 0, now() from made`,
    [tenant, endpoint.slice(3), count, beginMs],
  );
}

test.each(["tenant", "everything"])(
  "a rare type among many is found page by page, in %s, and a short page says that there is more",
  async (scope) => {
    const { tenant, endpoint } = await newEndpoint();
    const beginMs = Date.now() - 3_600_000;
    const rare = await world.addEvent(tenant, { type: `rare.${scope}`, atMs: beginMs });
    const id = await world.addEnded(rare, endpoint, "success");
    await addMany(tenant, endpoint, 4_500, beginMs + 1_000);
    const query = {
      ...(scope === "tenant" ? { tenant } : {}),
      type: `rare.${scope}`,
      createdAfter: new Date(beginMs),
    };
    const first = await deliveries.list(query);
    expect(first).toEqual({ data: [], nextCursor: expect.any(String) });
    const seen: string[] = [];
    let pages = 1;
    for (let cursor = first.nextCursor; cursor !== null; pages += 1) {
      const page = await deliveries.list({ ...query, cursor });
      seen.push(...page.data.map((delivery) => delivery.id));
      cursor = page.nextCursor;
    }
    expect(seen).toEqual([id]);
    expect(pages).toBeGreaterThan(2);
  },
);

test("in-flight deliveries are on the first page, without reading a long queue of others", async () => {
  const { tenant, endpoint } = await newEndpoint();
  const { endpoint: busy } = await newEndpoint();
  const beginMs = Date.now() - 7_200_000;
  const flying = await world.addOwed(await world.addEvent(tenant, { atMs: beginMs }), endpoint, {
    claimedBy: 1,
  });
  const ended = await world.addEnded(
    await world.addEvent(tenant, { atMs: beginMs - 1_000 }),
    endpoint,
    "success",
  );
  await world.pool.query(
    `insert into posthorn.queue (id, event_id, endpoint_id, next_at, schedule_started_at)
     select posthorn.uuidv7(to_timestamp(($2::double precision + n) / 1000)), gen_random_uuid(), $1, now(), now()
     from generate_series(1, 60000) n`,
    [busy.slice(3), beginMs],
  );
  await world.pool.query("analyze posthorn.queue");
  const pageOf = async (query: DeliveryQuery) => {
    const { data, nextCursor } = await deliveries.list(query);
    return { ids: data.map(({ id }) => id), nextCursor };
  };
  expect(await pageOf({ tenant })).toEqual({ ids: [flying, ended], nextCursor: null });
  expect(await pageOf({ endpoint, state: "in_flight" })).toEqual({ ids: [flying], nextCursor: null });
  expect(await pageOf({ endpoint, state: "success" })).toEqual({ ids: [ended], nextCursor: null });
  expect((await idsOf({ state: "in_flight" })).includes(flying)).toBe(true);
  for (const query of [{ tenant }, { state: "in_flight" }] as const) {
    const read = await rowsRead(world.db, "queue", (db) =>
      createDeliveries({ db, catalogue: world.catalogue }).list(query),
    );
    expect(read).toBeLessThan(100);
  }
  // so many of its own that they are not sorted but walked over
  expect((await deliveries.list({ endpoint: busy, state: "failed" })).data).toEqual([]);
});

test("a rare type in a long backlog is found page by page, and each page reads a limited number of events", async () => {
  const { tenant, endpoint } = await newEndpoint();
  const beginMs = Date.now() - 3_600_000;
  const rare = await world.addEvent(tenant, { type: "rare.waiting", atMs: beginMs });
  const id = await world.addOwed(rare, endpoint);
  await world.pool.query(
    `with made as (
       insert into posthorn.events (id, tenant, type, api_version, payload)
       select posthorn.uuidv7(to_timestamp(($3::double precision + n) / 1000)), $1, 'a.b', '1', '1'
       from generate_series(1, 2500) n
       returning id
     )
     insert into posthorn.queue (id, event_id, endpoint_id, next_at, schedule_started_at)
     select id, id, $2, now(), now() from made`,
    [tenant, endpoint.slice(3), beginMs],
  );
  const query = { tenant, type: "rare.waiting", state: "pending" } as const;
  const seen: string[][] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await deliveries.list({ ...query, cursor });
    seen.push(page.data.map((delivery) => delivery.id));
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
  }
  expect(seen).toEqual([[], [], [id]]);
  const read = await rowsRead(world.db, "events", (db) =>
    createDeliveries({ db, catalogue: world.catalogue }).list(query),
  );
  expect(read).toBe(1_000);
});

test("a page of the retry queue reads only the rows it returns, for one endpoint and for all", async () => {
  const { tenant, endpoint } = await newEndpoint();
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
      const read = await rowsRead(world.db, "queue", (db) =>
        createDeliveries({ db, catalogue: world.catalogue }).retryQueue({ ...query, limit: 20, cursor }),
      );
      expect(read).toBeLessThan(60);
    }
  }
});

test("a count is exact below its limit, and marked as inexact above", async () => {
  const { tenant, endpoint } = await newEndpoint();
  await addMany(tenant, endpoint, 3, Date.now());
  const count = (limit: number) =>
    countDeliveries(world.db, {
      after: "00000000-0000-0000-0000-000000000000",
      before: "ffffffff-ffff-ffff-ffff-ffffffffffff",
      direction: "oldest_first",
      limit,
      endpointIds: [endpoint.slice(3)],
      states: ["success"],
      type: null,
      deadReason: null,
      endedByMs: null,
    });
  expect(await count(4)).toEqual({ count: 3, isExact: true });
  expect(await count(3)).toEqual({ count: 3, isExact: false });
});
