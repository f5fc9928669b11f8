import { expect, test } from "vitest";
import { openResources, readPages, rowsRead } from "../../../../../tests/support/database/resources.ts";
import type { Queryable } from "../../storage/database.ts";
import { createEvents, type EventQuery } from "./events.ts";

const world = await openResources();
const { newTenant, newEndpoint, endpoints, events } = world;

async function idsOf(query: EventQuery): Promise<string[]> {
  return (await events.list(query)).data.map(({ id }) => id.slice(4));
}

test("an event is returned as published, with its deliveries to current and deleted endpoints", async () => {
  const tenant = await newTenant();
  const { id: a } = await newEndpoint({}, tenant);
  const { id: b } = await newEndpoint({}, tenant);
  const { id: none } = await newEndpoint({}, tenant);
  const event = await world.addEvent(tenant, {
    type: "order.paid",
    subject: "order-1",
    atMs: 1_750_000_000_123,
  });
  const delivered = await world.addEnded(event, a, "success");
  const queued = await world.addQueued(event, b);
  await endpoints.delete(tenant, a);

  const shown = await events.get(`evt_${event}`);
  expect(shown).toEqual({
    id: `evt_${event}`,
    tenant,
    type: "order.paid",
    apiVersion: "1",
    subject: "order-1",
    sequence: null,
    payload: Buffer.from('{"b": 1.0, "a":2}'),
    createdAt: new Date(1_750_000_000_123),
    attributes: null,
    rejection: null,
    editedFrom: null,
    deliveries: expect.any(Array),
    batches: [],
    previous: null,
    notMatched: [expect.objectContaining({ endpointId: none })],
  });
  const states = Object.fromEntries(shown.deliveries.map(({ id, state }) => [id, state]));
  expect(states).toEqual({ [delivered]: "success", [queued]: "pending" });
});

test("a listed event has the outcome of its deliveries, including those to deleted endpoints", async () => {
  const tenant = await newTenant();
  const ids = [];
  for (let n = 0; n < 3; n += 1) ids.push((await newEndpoint({}, tenant)).id);
  const [a = "", b = "", c = ""] = ids;
  // two of them in the same millisecond
  const add = (atMs: number) => world.addEvent(tenant, { atMs: 1_760_000_000_000 + atMs });
  const [delivered, dead, failed, waiting, claimed, none, early] = (await Promise.all(
    [2, 2, 3, 4, 5, 6, 7].map(add),
  )) as [string, string, string, string, string, string, string];
  for (const endpoint of [a, b, c]) await world.addEnded(delivered, endpoint, "success");
  await world.addEnded(dead, a, "dead", "rejected");
  await world.addQueued(dead, b, { failures: 1 });
  await world.addQueued(failed, a, { failures: 2 });
  await world.addEnded(failed, b, "success");
  await world.addQueued(waiting, a);
  await world.addEnded(waiting, b, "success");
  await world.addQueued(claimed, a, { claimedBy: 7 });
  await world.pool.query("insert into posthorn.outbox (event_id, tenant) values ($1, $2)", [early, tenant]);
  await endpoints.delete(tenant, c);

  const outcomes = new Map(
    (await events.list({ tenant })).data.map(({ id, outcome }) => [id.slice(4), outcome]),
  );
  const nothing = { deliveries: 0, delivered: 0, failed: 0, dead: 0, waiting: 0 };
  expect(outcomes.get(delivered)).toEqual({ ...nothing, state: "delivered", deliveries: 3, delivered: 3 });
  expect(outcomes.get(dead)).toEqual({ ...nothing, state: "dead", deliveries: 2, dead: 1, failed: 1 });
  expect(outcomes.get(failed)).toEqual({
    ...nothing,
    state: "failed",
    deliveries: 2,
    delivered: 1,
    failed: 1,
  });
  expect(outcomes.get(waiting)).toEqual({
    ...nothing,
    state: "waiting",
    deliveries: 2,
    delivered: 1,
    waiting: 1,
  });
  expect(outcomes.get(claimed)).toEqual({ ...nothing, state: "waiting", deliveries: 1, waiting: 1 });
  expect(outcomes.get(none)).toEqual({ ...nothing, state: "unmatched" });
  expect(outcomes.get(early)).toEqual({ ...nothing, state: "waiting" });
  const [unread] = (await events.list({ tenant, outcomes: false, limit: 1 })).data;
  expect(unread?.outcome).toBe(null);
});

test("the outcome of an event in a batch is that of the batch", async () => {
  const tenant = await newTenant();
  const { id: endpoint } = await newEndpoint({}, tenant);
  const [member, pending, batch] = await Promise.all(
    [1, 2, 3].map((atMs) => world.addEvent(tenant, { atMs })),
  );
  await world.addEnded(batch as string, endpoint, "dead", "rejected");
  const place = [batch, member, endpoint.slice(3)];
  await world.pool.query(
    "insert into posthorn.batch_events (batch_id, position, event_id, endpoint_id) values ($1, 1, $2, $3)",
    place,
  );
  await world.pool.query(
    "insert into posthorn.pending_batch_events (event_id, endpoint_id, bytes) values ($1, $2, 1)",
    [pending, endpoint.slice(3)],
  );
  const outcomes = new Map(
    (await events.list({ tenant })).data.map(({ id, outcome }) => [id.slice(4), outcome]),
  );
  expect(outcomes.get(member as string)).toMatchObject({ state: "dead", deliveries: 1, dead: 1 });
  expect(outcomes.get(pending as string)).toMatchObject({ state: "waiting", deliveries: 1, waiting: 1 });
});

test("an event with thousands of deliveries is listed without an outcome, and one fewer with it", async () => {
  const tenant = await newTenant();
  const outcomeWith = async (deliveries: number, atMs: number) => {
    const event = await world.addEvent(tenant, { atMs });
    await world.pool.query(
      `insert into posthorn.deliveries (id, event_id, endpoint_id, state, attempts, replay_count, finished_at)
       select posthorn.uuidv7(to_timestamp($3::double precision / 1000)), $1, gen_random_uuid(), 'success', 1, 0, now()
       from generate_series(1, $2::integer)`,
      [event, deliveries, atMs],
    );
    return (await events.list({ tenant, limit: 1 })).data[0]?.outcome;
  };
  expect(await outcomeWith(4_999, 1_000)).toMatchObject({ state: "delivered", delivered: 4_999 });
  expect(await outcomeWith(5_000, 2_000)).toBe(null);
});

test("outcomes of a page read only the deliveries of its events", async () => {
  const tenant = await newTenant();
  const { id: endpoint } = await newEndpoint({}, tenant);
  await world.addMany(tenant, 3_000, 1_700_000_000_000, { endpoint });
  await world.pool.query("analyze posthorn.events, posthorn.deliveries");
  const pageOf = (tx: Queryable) =>
    createEvents({ db: tx, catalogue: world.catalogue }).list({ tenant, limit: 50 });
  expect((await pageOf(world.db)).data[0]?.outcome).toMatchObject({ delivered: 1 });
  expect(await rowsRead(world.db, "deliveries", pageOf)).toBeLessThan(120);
});

test("events are found by tenant, type, subject and time, newest first", async () => {
  const tenant = await newTenant();
  const one = await world.addEvent(tenant, { atMs: 1_000, type: "a.b", subject: "x" });
  const two = await world.addEvent(tenant, { atMs: 2_000, type: "a.c", subject: "x" });
  const three = await world.addEvent(tenant, { atMs: 3_000, type: "a.b" });
  expect(await idsOf({ tenant })).toEqual([three, two, one]);
  expect(await idsOf({ tenant, type: "a.b" })).toEqual([three, one]);
  expect(await idsOf({ tenant, subject: "x" })).toEqual([two, one]);
  expect(await idsOf({ tenant, type: "a.b", subject: "x" })).toEqual([one]);
  expect(await idsOf({ tenant, createdAfter: new Date(2_000), createdBefore: new Date(3_000) })).toEqual([
    two,
  ]);
  expect(await idsOf({ createdBefore: new Date(1_001), type: "a.b", subject: "x" })).toEqual([one]);
});

async function numbered(tenant: string, atMs: number, sequence: number | null, subject: string | null) {
  const id = await world.addEvent(tenant, { atMs, subject });
  await world.pool.query("update posthorn.events set sequence = $2 where id = $1", [id, sequence]);
  return `evt_${id}`;
}

test("an event has the id of the previous one in its subject, however many others are between", async () => {
  const tenant = await newTenant();
  const add = (atMs: number, sequence: number) => numbered(tenant, atMs, sequence, "order-1");
  const first = await add(1_000, 1);
  // created in the same millisecond, and committed in reverse order
  const third = await add(2_000, 3);
  const second = await add(2_001, 2);
  for (let n = 0; n < 20; n += 1) await numbered(tenant, 3_000 + n, n + 1, "order-2");
  const fourth = await add(4_000, 4);
  const other = await numbered(tenant, 5_000, null, null);
  const previous = async (id: string) => (await events.get(id)).previous;
  expect(await previous(first)).toBeNull();
  expect(await previous(second)).toBe(first);
  expect(await previous(fourth)).toBe(third);
  expect(await previous(other)).toBeNull();
});

test("a previous event that is too far back or another tenant's is not returned", async () => {
  const [tenant, rival] = [await newTenant(), await newTenant()];
  const sequenced = (of: string, atMs: number, sequence: number) => numbered(of, atMs, sequence, "far");
  await sequenced(rival, 1_000, 1);
  const own = await sequenced(tenant, 2_000, 2);
  expect((await events.get(own)).previous).toBeNull();
  await world.pool.query(
    `insert into posthorn.events (id, tenant, type, api_version, payload)
     select posthorn.uuidv7(to_timestamp(3)), $1, 'a.b', '1', '{}' from generate_series(1, 1999)`,
    [tenant],
  );
  const next = await sequenced(tenant, 4_000, 3);
  expect((await events.get(next)).previous).toBe(own);
  await world.addEvent(tenant, { atMs: 3_000 });
  expect((await events.get(next)).previous).toBeNull();
});

test("pages have no gap and no repeat while events are added, also within one millisecond", async () => {
  const tenant = await newTenant();
  const there: string[] = [];
  for (let n = 0; n < 260; n += 1)
    there.unshift(await world.addEvent(tenant, { atMs: 5_000 + Math.floor(n / 100) }));
  const pages = await readPages(async (cursor) => {
    if (cursor !== undefined) await world.addEvent(tenant);
    return await events.list({ tenant, cursor, limit: 50 });
  });
  expect(pages.flat().map(({ id }) => id.slice(4))).toEqual(there);
});

test("a page ends at 4 MB and the next pages have the rest, with every filter", async () => {
  const tenant = await newTenant();
  const there: string[] = [];
  const add = async (bytes: number) => {
    const id = await world.addEvent(tenant, {
      type: "big.one",
      subject: "big",
      payload: Buffer.alloc(bytes, "1"),
    });
    there.unshift(id);
  };
  for (let n = 0; n < 33; n += 1) await add(256 * 1024);
  // the newest sixteen are a byte short of 4 MB, so their page has one more
  await add(256 * 1024 - 1);
  for (const query of [{}, { tenant }, { tenant, type: "big.one" }, { subject: "big" }]) {
    const pages: string[][] = [];
    let cursor: string | undefined;
    do {
      const page = await events.list({ ...query, limit: 250, cursor });
      const ours = page.data.filter((event) => event.tenant === tenant);
      pages.push(ours.map(({ id }) => id.slice(4)));
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined && pages.flat().length < there.length);
    expect(pages.flat()).toEqual(there);
    expect(pages.map((page) => page.length)).toEqual([17, 16, 1]);
  }
});

test("the size of a page includes masks, and the next pages have the rest", async () => {
  const tenant = await newTenant();
  const there: string[] = [];
  // 128 KB, and 832 KB with a mask for each of the numbers
  const payload = Buffer.from(JSON.stringify(Array(64 * 1024).fill(1)));
  for (let n = 0; n < 7; n += 1) there.unshift(await world.addEvent(tenant, { payload }));
  const masking = createEvents({
    db: world.db,
    catalogue: { refresh: async () => {}, redactedPaths: () => ["/*"] },
  });
  const pages = await readPages((cursor) => masking.list({ tenant, redacted: true, limit: 6, cursor }));
  expect(pages.map((page) => page.map(({ id }) => id.slice(4)))).toEqual([there.slice(0, 5), there.slice(5)]);
  expect((await masking.list({ tenant })).data).toHaveLength(7);
});

test.each([
  ["type", 2],
  ["subject", 3],
] as const)(
  "a rare %s is found on the page that looks at its event, and an empty page has a next one",
  async (column, hoursAgo) => {
    const tenant = await newTenant();
    const value = `rare.${column}`;
    const beginMs = Date.now() - hoursAgo * 3_600_000;
    const rare = await world.addEvent(tenant, { [column]: value, atMs: beginMs });
    const ofTenant = { tenant, [column]: value };
    const ofAll = {
      [column]: value,
      createdAfter: new Date(beginMs),
      createdBefore: new Date(beginMs + 60_000),
    };
    const found = { data: [expect.objectContaining({ id: `evt_${rare}` })], nextCursor: null };
    await world.addMany(tenant, 1_999, beginMs + 1_000);
    // the last one that is read: it is not known whether there are more
    for (const query of [ofTenant, ofAll])
      expect(await events.list(query)).toEqual({ ...found, nextCursor: expect.any(String) });
    await world.addMany(tenant, 1, beginMs + 10_000);
    for (const query of [ofTenant, ofAll]) {
      const { data, nextCursor } = await events.list(query);
      expect(data).toEqual([]);
      expect(await events.list({ ...query, cursor: nextCursor as string })).toEqual(found);
    }
  },
);

test("a page reads a limited number of events, however many there are", async () => {
  const [tenant, neighbour] = [await newTenant(), await newTenant()];
  const beginMs = Date.now() + 3_600_000;
  await world.addMany(tenant, 20_000, beginMs);
  await world.addMany(neighbour, 20_000, beginMs + 60_000);
  await world.pool.query("analyze posthorn.events");
  const read = (query: EventQuery) =>
    rowsRead(world.db, "events", (db) => createEvents({ db, catalogue: world.catalogue }).list(query));
  for (const query of [{}, { tenant }, { tenant, type: "common.type" }]) {
    const { data, nextCursor } = await events.list({ ...query, limit: 250 });
    expect([data.length, nextCursor]).toEqual([250, expect.any(String)]);
  }
  expect(await read({ limit: 50 })).toBeLessThan(150);
  expect(await read({ tenant, limit: 50 })).toBeLessThan(150);
  expect(await read({ tenant, type: "common.type", limit: 50 })).toBeLessThan(250);
  expect(await read({ tenant, type: "none.such" })).toBeLessThan(2_100);
  expect(await read({ type: "none.such" })).toBeLessThan(2_100);
  for (const query of [{ limit: 100 }, { limit: 100, tenant }]) {
    const readNewest = await rowsRead(world.db, "events", (db) =>
      createEvents({ db, catalogue: world.catalogue }).newest(query),
    );
    expect(readNewest).toBeLessThan(150);
  }
});

test("the newest events are those of the list without payloads, of one tenant or all", async () => {
  const tenant = await newTenant();
  const older = await world.addEvent(tenant, { type: "order.paid", subject: "order-1" });
  const newer = await world.addEvent(tenant);
  await world.addEvent(await newTenant());
  const newest = await events.newest({ tenant });
  expect(newest.map(({ id }) => id)).toEqual([`evt_${newer}`, `evt_${older}`]);
  expect(newest[1]).toEqual({
    id: `evt_${older}`,
    tenant,
    type: "order.paid",
    apiVersion: "1",
    subject: "order-1",
    sequence: null,
    createdAt: expect.any(Date),
    isFannedOut: true,
  });
  const ofAll = (await events.newest({ limit: 3 })).map(({ id }) => id);
  expect(ofAll).toEqual((await events.list({ limit: 3 })).data.map(({ id }) => id));
  await world.pool.query("insert into posthorn.outbox (event_id) values ($1)", [newer]);
  expect((await events.newest({ tenant }))[0]?.isFannedOut).toBe(false);
  await expect(events.newest({ limit: 251 })).rejects.toMatchObject({ code: "invalid_query" });
});
