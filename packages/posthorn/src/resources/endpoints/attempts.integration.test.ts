import { expect, test } from "vitest";
import { openResources } from "../../../../../tests/support/resources.ts";
import { rowsRead } from "../../../../../tests/support/rows-read.ts";
import { listEndpointAttempts } from "./attempts.ts";

const world = await openResources();
const { tenants, endpoints, pool, db } = world;
const hook = { url: "https://example.com/hooks", events: ["*"] };

async function newEndpoint(): Promise<{ tenant: string; id: string }> {
  const tenant = (await tenants.upsert(`tenant-${crypto.randomUUID()}`)).id;
  return { tenant, id: (await endpoints.create(tenant, hook)).endpoint.id };
}

async function addAttempts(delivery: string, from: number, to: number): Promise<void> {
  await pool.query(
    `insert into posthorn.attempts (delivery_id, number, started_at, duration_ms, status_code, trigger, worker)
     select $1, n, now(), 5, 500, 'retry', 1 from generate_series($2::integer, $3::integer) n`,
    [delivery.slice(4), from, to],
  );
}

const place = ({ deliveryId, number }: { deliveryId: string; number: number }) => `${deliveryId} ${number}`;

test("an endpoint's attempts have the ids of delivery and event, newest delivery first", async () => {
  const { tenant, id } = await newEndpoint();
  const { id: sibling } = (await endpoints.create(tenant, hook)).endpoint;
  const [first, second, third] = [1_000, 2_000, 3_000].map((atMs) => world.addEvent(tenant, { atMs }));
  const ended = await world.addEnded((await first) as string, id, "success");
  const failing = await world.addOwed((await second) as string, id, { failures: 3 });
  await addAttempts(failing, 1, 3);
  const untried = await world.addOwed((await third) as string, id);
  await world.addEnded((await third) as string, sibling, "dead");

  const { data, nextCursor } = await endpoints.attempts(tenant, id);
  expect(nextCursor).toBeNull();
  expect(data.map(place)).toEqual([`${failing} 3`, `${failing} 2`, `${failing} 1`, `${ended} 1`]);
  expect(data.map(({ deliveryId }) => deliveryId)).not.toContain(untried);
  expect(data[3]).toEqual({
    deliveryId: ended,
    eventId: `evt_${await first}`,
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
  });
});

test("pages have no gap and no repeat, also within a delivery and while it is retried", async () => {
  const { tenant, id } = await newEndpoint();
  const expected: string[] = [];
  for (let n = 0; n < 8; n += 1) {
    const event = await world.addEvent(tenant, { atMs: 10_000 + n });
    const delivery =
      n % 2 === 0
        ? await world.addOwed(event, id, { failures: 5 })
        : await world.addEnded(event, id, "dead", "rejected");
    await addAttempts(delivery, n % 2 === 0 ? 1 : 2, 5);
    expected.unshift(...[5, 4, 3, 2, 1].map((number) => `${delivery} ${number}`));
  }
  for (const limit of [1, 3, 5, 7, 39, 40, 250]) {
    const seen: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await endpoints.attempts(tenant, id, { limit, cursor });
      seen.push(...page.data.map(place));
      expect(seen.length).toBeLessThanOrEqual(expected.length);
      if (page.nextCursor === null) break;
      expect(page.data).toHaveLength(limit);
      cursor = page.nextCursor;
    }
    expect(seen).toEqual(expected);
  }
  const { nextCursor } = await endpoints.attempts(tenant, id, { limit: 8 });
  await addAttempts((expected[9] as string).split(" ")[0] as string, 6, 6);
  const next = await endpoints.attempts(tenant, id, { limit: 2, cursor: nextCursor as string });
  expect(next.data.map(place)).toEqual(expected.slice(8, 10));
});

test("deliveries without attempts are skipped, however many there are", async () => {
  const { tenant, id } = await newEndpoint();
  const tried = await world.addEnded(await world.addEvent(tenant, { atMs: 20_000 }), id, "success");
  for (let n = 1; n <= 5; n += 1) {
    await world.addOwed(await world.addEvent(tenant, { atMs: 20_000 + n }), id);
    const discarded = await world.addEvent(tenant, { atMs: 30_000 + n });
    await pool.query(
      `insert into posthorn.deliveries (id, event_id, endpoint_id, state, dead_reason, attempts, replay_count, finished_at)
       values ($1, $1, $2, 'dead', 'discarded', 0, 0, now())`,
      [discarded, id.slice(3)],
    );
  }
  const { data } = await endpoints.attempts(tenant, id, { limit: 1 });
  expect(data.map(place)).toEqual([`${tried} 1`]);
});

test("attempts of another tenant's, a deleted or an unknown endpoint are not found, and a wrong cursor is refused", async () => {
  const { tenant, id } = await newEndpoint();
  const other = await newEndpoint();
  await endpoints.delete(other.tenant, other.id);
  for (const asked of [other.id, "ep_0198c2f0-0000-7000-8000-000000000000", "x"]) {
    await expect(endpoints.attempts(tenant, asked)).rejects.toMatchObject({ code: "endpoint_not_found" });
  }
  await expect(endpoints.attempts(other.tenant, id)).rejects.toMatchObject({ code: "endpoint_not_found" });
  const strange = Buffer.from("attempts:x").toString("base64url");
  for (const query of [{ cursor: strange }, { cursor: "x" }, { limit: 251 }, { after: 1 }]) {
    await expect(endpoints.attempts(tenant, id, query)).rejects.toMatchObject({ code: "invalid_query" });
  }
  await expect(endpoints.attempts(tenant, id, { limit: 250 })).resolves.toMatchObject({ data: [] });
});

test("a page reads only the rows it returns", async () => {
  const { tenant, id } = await newEndpoint();
  const neighbour = await newEndpoint();
  const event = await world.addEvent(tenant);
  for (const [endpoint, minutes] of [
    [id, 0],
    [neighbour.id, 1],
  ] as const) {
    await pool.query(
      `with made as (
         insert into posthorn.deliveries (id, event_id, endpoint_id, state, attempts, replay_count, finished_at)
         select posthorn.uuidv7(now() + n * interval '1 ms' + $3 * interval '1 minute'), $1, $2, 'success', 1, 0, now()
         from generate_series(1, 20000) n
         returning id
       )
       insert into posthorn.attempts (delivery_id, number, started_at, duration_ms, status_code, trigger, worker)
       select id, 1, now(), 5, 200, 'event', 1 from made`,
      [event, endpoint.slice(3), minutes],
    );
  }
  await pool.query("analyze posthorn.deliveries, posthorn.attempts");
  const { nextCursor } = await endpoints.attempts(tenant, id, { limit: 250 });
  for (const cursor of [undefined, nextCursor as string]) {
    for (const table of ["deliveries", "attempts"] as const)
      expect(await rowsOfPage(table, tenant, id, cursor)).toBeLessThan(50 * 3);
  }
});

async function rowsOfPage(
  table: "deliveries" | "attempts" | "queue",
  tenant: string,
  id: string,
  cursor?: string,
): Promise<number> {
  return await rowsRead(db, table, (tx) =>
    listEndpointAttempts({ db: tx, hiding: async () => () => false }, tenant, id, { limit: 50, cursor }),
  );
}

/** Owed to an endpoint and never tried, a millisecond after each other. */
async function addBacklog(endpoint: string, count: number, beginMs: number): Promise<void> {
  await pool.query(
    `insert into posthorn.queue (id, event_id, endpoint_id, next_at, schedule_started_at)
     select posthorn.uuidv7(to_timestamp(($3::double precision + n) / 1000)), gen_random_uuid(), $1, now(), now()
     from generate_series(1, $2::integer) n`,
    [endpoint.slice(3), count, beginMs],
  );
}

test("attempts are found beside another endpoint's backlog, and behind its own page by page", async () => {
  const [calm, busy] = [await newEndpoint(), await newEndpoint()];
  const beginMs = Date.now() - 3_600_000;
  for (const { tenant, id } of [calm, busy]) {
    const waiting = await world.addEvent(tenant, { atMs: beginMs });
    const flying = await world.addEvent(tenant, { atMs: beginMs - 1 });
    await addAttempts(await world.addOwed(waiting, id, { failures: 1 }), 1, 1);
    await addAttempts(await world.addOwed(flying, id, { failures: 1, claimedBy: 1 }), 1, 1);
    await world.addEnded(await world.addEvent(tenant, { atMs: beginMs - 2 }), id, "success");
  }
  await addBacklog(busy.id, 60_000, beginMs + 1);
  await pool.query("analyze posthorn.queue");

  const page = await endpoints.attempts(calm.tenant, calm.id);
  expect(page).toEqual({ data: [expect.anything(), expect.anything(), expect.anything()], nextCursor: null });
  expect(await rowsOfPage("queue", calm.tenant, calm.id)).toBeLessThan(100);

  const seen: string[] = [];
  let pages = 0;
  for (let cursor: string | undefined; ; ) {
    const { data, nextCursor } = await endpoints.attempts(busy.tenant, busy.id, { cursor });
    seen.push(...data.map(place));
    pages += 1;
    if (nextCursor === null) break;
    cursor = nextCursor;
  }
  expect(seen).toHaveLength(3);
  expect(seen).toEqual(seen.toSorted().reverse());
  expect(pages).toBe(3);
  // a page looks at 25,000 of its own, and at 3,001 to know that they are so many
  expect(await rowsOfPage("queue", busy.tenant, busy.id)).toBeLessThan(30_000);
});
