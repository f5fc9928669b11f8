// The cost of a step does not depend on the backlog. It is measured in rows that PostgreSQL reads.
import type { Store } from "@posthorn/receiver";
import { type PostgresDatabase, postgresStore } from "@posthorn/receiver/postgres";
import { beforeAll, describe, expect, test } from "vitest";
import { isQuick } from "../../../../../tests/support/matrix.ts";
import {
  openPool,
  openPostgres,
  type PostgresWorld,
} from "../../../../../tests/support/receiver/postgres-world.ts";
import {
  defaults,
  messageWith,
  ordered,
  orderedWithoutWait,
  times,
} from "../../../../../tests/support/receiver/store-world.ts";

const open = openPostgres(openPool);
const BACKLOG = isQuick ? 10_000 : 100_000;

/** Returns the rows read from the store's tables by each of `calls` sequential calls, which are rolled back at the end. */
async function rowsRead(
  { pool }: PostgresWorld<unknown>,
  calls: number,
  act: (store: Store) => Promise<unknown>,
) {
  const client = await pool.connect();
  try {
    await client.query("begin");
    const query = async (text: string, values: readonly unknown[]) =>
      (await client.query(text, [...values])).rows;
    const database: PostgresDatabase<never> = {
      query,
      transaction: () => Promise.reject(new Error("not here")),
    };
    const store = postgresStore(database);
    const counts: number[] = [];
    for (let call = 0; call < calls; call++) {
      const before = await countReads(query);
      await act(store);
      counts.push((await countReads(query)) - before);
    }
    return counts;
  } finally {
    await client.query("rollback");
    client.release();
  }
}

async function countReads(query: (text: string, values: readonly unknown[]) => Promise<{ read: number }[]>) {
  const [row] = await query(
    `select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::integer as read
     from pg_stat_xact_user_tables
     where schemaname = 'posthorn_receiver'`,
    [],
  );
  return row?.read ?? 0;
}

/** More than the five custom plans that PostgreSQL makes before it may use a generic one. */
const CALLS = 8;

describe("with a large backlog of waiting, done, dead and running messages", () => {
  let world: PostgresWorld<unknown>;
  beforeAll(async () => {
    world = await open();
    await world.pool.query(`
      insert into posthorn_receiver.messages (source, id, digest, state, since, ready_at, token, type, seen_at,
        subject, sequence, headers, body)
      select 'shop', state || n, '\\x00', state, now() - n * interval '1 second',
        case state when 'waiting' then now() - n * interval '1 second' when 'running' then now() + interval '1 hour' end,
        case state when 'running' then gen_random_uuid() end,
        'order.paid', now(), 'order/' || n, 1, '{}', case when state <> 'done' then '\\x7b7d'::bytea end
      from generate_series(1, ${BACKLOG}) n, unnest(array['waiting', 'done', 'dead', 'running']) state`);
  }, 120_000);

  test.each([
    ["a claim", 10, (store: Store) => store.claim(messageWith(), defaults)],
    ["a duplicate", 10, (store: Store) => store.claim(messageWith({ id: "done7", digest: "00" }), defaults)],
    ["taking ten", 200, (store: Store) => store.claimDue(10, defaults)],
    ["taking ten with the guard", 400, (store: Store) => store.claimDue(10, ordered)],
    ["a page of dead letters", 40, (store: Store) => store.deadLetters.list({ limit: 20 })],
    ["pruning fifty", 200, (store: Store) => store.prune(50, { windowMs: 0 })],
  ])("%s reads no more than %i rows", async (_, most, act) => {
    for (const analyzed of [false, true]) {
      if (analyzed) await world.pool.query("analyze posthorn_receiver.messages");
      for (const count of await rowsRead(world, CALLS, act)) expect(count).toBeLessThanOrEqual(most);
    }
  });

  test("the second page of dead letters continues where the first ended", async () => {
    const [last] = (await world.store.deadLetters.list({ limit: 50_000 })).slice(-1);
    const counts = await rowsRead(world, CALLS, (store) =>
      store.deadLetters.list({ limit: 20, ...(last && { after: last }) }),
    );
    for (const count of counts) expect(count).toBeLessThanOrEqual(40);
  });
});

test("a subject with thousands of waiting messages does not delay others, and is scanned once", async () => {
  const world = await open();
  const { pool, store } = world;
  await pool.query(`
    insert into posthorn_receiver.messages (source, id, digest, state, since, ready_at, type, seen_at,
      subject, sequence, headers, body)
    select 'shop', 'hot' || n, '\\x00', 'waiting', now(), now() - interval '1 minute' + n * interval '1 millisecond',
      'order.paid', now(), 'hot', n, '{}', '\\x7b7d'
    from generate_series(1, 5000) n`);
  const other = messageWith({ subject: "cold", sequence: 1 });
  await store.accept(other, defaults);

  const taken = [];
  for (let turn = 0; turn < 20 && taken.length < 2; turn++)
    taken.push(...(await store.claimDue(10, orderedWithoutWait)));
  expect(taken.map(({ message }) => message.id)).toEqual(["hot1", other.id]);

  // Each completed message wakes the next one, and the others are not examined again.
  for (const sequence of times(8, (n) => n + 1)) {
    const [claim] = sequence === 1 ? taken : await store.claimDue(10, orderedWithoutWait);
    expect(claim?.message.sequence).toBe(sequence);
    if (claim !== undefined) await store.complete(claim);
  }
  for (const count of await rowsRead(world, 2, (own) => own.claimDue(10, orderedWithoutWait)))
    expect(count).toBeLessThanOrEqual(60);
});
