// The numbers of events within a subject: without a gap, in the order of commits, whichever way they are published.
import { randomBytes } from "node:crypto";
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../../../tests/support/eventually.ts";
import { createMigratedDatabase, createPool, type TestDatabase } from "../../../../tests/support/postgres.ts";
import { createTestInstance, startScriptedReceiver, type TestInstance } from "../testing/index.ts";
import type { PublishInput } from "./validate.ts";

const encryptionKeys = `test:${randomBytes(32).toString("base64")}`;

let database: TestDatabase;
let pool: pg.Pool;
let a: TestInstance;
let b: TestInstance;
let notStarted: TestInstance;

beforeAll(async () => {
  database = await createMigratedDatabase();
  pool = createPool(database.connectionString, { max: 20 });
  const options = { database: database.connectionString, encryptionKeys };
  a = await createTestInstance(options);
  b = await createTestInstance(options);
  notStarted = await createTestInstance({ ...options, started: false });
});
afterAll(async () => {
  await Promise.all([a.close(), b.close(), notStarted.close()]);
  await pool.end();
  await database.drop();
});

let names = 0;
/** Each test has a tenant of its own. */
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

async function inTransaction<Result>(
  work: (client: pg.PoolClient) => Promise<Result>,
  end: "commit" | "rollback" = "commit",
): Promise<Result> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    const result = await work(client);
    await client.query(end);
    return result;
  } finally {
    client.release();
  }
}

/** A transaction that stays open until it is ended. */
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

async function publishBySql({ tenant, type, data, subject, idempotencyKey }: PublishInput): Promise<string> {
  const { rows } = await pool.query(
    "select posthorn.publish(tenant => $1, type => $2, data => $3::text, subject => $4, idempotency_key => $5) as id",
    [tenant, type, JSON.stringify(data), subject ?? null, idempotencyKey ?? null],
  );
  return rows[0].id;
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

async function untilSomebodyWaits(count = 1): Promise<void> {
  await eventually("the statements wait for a lock", async () => {
    const { rows } = await pool.query(
      `select count(*)::integer as waiting
       from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows[0].waiting >= count;
  });
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

describe("sequences", () => {
  test("have no gap after eight publishers of every way, with rollbacks and duplicates among them", async () => {
    const tenant = newTenant();
    const subjects = ["one", "two", "three"];
    const ways: [numbers: number, publish: (input: PublishInput) => Promise<unknown>][] = [
      [1, (input) => a.hooks.publish(input)],
      [1, (input) => b.hooks.publish(input)],
      [1, (input) => notStarted.hooks.publish(input)],
      [3, (input) => a.hooks.publishMany([input, input, input])],
      [1, (input) => publishBySql(input)],
      [1, (input) => inTransaction((tx) => a.hooks.publish(input, { tx }))],
      [0, (input) => inTransaction((tx) => a.hooks.publish(input, { tx }), "rollback")],
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

  test("begin at one in every tenant and every subject, and there is none without a subject", async () => {
    const [one, other] = [newTenant(), newTenant()];
    const ids = [
      await a.hooks.publish(order(one, "s")),
      await a.hooks.publish(order(other, "s")),
      await a.hooks.publish(order(one, "t")),
      await b.hooks.publish(order(one, "s")),
      await a.hooks.publish({ tenant: one, type: "order.paid", data: 1 }),
    ].map(({ id }) => id);
    expect(await Promise.all(ids.map(sequenceOf))).toEqual([1, 1, 1, 2, null]);
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

  test("are those of the commits, not of the beginnings: the later transaction commits first", async () => {
    const tenant = newTenant();
    const early = await openTransaction();
    await early.client.query("select 1");
    const late = await openTransaction();
    const first = await late.publish(order(tenant, "s"));
    const publishing = early.publish(order(tenant, "s"));
    await untilSomebodyWaits();
    await late.end("commit");
    const second = await publishing;
    expect(await sequenceOf(first.id)).toBe(1);
    await early.end("commit");
    expect(await sequenceOf(second.id)).toBe(2);
  });

  test("of a transaction that is rolled back go to the one that waited for it", async () => {
    const tenant = newTenant();
    const holder = await openTransaction();
    await holder.publish(order(tenant, "s"));
    const publishing = a.hooks.publish(order(tenant, "s"));
    await untilSomebodyWaits();
    await holder.end("rollback");
    expect(await sequenceOf((await publishing).id)).toBe(1);
  });

  test("are returned by every way of publishing, for a duplicate that of the first event", async () => {
    const tenant = newTenant();
    const input = order(tenant, "s");
    const known = { ...input, idempotencyKey: "key" };
    const told = [
      await a.hooks.publish(known),
      await notStarted.hooks.publish(input),
      await inTransaction((tx) => a.hooks.publish(input, { tx })),
      await a.hooks.publish(input),
      await a.hooks.publish(known),
      await notStarted.hooks.publish(known),
      await a.hooks.publish({ ...input, subject: undefined }),
      await inTransaction((tx) => a.hooks.publish({ ...input, subject: undefined }, { tx })),
    ];
    expect(told.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 1, 1, null, null]);
    const many = await a.hooks.publishMany([input, input]);
    expect(many).toMatchObject([{ result: { sequence: 5 } }, { result: { sequence: 6 } }]);
    const { rows } = await pool.query(
      `select posthorn.sequence_of(posthorn.publish(tenant => $1, type => 'order.paid', data => '1'::text, subject => 's'))::integer
         as sequence`,
      [tenant],
    );
    expect(rows[0].sequence).toBe(7);
  });

  test("reach the receiver in the envelope, first attempt included", async () => {
    const tenant = newTenant();
    const receiver = await startScriptedReceiver();
    await a.hooks.tenants.upsert(tenant, {});
    await a.hooks.endpoints.create(tenant, { url: `${receiver.url}/s`, events: ["*"] });
    await a.hooks.publish(order(tenant, "s"));
    await inTransaction((tx) => a.hooks.publish(order(tenant, "s"), { tx }));
    await a.hooks.publishMany([order(tenant, "s"), order(tenant, "t")]);
    await a.settle();
    const bodies = receiver.requests.map(({ body }) => JSON.parse(String(body)));
    expect(bodies.map(({ subject, sequence }) => `${subject} ${sequence}`).toSorted()).toEqual([
      "s 1",
      "s 2",
      "s 3",
      "t 1",
    ]);
    await receiver.close();
  });
});

describe("a subject that an open transaction holds", () => {
  test("delays no other subject, and its own publishers continue in order when it is released", async () => {
    const tenant = newTenant();
    const holder = await openTransaction();
    await holder.publish(order(tenant, "held"));
    const waiting = [1, 2, 3].map((data) => a.hooks.publish(order(tenant, "held", { data })));
    await untilSomebodyWaits();
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
    // a whole turn of the others' path later, those that need the subject still wait
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
    await untilSomebodyWaits();
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
