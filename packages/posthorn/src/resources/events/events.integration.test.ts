import { expect, test } from "vitest";
import { openResources } from "../../../../../tests/support/resources.ts";
import { rowsRead } from "../../../../../tests/support/rows-read.ts";
import { statement } from "../../storage/sql.ts";
import { createEvents, type EventQuery } from "./events.ts";

const world = await openResources();
const { tenants, endpoints, events } = world;
const hook = { url: "https://example.com/hooks", events: ["*"] };

async function newTenant(): Promise<string> {
  return (await tenants.upsert(`tenant-${crypto.randomUUID()}`)).id;
}

async function idsOf(query: EventQuery): Promise<string[]> {
  return (await events.list(query)).data.map(({ id }) => id.slice(4));
}

test("an event is returned as published, with its deliveries to current and deleted endpoints", async () => {
  const tenant = await newTenant();
  const [a, b, none] = [
    await endpoints.create(tenant, hook),
    await endpoints.create(tenant, hook),
    await endpoints.create(tenant, hook),
  ];
  const event = await world.addEvent(tenant, {
    type: "order.paid",
    subject: "order-1",
    atMs: 1_750_000_000_123,
  });
  const delivered = await world.addEnded(event, a.endpoint.id, "success");
  const owed = await world.addOwed(event, b.endpoint.id);
  await endpoints.delete(tenant, a.endpoint.id);

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
    deliveries: expect.any(Array),
    batches: [],
    previous: null,
    notMatched: [expect.objectContaining({ endpointId: none.endpoint.id })],
  });
  expect(new Map(shown.deliveries.map(({ id, state }) => [id, state]))).toEqual(
    new Map([
      [delivered, "success"],
      [owed, "pending"],
    ]),
  );
  expect(shown.deliveries.map(({ endpointId }) => endpointId)).not.toContain(none.endpoint.id);
});

test("an unknown id, a malformed one and another tenant's are all not found", async () => {
  const tenant = await newTenant();
  const event = await world.addEvent(tenant);
  for (const id of ["evt_0198c2f0-0000-7000-8000-000000000000", "evt_", `dlv_${event}`, event]) {
    await expect(events.get(id)).rejects.toMatchObject({ code: "event_not_found", status: 404 });
  }
  await expect(events.get(`evt_${event}`, { tenant: "other" })).rejects.toMatchObject({
    code: "event_not_found",
  });
  expect(await events.get(`evt_${event}`, { tenant })).toMatchObject({ id: `evt_${event}`, deliveries: [] });
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

test("an event has the id of the previous one in its subject, however many others are between", async () => {
  const tenant = await newTenant();
  const numbered = async (atMs: number, sequence: number | null, subject: string | null = "order-1") => {
    const id = await world.addEvent(tenant, { atMs, subject });
    await world.pool.query("update posthorn.events set sequence = $2 where id = $1", [id, sequence]);
    return `evt_${id}`;
  };
  const first = await numbered(1_000, 1);
  // recorded in the same moment, and committed the other way round
  const third = await numbered(2_000, 3);
  const second = await numbered(2_001, 2);
  for (let n = 0; n < 20; n += 1) await numbered(3_000 + n, n + 1, "order-2");
  const fourth = await numbered(4_000, 4);
  const other = await numbered(5_000, null, null);
  const previous = async (id: string) => (await events.get(id)).previous;
  expect(await previous(first)).toBeNull();
  expect(await previous(second)).toBe(first);
  expect(await previous(fourth)).toBe(third);
  expect(await previous(other)).toBeNull();
});

test("a previous event that is too far back or another tenant's is not returned", async () => {
  const [tenant, rival] = [await newTenant(), await newTenant()];
  const sequenced = async (of: string, atMs: number, sequence: number) => {
    const id = await world.addEvent(of, { atMs, subject: "far" });
    await world.pool.query("update posthorn.events set sequence = $2 where id = $1", [id, sequence]);
    return `evt_${id}`;
  };
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
  const seen: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await events.list({ tenant, cursor, limit: 50 });
    seen.push(...page.data.map(({ id }) => id.slice(4)));
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
    await world.addEvent(tenant);
  }
  expect(seen).toEqual(there);
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
  // the newest sixteen are a byte short of 4 MB: one more belongs to their page
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
  const payload = Buffer.from(
    `[${Array(64 * 1024)
      .fill("1")
      .join(",")}]`,
  );
  for (let n = 0; n < 7; n += 1) there.unshift(await world.addEvent(tenant, { payload }));
  const masking = createEvents({
    db: world.db,
    catalogue: { refresh: async () => {}, redactedPaths: () => ["/*"] },
  });
  const pages: string[][] = [];
  let cursor: string | undefined;
  do {
    const page = await masking.list({ tenant, redacted: true, limit: 6, cursor });
    pages.push(page.data.map(({ id }) => id.slice(4)));
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  expect(pages).toEqual([there.slice(0, 5), there.slice(5)]);
  expect((await masking.list({ tenant })).data).toHaveLength(7);
});

/** So many events of a tenant, a millisecond after each other. */
async function addMany(tenant: string, count: number, beginMs: number): Promise<void> {
  await world.pool.query(
    `insert into posthorn.events (id, tenant, type, api_version, subject, payload)
     select posthorn.uuidv7(to_timestamp(($3::double precision + n) / 1000)), $1, 'common.type', '1', 'common', '1'
     from generate_series(1, $2::integer) n`,
    [tenant, count, beginMs],
  );
}

test.each([
  ["type", 2],
  ["subject", 3],
] as const)(
  "a rare %s is found on the page that looks at its event, and a page without any says that there is more",
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
    await addMany(tenant, 1_999, beginMs + 1_000);
    // the last one that is looked at: whether others come after it is not known
    for (const query of [ofTenant, ofAll])
      expect(await events.list(query)).toEqual({ ...found, nextCursor: expect.any(String) });
    await addMany(tenant, 1, beginMs + 10_000);
    for (const query of [ofTenant, ofAll]) {
      const { data, nextCursor } = await events.list(query);
      expect(data).toEqual([]);
      expect(await events.list({ ...query, cursor: nextCursor as string })).toEqual(found);
    }
  },
);

test("pages of a rare type have no gap and no repeat", async () => {
  const tenant = await newTenant();
  const beginMs = Date.now() - 4 * 3_600_000;
  const there: string[] = [];
  for (let n = 0; n < 40; n += 1) {
    there.unshift(await world.addEvent(tenant, { type: "one.in_150", atMs: beginMs + n * 1_000 }));
    await addMany(tenant, 150, beginMs + n * 1_000);
  }
  for (const limit of [1, 7, 40, 250]) {
    const seen: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await events.list({ tenant, type: "one.in_150", limit, cursor });
      seen.push(...page.data.map(({ id }) => id.slice(4)));
      expect(seen.length).toBeLessThanOrEqual(there.length);
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
    expect(seen).toEqual(there);
  }
});

test("a page reads a limited number of events, however many there are", async () => {
  const [tenant, neighbour] = [await newTenant(), await newTenant()];
  const beginMs = Date.now() + 3_600_000;
  await addMany(tenant, 20_000, beginMs);
  await addMany(neighbour, 20_000, beginMs + 60_000);
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

test("an invalid query is refused with advice", async () => {
  await expect(events.list({ limit: 1_000 })).rejects.toMatchObject({ code: "invalid_query" });
  await expect(events.list({ cursor: "x" })).rejects.toMatchObject({
    code: "invalid_query",
    message: expect.stringContaining("nextCursor"),
  });
  await expect(events.list({ createdAfter: "now" as never })).rejects.toMatchObject({
    code: "invalid_query",
  });
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
    hasDeliveriesMade: true,
  });
  const ofAll = (await events.newest({ limit: 3 })).map(({ id }) => id);
  expect(ofAll).toEqual((await events.list({ limit: 3 })).data.map(({ id }) => id));
  await expect(events.newest({ limit: 251 })).rejects.toMatchObject({ code: "invalid_query" });
});

test("an event in the outbox has hasDeliveriesMade false", async () => {
  const tenant = await newTenant();
  const event = await world.addEvent(tenant);
  await world.db.query(
    statement("test: into the outbox", "insert into posthorn.outbox (event_id) values ($1)"),
    [event],
  );
  expect((await events.newest({ tenant }))[0]?.hasDeliveriesMade).toBe(false);
});
