// Sequences within a subject: without a gap, in the order of commits, for every way of publishing.
import { describe, expect, test } from "vitest";
import { databasePerFile, publishBySql } from "../../../../tests/support/database/database-per-test.ts";
import { inTransaction, lockWaits } from "../../../../tests/support/database/postgres.ts";
import type { PublishInput } from "../event/validate.ts";

const world = await databasePerFile();
const { pool } = world;
const [a, b, notStarted] = [await world.open(), await world.open(), await world.open({ started: false })];

let names = 0;
/** Each test has its own tenant. */
function newTenant(): string {
  names += 1;
  return `tenant-${names}`;
}

const order = (tenant: string, subject: string, more: Partial<PublishInput> = {}): PublishInput => ({
  tenant,
  type: "order.paid",
  data: 1,
  subject,
  ...more,
});

/** A transaction that stays open until the test ends it. */
async function openTransaction() {
  const client = await pool.connect();
  await client.query("begin");
  return {
    client,
    publish: (input: PublishInput) => a.hooks.publish(input, { tx: client }),
    async end(how: "commit" | "rollback") {
      await client.query(how);
      client.release();
    },
  };
}

async function rolledBack(input: PublishInput): Promise<void> {
  const { publish, end } = await openTransaction();
  await publish(input);
  await end("rollback");
}

async function sequencesOf(tenant: string, subject: string): Promise<number[]> {
  const { rows } = await pool.query(
    `select sequence::integer from posthorn.events where tenant = $1 and subject = $2 order by sequence`,
    [tenant, subject],
  );
  return rows.map((row) => row.sequence);
}

async function sequenceOf(id: string): Promise<number | null> {
  return (await a.hooks.events.get(id)).sequence;
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

describe("sequences", () => {
  test("have no gap after eight publishers of every kind, with rollbacks and duplicates", async () => {
    const tenant = newTenant();
    const subjects = ["one", "two", "three"];
    const ways: [numbers: number, publish: (input: PublishInput) => Promise<unknown>][] = [
      [1, (input) => a.hooks.publish(input)],
      [1, (input) => b.hooks.publish(input)],
      [1, (input) => notStarted.hooks.publish(input)],
      [3, (input) => a.hooks.publishMany([input, input, input])],
      [1, (input) => publishBySql(pool, input)],
      [1, (input) => inTransaction(pool, (tx) => a.hooks.publish(input, { tx }))],
      [0, (input) => rolledBack(input)],
      [0, (input) => b.hooks.publish({ ...input, idempotencyKey: input.subject })],
    ];
    for (const subject of subjects)
      await a.hooks.publish(order(tenant, subject, { idempotencyKey: subject }));
    const counts = new Map(subjects.map((subject) => [subject, 1]));
    await Promise.all(
      ways.map(async ([numbers, publish], publisher) => {
        for (let round = 0; round < 12; round += 1) {
          const subject = subjects[(publisher + round) % subjects.length] as string;
          await publish(order(tenant, subject));
          counts.set(subject, (counts.get(subject) as number) + numbers);
        }
      }),
    );
    for (const subject of subjects) {
      expect(await sequencesOf(tenant, subject)).toEqual(upTo(counts.get(subject) as number));
    }
  });

  test.each(["a started", "a not started"])(
    "follow the array's order in publishMany of %s one",
    async (which) => {
      const tenant = newTenant();
      const { hooks } = which === "a started" ? a : notStarted;
      const inputs = Array.from({ length: 60 }, (_, n) => order(tenant, `s-${n % 3}`, { data: n }));
      await hooks.publishMany(inputs);
      for (const subject of ["s-0", "s-1", "s-2"]) {
        const { rows } = await pool.query(
          `select convert_from(payload, 'UTF8')::integer as data
         from posthorn.events where tenant = $1 and subject = $2 order by sequence`,
          [tenant, subject],
        );
        const expected = inputs.filter((input) => input.subject === subject).map((input) => input.data);
        expect(rows.map((row) => row.data)).toEqual(expected);
      }
    },
  );

  test("follow the commits, not the starts: the later transaction commits first", async () => {
    const tenant = newTenant();
    const early = await openTransaction();
    await early.client.query("select 1");
    const late = await openTransaction();
    const first = await late.publish(order(tenant, "s"));
    const publishing = early.publish(order(tenant, "s"));
    await lockWaits(pool);
    await late.end("commit");
    const second = await publishing;
    expect(await sequenceOf(first.id)).toBe(1);
    await early.end("commit");
    expect(await sequenceOf(second.id)).toBe(2);
  });

  test("are returned by every way of publishing; a duplicate returns that of the first event", async () => {
    const tenant = newTenant();
    const input = order(tenant, "s");
    const known = { ...input, idempotencyKey: "key" };
    const results = [
      await a.hooks.publish(known),
      await notStarted.hooks.publish(input),
      await inTransaction(pool, (tx) => a.hooks.publish(input, { tx })),
      await a.hooks.publish(input),
      await a.hooks.publish(known),
      await notStarted.hooks.publish(known),
      await a.hooks.publish({ ...input, subject: undefined }),
      await inTransaction(pool, (tx) => a.hooks.publish({ ...input, subject: undefined }, { tx })),
      await a.hooks.publish({ ...input, tenant: newTenant() }),
    ];
    expect(results.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 1, 1, null, null, 1]);
    const many = await a.hooks.publishMany([input, input]);
    expect(many).toMatchObject([{ result: { sequence: 5 } }, { result: { sequence: 6 } }]);
    const { rows } = await pool.query(
      `select posthorn.sequence_of(posthorn.publish(tenant => $1, type => 'order.paid', data => '1'::text, subject => 's'))::integer
         as sequence`,
      [tenant],
    );
    expect(rows[0].sequence).toBe(7);
  });
});

describe("a subject locked by an open transaction", () => {
  test("delays no other subject, and its own publishers continue in order when it is released", async () => {
    const tenant = newTenant();
    const holder = await openTransaction();
    await holder.publish(order(tenant, "held"));
    const waiting = [1, 2, 3].map((data) => a.hooks.publish(order(tenant, "held", { data })));
    await lockWaits(pool);
    const more = a.hooks.publishMany([4, 5].map((data) => order(tenant, "held", { data })));

    const others = upTo(30).flatMap((n) => [
      a.hooks.publish(order(tenant, `free-${n % 7}`)),
      a.hooks.publish({ tenant, type: "order.paid", data: n }),
      a.hooks.publish(order(newTenant(), "held", { idempotencyKey: `key ${n}` })),
    ]);
    await Promise.all(others);
    const last = a.hooks.publish(order(tenant, "held", { data: 6 }));
    let isAnswered = false;
    void Promise.race([...waiting, last]).then(() => {
      isAnswered = true;
    });
    // after others were published, those that need the subject still wait
    await a.hooks.publish(order(tenant, "free-1"));
    expect(isAnswered).toBe(false);

    await holder.end("commit");
    await Promise.all([...waiting, more, last]);
    const { rows } = await pool.query(
      `select sequence::integer, convert_from(payload, 'UTF8')::integer as data
       from posthorn.events where tenant = $1 and subject = 'held' order by sequence`,
      [tenant],
    );
    expect(rows.slice(1).map((row) => row.data)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(rows.map((row) => row.sequence)).toEqual(upTo(7));
  });

  test("keeps the order of an event whose idempotency key is locked", async () => {
    const tenant = newTenant();
    const holder = await openTransaction();
    await holder.publish({ tenant, type: "order.paid", data: 1, idempotencyKey: "key" });
    const conflict = a.hooks.publish(order(tenant, "s", { data: 1, idempotencyKey: "key" }));
    await lockWaits(pool);
    const next = a.hooks.publish(order(tenant, "s", { data: 2 }));
    let isAnswered = false;
    void next.then(() => {
      isAnswered = true;
    });
    // written in the same batch or in a later one
    await a.hooks.publish(order(tenant, "other"));
    expect(isAnswered).toBe(false);
    await holder.end("rollback");
    const ids = [(await conflict).id, (await next).id];
    expect(await Promise.all(ids.map(sequenceOf))).toEqual([1, 2]);
  });
});
