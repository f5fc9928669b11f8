// Publishing in the transaction of every supported library, each of them real, on PostgreSQL.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { databasePerFile, newTenant } from "../../../../tests/support/database/database-per-test.ts";
import { type OpenLibrary, openLibraries } from "../../../../tests/support/database/transaction-libraries.ts";
import { maxPayloadBytes } from "../event/limits.ts";
import type { PublishInput } from "../event/validate.ts";
import type { Transaction } from "./transaction-libraries.ts";

const world = await databasePerFile();
const { pool } = world;
const { hooks } = await world.open();
/** Reads the catalogue in the caller's transaction. */
const strict = await world.open({ started: false, catalogue: "strict" });
await pool.query("create table orders (tenant text not null)");

interface StoredEvent {
  readonly id: string;
  readonly payload: Buffer;
  readonly traceparent: string | null;
}

async function storedEvents(tenant: string): Promise<StoredEvent[]> {
  const text = `select 'evt_' || id as id, payload, traceparent from posthorn.events where tenant = $1 order by id`;
  return (await pool.query(text, [tenant])).rows;
}

async function countOrders(tenant: string): Promise<number> {
  return (await pool.query("select from orders where tenant = $1", [tenant])).rows.length;
}

const paid = (tenant: string, more: Partial<PublishInput> = {}): PublishInput => ({
  tenant,
  type: "order.paid",
  ...(more.rawData === undefined && { data: 1 }),
  ...more,
});

/** JSON text that changes if it is parsed and written again, and with what libraries treat as placeholders. */
const delicate =
  '{ "b":1.0,"a": 12345678901234567890, "text":"\\u0000 \\u00fc ü 😀 \\ud83d\\ude00 \\u2028 \u2028 \'\' \\\\ \\"", "marks":"? ?? \\\\? $1 $$ :v1 ::text @p1 %s #{x} {0} -- /* ", "a": null, "e":1E+2 }';

const MEGABYTE = 2 ** 20;
const ofBytes = (bytes: number): Buffer => Buffer.from(JSON.stringify("x".repeat(bytes - 2)));

describe.each(Object.entries(openLibraries))("a transaction of %s", (_name, open) => {
  let library: OpenLibrary<Transaction>;
  beforeAll(async () => {
    library = await open(world.connectionString);
  });
  afterAll(async () => {
    await library.close();
  });

  const insertOrder = (tx: Transaction, tenant: string) =>
    library.execute(tx, `insert into orders (tenant) values ('${tenant}')`);

  const failing = async (work: PromiseLike<unknown>) => {
    await expect(work).rejects.toThrow("the order failed");
  };

  test.each([
    ["first", true],
    ["after a write", false],
  ])("that commits stores the event published %s, with the order", async (_when, isFirst) => {
    const tenant = await newTenant(strict);
    let result: unknown;
    await library.transaction(async (tx) => {
      if (!isFirst) await insertOrder(tx, tenant);
      result = await hooks.publish(paid(tenant, { subject: "order-1" }), { tx });
      expect(await storedEvents(tenant)).toEqual([]);
      if (isFirst) await insertOrder(tx, tenant);
    });
    const [event] = await storedEvents(tenant);
    expect(result).toEqual({ id: event?.id, sequence: 1, duplicate: false, deliveries: null });
    expect(await countOrders(tenant)).toBe(1);
  });

  test("that rolls back stores neither the event nor the order", async () => {
    const tenant = await newTenant(strict);
    await failing(
      library.transaction(async (tx) => {
        await insertOrder(tx, tenant);
        await hooks.publish(paid(tenant), { tx });
        throw new Error("the order failed");
      }),
    );
    expect(await storedEvents(tenant)).toEqual([]);
    expect(await countOrders(tenant)).toBe(0);
  });

  test("that rolls back to a savepoint loses only the events published after it", async () => {
    const tenant = await newTenant(strict);
    await library.transaction(async (tx) => {
      await hooks.publish(paid(tenant, { data: "before" }), { tx });
      await library.execute(tx, "savepoint attempt");
      await hooks.publish(paid(tenant, { data: "undone" }), { tx });
      await library.execute(tx, "rollback to attempt");
      await hooks.publish(paid(tenant, { data: "after" }), { tx });
    });
    expect((await storedEvents(tenant)).map(({ payload }) => String(payload))).toEqual([
      '"before"',
      '"after"',
    ]);
  });

  test("nested in another takes its event with it when it fails, and keeps it otherwise", async () => {
    const tenant = await newTenant(strict);
    await library.transaction(async (tx) => {
      await failing(
        library.nested(tx, async (inner) => {
          await insertOrder(inner, tenant);
          await hooks.publish(paid(tenant, { data: "failed" }), { tx: inner });
          throw new Error("the order failed");
        }),
      );
      await library.nested(tx, (inner) => hooks.publish(paid(tenant, { data: "inner" }), { tx: inner }));
      await hooks.publish(paid(tenant, { data: "outer" }), { tx });
    });
    expect((await storedEvents(tenant)).map(({ payload }) => String(payload))).toEqual([
      '"inner"',
      '"outer"',
    ]);
    expect(await countOrders(tenant)).toBe(0);
  });

  test("keeps the bytes of the data, and text in every language", async () => {
    const tenant = await newTenant(strict);
    const input = paid(tenant, {
      rawData: Buffer.from(delicate),
      subject: "Bestellung 1 – größer? '$1' 注文 😀",
      idempotencyKey: "Schlüssel ? \\ 'x' :v1",
      traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    });
    await library.transaction(async (tx) => {
      const first = await hooks.publish(input, { tx });
      expect(await hooks.publish(input, { tx })).toEqual({ ...first, duplicate: true });
    });
    const [event, ...others] = await storedEvents(tenant);
    expect(String(event?.payload)).toBe(delicate);
    expect(event?.traceparent).toBe(input.traceparent);
    expect(others).toEqual([]);
    const stored = await hooks.events.get(event?.id ?? "");
    expect(stored).toMatchObject({ subject: input.subject, sequence: 1 });
  });

  test("stores data of the largest size, and is not disturbed by larger data", async () => {
    const tenant = await newTenant(strict);
    await library.transaction(async (tx) => {
      await hooks.publish(paid(tenant, { rawData: ofBytes(maxPayloadBytes) }), { tx });
      for (const bytes of [maxPayloadBytes + 1, MEGABYTE - 1, MEGABYTE, MEGABYTE + 1]) {
        const larger = hooks.publish(paid(tenant, { rawData: ofBytes(bytes) }), { tx });
        await expect(larger).rejects.toMatchObject({ code: "payload_too_large", status: 413 });
      }
    });
    expect((await storedEvents(tenant)).map(({ payload }) => payload.length)).toEqual([maxPayloadBytes]);
  });

  test("numbers events in call order, even if they are not awaited", async () => {
    const tenant = await newTenant(strict);
    const numbers = [1, 2, 3, 4, 5, 6, 7, 8];
    await library.transaction(async (tx) => {
      const published = numbers.map((data) => hooks.publish(paid(tenant, { data, subject: "s" }), { tx }));
      expect((await Promise.all(published)).map(({ sequence }) => sequence)).toEqual(numbers);
    });
    expect((await storedEvents(tenant)).map(({ payload }) => Number(payload))).toEqual(numbers);
  });

  test("is independent of others that run at the same time", async () => {
    const tenant = await newTenant(strict);
    await Promise.allSettled(
      Array.from({ length: 12 }, (_, data) =>
        library.transaction(async (tx) => {
          await hooks.publish(paid(tenant, { data }), { tx });
          if (data % 3 === 0) throw new Error("the order failed");
        }),
      ),
    );
    const stored = (await storedEvents(tenant)).map(({ payload }) => Number(payload));
    expect(stored.toSorted((x, y) => x - y)).toEqual([1, 2, 4, 5, 7, 8, 10, 11]);
  });

  test("gets the reason why the database refuses an event, and stores nothing", async () => {
    const tenant = await newTenant(strict);
    const keyed = paid(tenant, { idempotencyKey: "key" });
    const { id } = await hooks.publish(keyed);
    const conflict = library.transaction((tx) => hooks.publish({ ...keyed, data: 2 }, { tx }));
    await expect(conflict).rejects.toMatchObject({
      name: "PosthornError",
      code: "idempotency_conflict",
      message: expect.stringContaining(id),
    });
    const unknown = library.transaction((tx) => strict.hooks.publish(paid(tenant), { tx }));
    await expect(unknown).rejects.toMatchObject({ code: "invalid_event", problems: [{ pointer: "/type" }] });
    expect(await storedEvents(tenant)).toHaveLength(1);
  });

  test("publishes for a user in each of the user's tenants", async () => {
    const tenants = [await newTenant(strict), await newTenant(strict)];
    const user = `user-of-${tenants[0]}`;
    for (const tenant of tenants) await hooks.members.put(tenant, user, { role: "member" });
    const forUser = { user, type: "order.paid", data: 1 };
    await library.transaction(async (tx) => {
      const { events } = await hooks.publish(forUser, { tx });
      expect(events).toMatchObject(tenants.map((tenant) => ({ tenant, sequence: null, duplicate: false })));
      expect(await hooks.publish({ ...forUser, user: "nobody" }, { tx })).toMatchObject({ events: [] });
    });
    for (const tenant of tenants) expect(await storedEvents(tenant)).toHaveLength(1);
  });

  test("publishes by a statement that the application sends", async () => {
    const tenant = await newTenant(strict);
    const event = paid(tenant, { rawData: Buffer.from('{"b":1.0, "a":[]}'), subject: "order-1" });
    const statement = await hooks.publishStatement(event);
    const rows = await library.transaction((tx) => Promise.resolve(library.send(tx, statement)));
    await failing(
      library.transaction(async (tx) => {
        await library.send(tx, await hooks.publishStatement(event));
        throw new Error("the order failed");
      }),
    );
    const stored = await storedEvents(tenant);
    expect(stored.map(({ payload }) => String(payload))).toEqual(['{"b":1.0, "a":[]}']);
    expect([...(rows as object[])]).toEqual([{ id: stored[0]?.id, duplicate: false, sequence: "1" }]);
  });

  test("is not an object that commits each statement: a clear error, and nothing is stored", async () => {
    const tenant = await newTenant(strict);
    for (const [what, tx] of Object.entries(library.mistakes)) {
      const error = {
        code: "not_a_transaction",
        message: expect.stringContaining("nothing was stored. Pass "),
      };
      for (const input of [paid(tenant), { user: "nobody", type: "order.paid", data: 1 }])
        await expect(hooks.publish(input as PublishInput, { tx }), what).rejects.toMatchObject(error);
    }
    expect(await storedEvents(tenant)).toEqual([]);
  });
});
