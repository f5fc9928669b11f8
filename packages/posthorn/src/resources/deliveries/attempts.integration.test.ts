import { expect, test } from "vitest";
import {
  endedAttempt,
  openResources,
  readPages,
  rowsRead,
} from "../../../../../tests/support/database/resources.ts";
import { attemptsOfEndpoint } from "./attempts.ts";

const world = await openResources();
const { endpoints, newEndpoint, pool, db } = world;

async function addAttempts(delivery: string, from: number, to: number): Promise<void> {
  await pool.query(
    `insert into posthorn.attempt_log (delivery_id, number, started_at, duration_ms, status_code, trigger, worker)
     select $1, n, now(), 5, 500, 'retry', 1 from generate_series($2::integer, $3::integer) n`,
    [delivery.slice(4), from, to],
  );
}

const place = ({ deliveryId, number }: { deliveryId: string; number: number }) => `${deliveryId} ${number}`;

test("an endpoint's attempts have the ids of delivery and event, newest delivery first", async () => {
  const { tenant, id } = await newEndpoint();
  const { id: sibling } = await newEndpoint({}, tenant);
  const [first, second, third] = [1_000, 2_000, 3_000].map((atMs) => world.addEvent(tenant, { atMs }));
  const ended = await world.addEnded((await first) as string, id, "success");
  const failing = await world.addQueued((await second) as string, id, { failures: 3 });
  await addAttempts(failing, 1, 3);
  const untried = await world.addQueued((await third) as string, id);
  await world.addEnded((await third) as string, sibling, "dead");

  const { data, nextCursor } = await endpoints.attempts(tenant, id);
  expect(nextCursor).toBeNull();
  expect(data.map(place)).toEqual([`${failing} 3`, `${failing} 2`, `${failing} 1`, `${ended} 1`]);
  expect(data.map(({ deliveryId }) => deliveryId)).not.toContain(untried);
  expect(data[3]).toEqual({
    deliveryId: ended,
    eventId: `evt_${await first}`,
    endpointId: id,
    tenant,
    eventType: "order.paid",
    ...endedAttempt,
  });
});

test("pages have no gap and no repeat, also within a delivery and while it is retried", async () => {
  const { tenant, id } = await newEndpoint();
  const expected: string[] = [];
  for (let n = 0; n < 8; n += 1) {
    const event = await world.addEvent(tenant, { atMs: 10_000 + n });
    const delivery =
      n % 2 === 0
        ? await world.addQueued(event, id, { failures: 5 })
        : await world.addEnded(event, id, "dead", "rejected");
    await addAttempts(delivery, n % 2 === 0 ? 1 : 2, 5);
    expected.unshift(...[5, 4, 3, 2, 1].map((number) => `${delivery} ${number}`));
  }
  for (const limit of [1, 3, 5, 7, 39, 40, 250]) {
    const pages = await readPages((cursor) => endpoints.attempts(tenant, id, { limit, cursor }));
    expect(pages.flat().map(place)).toEqual(expected);
    for (const page of pages.slice(0, -1)) expect(page).toHaveLength(limit);
  }
  const { nextCursor } = await endpoints.attempts(tenant, id, { limit: 8 });
  await addAttempts((expected[9] as string).split(" ")[0] as string, 6, 6);
  const next = await endpoints.attempts(tenant, id, { limit: 2, cursor: nextCursor as string });
  expect(next.data.map(place)).toEqual(expected.slice(8, 10));
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
         insert into posthorn.deliveries (id, event_id, endpoint_id, state, attempts, replay_count, finished_at, started_at, worker)
         select posthorn.uuidv7(now() + n * interval '1 ms' + $3 * interval '1 minute'), $1, $2, 'success', 1, 0, now(),
           case when n % 2 = 0 then now() end, 1
         from generate_series(1, 20000) n
         returning id, started_at
       )
       insert into posthorn.attempt_log (delivery_id, number, started_at, duration_ms, status_code, trigger, worker)
       select id, 1, now(), 5, 200, 'event', 1 from made where started_at is null`,
      [event, endpoint.slice(3), minutes],
    );
  }
  await pool.query("analyze posthorn.deliveries, posthorn.attempt_log");
  const { nextCursor } = await endpoints.attempts(tenant, id, { limit: 250 });
  for (const cursor of [undefined, nextCursor as string]) {
    for (const table of ["deliveries", "attempt_log"] as const)
      expect(await rowsOfPage(table, id, cursor)).toBeLessThan(50 * 3);
  }
});

async function rowsOfPage(
  table: "deliveries" | "attempt_log" | "queue",
  id: string,
  cursor?: string,
): Promise<number> {
  return await rowsRead(db, table, (tx) =>
    attemptsOfEndpoint({ db: tx, hiding: async () => () => false }, id.slice(3), { limit: 50, cursor }),
  );
}

test("attempts are found beside another endpoint's backlog, and behind its own page by page", async () => {
  const [calm, busy] = [await newEndpoint(), await newEndpoint()];
  const beginMs = Date.now() - 3_600_000;
  for (const { tenant, id } of [calm, busy]) {
    const waiting = await world.addEvent(tenant, { atMs: beginMs });
    const flying = await world.addEvent(tenant, { atMs: beginMs - 1 });
    await addAttempts(await world.addQueued(waiting, id, { failures: 1 }), 1, 1);
    await addAttempts(await world.addQueued(flying, id, { failures: 1, claimedBy: 1 }), 1, 1);
    await world.addEnded(await world.addEvent(tenant, { atMs: beginMs - 2 }), id, "success");
  }
  await world.addBacklog(busy.id, 60_000, beginMs + 1);

  const page = await endpoints.attempts(calm.tenant, calm.id);
  expect(page).toEqual({ data: [expect.anything(), expect.anything(), expect.anything()], nextCursor: null });
  expect(await rowsOfPage("queue", calm.id)).toBeLessThan(100);

  const pages = await readPages((cursor) => endpoints.attempts(busy.tenant, busy.id, { cursor }));
  const seen = pages.flat().map(place);
  expect(seen).toHaveLength(3);
  expect(seen).toEqual(seen.toSorted().reverse());
  expect(pages).toHaveLength(3);
  // a page reads 25,000 of its own, and 3,001 to find out that they are many
  expect(await rowsOfPage("queue", busy.id)).toBeLessThan(30_000);
});
