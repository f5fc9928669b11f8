import {
  createReceiver,
  HandlerTimeout,
  type Store,
  standardWebhooks,
  type Transactions,
} from "@posthorn/receiver";
import { postgresStore } from "@posthorn/receiver/postgres";
import type pg from "pg";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createPool } from "../../../../../tests/support/database/postgres.ts";
import { gate } from "../../../../../tests/support/gate.ts";
import {
  openDrizzle,
  openKnex,
  openKysely,
  openPool,
  openPostgres,
  openPrisma,
  type PostgresWorld,
} from "../../../../../tests/support/receiver/postgres-world.ts";
import { NOW, secret, signedDelivery } from "../../../../../tests/support/receiver/signed-delivery.ts";
import {
  claimAccepted,
  defaults,
  finishUnderLease,
  messageWith,
  ordered,
  times,
} from "../../../../../tests/support/receiver/store-world.ts";

const byPg = openPostgres(openPool);
const byKnex = openPostgres(openKnex);

/** As another process would have it. */
function anotherStore({ connectionString }: PostgresWorld<unknown>, config: pg.PoolConfig = {}) {
  const pool = createPool(connectionString, config);
  onTestFinished(() => pool.end());
  const store = postgresStore(pool);
  return { pool, store, transactions: transactionsOf(store) };
}

function transactionsOf<Tx>({ transactions }: Store<Tx>) {
  return transactions as Transactions<Tx>;
}

describe("duplicates while the handler works", () => {
  test("do not wait for it, even fifty with a pool of four connections", async () => {
    const world = await byPg();
    const message = messageWith();
    const [begun, end] = [gate(), gate()];
    const first = anotherStore(world).transactions.run(message, defaults, async (tx) => {
      begun.open();
      await end.opened;
      await tx.query("insert into effects (effect) values ('paid')");
    });
    await begun.opened;
    const { store, transactions } = anotherStore(world, { max: 4 });
    expect((await store.claim(message, defaults)).kind).toBe("running");
    expect((await store.accept(message, defaults)).kind).toBe("running");
    const results = await Promise.all(times(50, () => transactions.run(message, defaults, async () => {})));
    expect(new Set(results.map(({ kind }) => kind))).toEqual(new Set(["running"]));
    end.open();
    expect(await first).toEqual({ kind: "worked" });
    expect(await transactions.run(message, defaults, async () => {})).toEqual({ kind: "done" });
    expect(await world.effects.read()).toEqual(["paid"]);
  });

  test("need no connection in the same process, so a pool of one is enough", async () => {
    const { transactions } = anotherStore(await byPg(), { max: 1 });
    const message = messageWith();
    await transactions.run(message, defaults, async () => {
      expect((await transactions.run(message, defaults, async () => {})).kind).toBe("running");
    });
  });

  test("of its subject wait in the inbox, and are woken by its commit", async () => {
    const world = await byPg();
    const { store } = world;
    const nth = (sequence: number) => messageWith({ subject: "order/1", sequence });
    const second = nth(2);
    await store.accept(second, defaults);
    await transactionsOf(store).run(nth(1), ordered, async () => {
      expect(await store.claimDue(10, ordered)).toEqual([]);
    });
    // it would have been polled in a second; the gap is closed now
    await world.makeOlder(1_001);
    expect(await store.claimDue(10, ordered)).toMatchObject([{ message: second }]);
  });
});

describe("a pool of four", () => {
  test("runs three transactions at once, or `maxTransactions`, whose handlers can query the pool", async () => {
    const { pool, transactions } = anotherStore(await byPg(), { max: 4 });
    expect(await mostAtOnce(transactions, pool)).toBe(3);
    expect(await mostAtOnce(transactionsOf(postgresStore(pool, { maxTransactions: 1 })), pool)).toBe(1);
  });

  test("rejects deliveries that could not begin within ten seconds, and lets claimed messages wait", async () => {
    const { store, transactions } = anotherStore(await byPg(), { max: 2 });
    const claim = await claimAccepted(store, messageWith());
    const [begun, end] = [gate(), gate()];
    const first = transactions.run(messageWith(), defaults, async () => {
      begun.open();
      await end.opened;
    });
    await begun.opened;
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const patient = transactions.finish(claim, async () => {});
    const turnedAway = expect(transactions.run(messageWith(), defaults, async () => {})).rejects.toThrow(
      "All 1 transactions were in use for 10000 ms. Increase the pool size, or raise maxTransactions.",
    );
    vi.advanceTimersByTime(10_000);
    await turnedAway;
    end.open();
    expect(await first).toEqual({ kind: "worked" });
    expect(await patient).toBe(true);
  });
});

/** The highest number of concurrent transactions for twelve events. */
async function mostAtOnce(transactions: Transactions<unknown>, pool: pg.Pool): Promise<number> {
  let [running, most] = [0, 0];
  const work = async () => {
    running += 1;
    most = Math.max(most, running);
    await pool.query("select pg_sleep(0.02)");
    running -= 1;
  };
  await Promise.all(times(12, () => transactions.run(messageWith(), defaults, work)));
  return most;
}

test("an error of the handler is rethrown unchanged, whatever its cause", async () => {
  const { transactions } = await byPg();
  const own = new Error("not now", { cause: Object.assign(new Error("aborted"), { code: "25P02" }) });
  const failing = transactions.run(messageWith(), defaults, () => Promise.reject(own));
  await expect(failing).rejects.toBe(own);
});

describe.each([
  ["pg", byPg],
  ["Drizzle", openPostgres(openDrizzle)],
  ["Kysely", openPostgres(openKysely)],
  ["Knex", byKnex],
  ["Prisma", openPostgres(openPrisma)],
] as [string, () => Promise<PostgresWorld<unknown>>][])("by %s", (_, open) => {
  test("a handler that swallows an error of PostgreSQL is not acknowledged, and the error says why", async () => {
    const { store, effects, execute, transactions } = await open();
    const message = messageWith();
    const swallowing = transactions.run(message, defaults, async (tx) => {
      await effects.write(tx, "half");
      await execute(tx, "select 1 / 0").then(undefined, () => {});
    });
    await expect(swallowing).rejects.toThrow(/caught a PostgreSQL error and continued/);
    expect(await effects.read()).toEqual([]);
    expect((await store.claim(message, defaults)).kind).toBe("claimed");
  });

  test("a handler with a savepoint can continue after an error", async () => {
    const { effects, execute, transactions } = await open();
    await transactions.run(messageWith(), defaults, async (tx) => {
      await effects.write(tx, "paid");
      await execute(tx, "savepoint attempt");
      await execute(tx, "select 1 / 0").then(undefined, () => {});
      await execute(tx, "rollback to attempt");
    });
    expect(await effects.read()).toEqual(["paid"]);
  });

  test("a handler that ended the transaction is not acknowledged", async () => {
    const { store, execute, transactions } = await open();
    const message = messageWith();
    const ending = transactions.run(message, defaults, async (tx) => void (await execute(tx, "rollback")));
    await expect(ending).rejects.toThrow(/ended its transaction/);
    expect((await store.claim(message, defaults)).kind).toBe("claimed");
  });

  test("a handler that commits does not complete its message: the next delivery is handled, with one more failure", async () => {
    const { effects, execute, transactions } = await open();
    const [half, anew] = [messageWith(), messageWith({ subject: "order/1", sequence: 1 })];
    const committing = transactions.run(half, defaults, async (tx) => {
      await effects.write(tx, "half");
      await execute(tx, "commit");
      throw new Error("second half failed");
    });
    await expect(committing).rejects.toThrow(/ended its transaction.* second half failed/);
    const beginning = transactions.run(anew, ordered, async (tx) => {
      await execute(tx, "commit");
      await execute(tx, "begin");
      await effects.write(tx, "undone");
    });
    await expect(beginning).rejects.toThrow(/ended its transaction/);
    expect(await effects.read()).toEqual(["half"]);

    const failure = { error: "half", next: { kind: "release" } } as const;
    expect(await transactions.recordFailure(half, failure, defaults)).toBe(true);
    for (const message of [half, anew]) {
      const handled = transactions.run(message, ordered, async (tx, { failures }) => {
        expect(failures).toBe(1);
        await effects.write(tx, "whole");
      });
      expect(await handled).toEqual({ kind: "worked" });
      expect(await transactions.run(message, ordered, async () => {})).toEqual({ kind: "done" });
    }
    expect(await effects.read()).toEqual(["half", "whole", "whole"]);
  });

  test("a handler of the inbox that commits does not complete its message, and its claim can be failed", async () => {
    const { store, effects, execute, transactions } = await open();
    const claim = await claimAccepted(store, messageWith());
    const committing = transactions.finish(claim, async (tx) => {
      await effects.write(tx, "half");
      await execute(tx, "commit");
      throw new Error("second half failed");
    });
    await expect(committing).rejects.toThrow(/ended its transaction.* second half failed/);
    expect(await store.fail(claim, { error: "half", next: { kind: "retry", afterMs: 0 } })).toBe(true);
    expect(await store.claimDue(1, defaults)).toMatchObject([{ message: claim.message, failures: 1 }]);
  });

  test("a handler's tx throws after the handler has ended", async () => {
    const { store, execute, effects } = await open();
    const receiver = receiverOn(store);
    let kept: unknown;
    receiver.fallback(async (_, { tx }) => {
      kept = tx;
      await execute(tx, "insert into effects (effect) values ('in time')");
    });
    expect((await receiver.receive(await signedDelivery())).status).toBe(200);
    const late = async () => await execute(kept, "insert into effects (effect) values ('late')");
    await expect(late()).rejects.toThrow("The handler has ended, and so has its transaction");
    expect(await effects.read()).toEqual(["in time"]);
  });

  test("after a conflict at the commit the handler runs again", async () => {
    const { effects, execute, transactions } = await open();
    const message = messageWith();
    let runs = 0;
    const result = await transactions.run(message, defaults, async (tx) => {
      runs += 1;
      await effects.write(tx, `run ${runs}`);
      if (runs === 1)
        await execute(tx, "do $$ begin raise exception 'again' using errcode = '40001'; end $$");
    });
    expect(result).toEqual({ kind: "worked" });
    expect(await effects.read()).toEqual(["run 2"]);
  });
});

function receiverOn<Tx>(store: Store<Tx>, failures: unknown[] = []) {
  return createReceiver({
    sources: [standardWebhooks({ secrets: [secret] })],
    store,
    clock: () => NOW,
    onFailure: ({ error }) => failures.push(error),
  });
}

test("a handler that releases the connection of pg fails: another event would get it in mid-transaction", async () => {
  const { store, effects } = await byPg();
  const failures: unknown[] = [];
  const receiver = receiverOn(store, failures);
  receiver.fallback(async (_, { tx }) => {
    await tx.query("insert into effects (effect) values ('half')");
    tx.release();
  });
  expect((await receiver.receive(await signedDelivery())).status).toBe(500);
  expect(failures).toMatchObject([{ message: expect.stringContaining("A handler called tx.release()") }]);
  expect(await effects.read()).toEqual([]);
});

test.each(["commit", "rollback"] as const)(
  "the error for a handler that calls %s of Knex says why not",
  async (end) => {
    const { transactions } = await byKnex();
    const ending = transactions.run(messageWith(), defaults, async (tx) => void (await tx[end]()));
    await expect(ending).rejects.toThrow(/ended its transaction/);
  },
);

test("a handler that times out during a statement is not waited for, and its connection is closed", async () => {
  const world = await byPg();
  const { pool, transactions } = anotherStore(world, { max: 2 });
  let statement: Promise<unknown> | undefined;
  let pid = 0;
  const run = transactions.run(messageWith(), defaults, async (tx) => {
    ({ pid } = (await tx.query("select pg_backend_pid() as pid")).rows[0]);
    await tx.query("insert into effects (effect) values ('half')");
    statement = tx.query("select pg_sleep(60)").then(null, (error: Error) => error.message);
    throw new HandlerTimeout("The handler took more than 60000 ms.");
  });
  await expect(run).rejects.toBeInstanceOf(HandlerTimeout);
  expect(pool.totalCount).toBe(0);
  expect(await statement).toMatch("Connection terminated");
  expect(await world.effects.read()).toEqual([]);
  // PostgreSQL does not notice the closed connection before the statement ends
  await world.pool.query("select pg_terminate_backend($1)", [pid]);
});

test("a handler that times out between statements has released its message when the failure is recorded", async () => {
  const { transactions, pool } = anotherStore(await byPg());
  const message = messageWith();
  for (const failures of times(10, (index) => index)) {
    // so that there is a connection to record it at once
    await Promise.all(times(3, () => pool.query("select pg_sleep(0.01)")));
    const run = transactions.run(message, defaults, async (_, claim) => {
      expect(claim.failures).toBe(failures);
      throw new HandlerTimeout("The handler took more than 60000 ms.");
    });
    await expect(run).rejects.toBeInstanceOf(HandlerTimeout);
    const failure = { error: "too slow", next: { kind: "release" } } as const;
    expect(await transactions.recordFailure(message, failure, defaults)).toBe(true);
  }
});

test("a failure is not recorded, within a second, while a statement of a timed-out handler locks the row", async () => {
  const world = await byPg();
  const { store, transactions, pool } = anotherStore(world);
  const claim = await claimAccepted(store, messageWith());
  let pid = 0;
  const finishing = transactions.finish(claim, async (tx) => {
    ({ pid } = (await tx.query("select pg_backend_pid() as pid")).rows[0]);
    tx.query("select pg_sleep(60)").catch(() => {});
    throw new HandlerTimeout("The handler took more than 60000 ms.");
  });
  await expect(finishing).rejects.toBeInstanceOf(HandlerTimeout);
  expect(await store.fail(claim, { error: "too slow", next: { kind: "dead" } })).toBe(false);
  await pool.query("select pg_terminate_backend($1)", [pid]);
  await expect
    .poll(() => store.fail(claim, { error: "too slow", next: { kind: "dead" } }), { timeout: 10_000 })
    .toBe(true);
});

test("no other process claims or waits for a message that a worker finishes after its lease expired", async () => {
  const world = await byPg();
  let hasWorked = false;
  await finishUnderLease(world.store, 300, async (_tx, { message }) => {
    await expect.poll(() => isLeaseOver(world.pool, message.id)).toBe(true);
    const other = anotherStore(world);
    expect(await other.store.claimDue(1, defaults)).toEqual([]);
    expect((await other.store.claim(message, defaults)).kind).toBe("running");
    expect((await other.transactions.run(message, defaults, async () => {})).kind).toBe("running");
    expect(await other.store.accept(message, defaults)).toEqual({ kind: "waiting" });
    hasWorked = true;
  });
  expect(hasWorked).toBe(true);
});

async function isLeaseOver(pool: pg.Pool, id: string): Promise<boolean> {
  const over = "select ready_at < clock_timestamp() as over from posthorn_receiver.messages where id = $1";
  return (await pool.query(over, [id])).rows[0].over;
}
