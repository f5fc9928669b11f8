// What a handler, a pool or a connection can do to the transaction that claim, work and done mark share.
import { HandlerTimeout, type Store, type Transactions } from "@posthorn/receiver";
import { postgresStore } from "@posthorn/receiver/postgres";
import type pg from "pg";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { gate } from "../../../../../tests/support/database-per-test.ts";
import { createPool } from "../../../../../tests/support/postgres.ts";
import {
  openDrizzle,
  openKnex,
  openKysely,
  openPool,
  openPostgres,
  openPrisma,
  type PostgresWorld,
} from "../../../../../tests/support/receiver/postgres-world.ts";
import { messageWith, ordered, terms, times } from "../../../../../tests/support/receiver/store-world.ts";

const byPg = openPostgres(openPool);
const byKnex = openPostgres(openKnex);

/** As another process would have it. */
function anotherStore({ connectionString }: PostgresWorld<unknown>, config: pg.PoolConfig = {}) {
  const pool = createPool(connectionString, config);
  onTestFinished(() => pool.end());
  return { pool, store: postgresStore(pool), transactions: transactionsOf(postgresStore(pool)) };
}

function transactionsOf<Tx>({ transactions }: Store<Tx>) {
  if (transactions === null) throw new Error("PostgreSQL has transactions.");
  return transactions;
}

describe("duplicates while the handler works", () => {
  test("do not wait for it, though there are fifty and the pool has four connections", async () => {
    const world = await byPg();
    const message = messageWith();
    const [begun, end] = [gate(), gate()];
    const first = anotherStore(world).transactions.run(message, terms, async (tx) => {
      begun.open();
      await end.opened;
      await tx.query("insert into effects (effect) values ('paid')");
    });
    await begun.opened;
    const { transactions } = anotherStore(world, { max: 4 });
    const results = await Promise.all(times(50, () => transactions.run(message, terms, async () => {})));
    expect(new Set(results.map(({ kind }) => kind))).toEqual(new Set(["running"]));
    end.open();
    expect(await first).toEqual({ kind: "worked" });
    expect(await transactions.run(message, terms, async () => {})).toEqual({ kind: "done" });
    expect(await world.effects?.read()).toEqual(["paid"]);
  });

  test("need no connection in the same process, so that a pool of one will do", async () => {
    const { transactions } = anotherStore(await byPg(), { max: 1 });
    const message = messageWith();
    await transactions.run(message, terms, async () => {
      expect((await transactions.run(message, terms, async () => {})).kind).toBe("running");
      const forged = messageWith({ id: message.id, text: "{}" });
      expect(await transactions.run(forged, terms, async () => {})).toEqual({ kind: "other_body" });
    });
  });

  test("are told `running` by a claim and by the inbox of another process too", async () => {
    const world = await byPg();
    const message = messageWith();
    await transactionsOf(world.store).run(message, terms, async () => {
      const { store } = anotherStore(world);
      expect((await store.claim(message, terms)).kind).toBe("running");
      expect((await store.accept(message, terms)).kind).toBe("running");
    });
  });

  test("of another message of its subject wait in the inbox, and are woken by its commit", async () => {
    const world = await byPg();
    const { store } = world;
    const nth = (sequence: number) => messageWith({ subject: "order/1", sequence });
    const second = nth(2);
    await store.accept(second, terms);
    await transactionsOf(store).run(nth(1), ordered, async () => {
      expect(await store.claimDue(10, ordered)).toEqual([]);
    });
    // it had to be asked again in a second; the gap is closed now
    await world.makeOlder(1_001);
    expect(await store.claimDue(10, ordered)).toMatchObject([{ message: second }]);
  });
});

test("a handled delivery costs a begin, a claim and a commit", async () => {
  const world = await byPg();
  const { pool, store } = anotherStore(world, { max: 1 });
  const sent: string[] = [];
  pool.on("connect", (client) => {
    const query = client.query.bind(client) as (...args: unknown[]) => unknown;
    Object.assign(client, {
      query: (text: string, ...rest: unknown[]) => {
        sent.push(text.trim().split(/\s/, 1)[0] as string);
        return query(text, ...rest);
      },
    });
  });
  await transactionsOf(store).run(messageWith(), terms, async () => {});
  // the last one is checked and committed together
  expect(sent).toEqual(["begin", "select", "select"]);
});

describe("a pool of four", () => {
  test("is enough for twelve events at once whose handlers query the pool beside their transaction", async () => {
    const { pool, transactions } = anotherStore(await byPg(), { max: 4 });
    const work = async () => void (await pool.query("insert into effects (effect) values ('paid')"));
    const results = await Promise.all(times(12, () => transactions.run(messageWith(), terms, work)));
    expect(results).toEqual(times(12, () => ({ kind: "worked" })));
  });

  test("has room for three transactions, and for as many as were asked for", async () => {
    const { pool, transactions } = anotherStore(await byPg(), { max: 4 });
    expect(await mostAtOnce(transactions)).toBe(3);
    expect(await mostAtOnce(transactionsOf(postgresStore(pool, { maxTransactions: 1 })))).toBe(1);
  });

  test("turns away what could not begin within ten seconds, and forgets nothing of what waits runWithoutTimeout", async () => {
    const { store, transactions } = anotherStore(await byPg(), { max: 2 });
    await store.accept(messageWith(), terms);
    const [claim] = await store.claimDue(1, terms);
    if (claim === undefined) throw new Error("nothing taken");
    const [begun, end] = [gate(), gate()];
    const first = transactions.run(messageWith(), terms, async () => {
      begun.open();
      await end.opened;
    });
    await begun.opened;
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const patient = transactions.finish(claim, async () => {});
    const turnedAway = expect(transactions.run(messageWith(), terms, async () => {})).rejects.toThrow(
      "All 1 transactions were in use for 10000 ms. Increase the pool size, or raise maxTransactions.",
    );
    vi.advanceTimersByTime(10_000);
    await turnedAway;
    end.open();
    expect(await first).toEqual({ kind: "worked" });
    expect(await patient).toBe(true);
  });
});

/** Of twelve events at once. */
async function mostAtOnce(transactions: Transactions<unknown>): Promise<number> {
  let [running, most] = [0, 0];
  const work = async (tx: unknown) => {
    running += 1;
    most = Math.max(most, running);
    await (tx as pg.PoolClient).query("select pg_sleep(0.02)");
    running -= 1;
  };
  await Promise.all(times(12, () => transactions.run(messageWith(), terms, work)));
  return most;
}

describe("a handler that", () => {
  test("committed is refused, and told why", async () => {
    const { store } = await byPg();
    const ends = (statement: string) =>
      transactionsOf(store).run(messageWith(), terms, async (tx) => void (await tx.query(statement)));
    await expect(ends("commit")).rejects.toThrow(/ended its transaction/);
    await expect(ends("rollback")).rejects.toThrow(/ended its transaction/);
    await expect(ends("rollback; begin; insert into effects (effect) values ('x')")).rejects.toThrow(/ended/);
  });

  test("rolled back and began anew leaves neither its writes nor a done mark", async () => {
    const { store, effects } = await byPg();
    const message = messageWith();
    const anew = transactionsOf(store).run(message, terms, async (tx) => {
      await tx.query("rollback");
      await tx.query("begin");
      await effects?.write(tx, "stray");
    });
    await expect(anew).rejects.toThrow(/return to commit, throw to roll back/);
    expect(await effects?.read()).toEqual([]);
    expect((await store.claim(message, terms)).kind).toBe("claimed");
  });

  test("throws an error of its own gets exactly that, whatever its cause", async () => {
    const { store } = await byPg();
    const own = new Error("not now", { cause: Object.assign(new Error("aborted"), { code: "25P02" }) });
    const failing = transactionsOf(store).run(messageWith(), terms, async () => {
      throw own;
    });
    await expect(failing).rejects.toBe(own);
  });
});

describe.each([
  ["pg", byPg],
  ["Drizzle", openPostgres(openDrizzle)],
  ["Kysely", openPostgres(openKysely)],
  ["Knex", byKnex],
  ["Prisma", openPostgres(openPrisma)],
] as [string, () => Promise<PostgresWorld<unknown>>][])("by %s", (_, open) => {
  test("a handler that swallowed an error of PostgreSQL is not acknowledged, and told why", async () => {
    const { store, effects, execute } = await open();
    const message = messageWith();
    const swallowing = transactionsOf(store).run(message, terms, async (tx) => {
      await effects?.write(tx, "half");
      await execute(tx, "select 1 / 0").then(undefined, () => {});
    });
    await expect(swallowing).rejects.toThrow(/caught a PostgreSQL error and continued/);
    expect(await effects?.read()).toEqual([]);
    expect((await store.claim(message, terms)).kind).toBe("claimed");
  });

  test("a savepoint lets a handler go on after an error", async () => {
    const { store, effects, execute } = await open();
    await transactionsOf(store).run(messageWith(), terms, async (tx) => {
      await effects?.write(tx, "paid");
      await execute(tx, "savepoint attempt");
      await execute(tx, "select 1 / 0").then(undefined, () => {});
      await execute(tx, "rollback to attempt");
    });
    expect(await effects?.read()).toEqual(["paid"]);
  });

  test("a handler that ended the transaction is not acknowledged", async () => {
    const { store, execute } = await open();
    const message = messageWith();
    const ending = transactionsOf(store).run(
      message,
      terms,
      async (tx) => void (await execute(tx, "rollback")),
    );
    await expect(ending).rejects.toThrow(/ended its transaction/);
    expect((await store.claim(message, terms)).kind).toBe("claimed");
  });

  test("what a handler commits by itself is no done mark: the next delivery is handled, with a try more", async () => {
    const { store, effects, execute } = await open();
    const [half, anew] = [messageWith(), messageWith({ subject: "order/1", sequence: 1 })];
    const committing = transactionsOf(store).run(half, terms, async (tx) => {
      await effects?.write(tx, "half");
      await execute(tx, "commit");
      throw new Error("second half failed");
    });
    await expect(committing).rejects.toThrow(/ended its transaction.* second half failed/);
    const beginning = transactionsOf(store).run(anew, ordered, async (tx) => {
      await execute(tx, "commit");
      await execute(tx, "begin");
      await effects?.write(tx, "undone");
    });
    await expect(beginning).rejects.toThrow(/ended its transaction/);
    expect(await effects?.read()).toEqual(["half"]);

    const failure = { error: "half", next: { kind: "release" } } as const;
    expect(await transactionsOf(store).recordFailure(half, failure, terms)).toBe(true);
    for (const message of [half, anew]) {
      const handled = transactionsOf(store).run(message, ordered, async (tx, { tries }) => {
        expect(tries).toBe(1);
        await effects?.write(tx, "whole");
      });
      expect(await handled).toEqual({ kind: "worked" });
      expect(await transactionsOf(store).run(message, ordered, async () => {})).toEqual({ kind: "done" });
    }
    expect(await effects?.read()).toEqual(["half", "whole", "whole"]);
  });

  test("what a handler of the inbox commits by itself is no done mark either, and its claim can be failed", async () => {
    const { store, effects, execute } = await open();
    await store.accept(messageWith(), terms);
    const [claim] = await store.claimDue(1, terms);
    if (claim === undefined) throw new Error("nothing taken");
    const committing = transactionsOf(store).finish(claim, async (tx) => {
      await effects?.write(tx, "half");
      await execute(tx, "commit");
      throw new Error("second half failed");
    });
    await expect(committing).rejects.toThrow(/ended its transaction.* second half failed/);
    expect(await store.fail(claim, { error: "half", next: { kind: "retry", afterMs: 0 } })).toBe(true);
    expect(await store.claimDue(1, terms)).toMatchObject([{ message: claim.message, tries: 1 }]);
  });

  test("a conflict at the commit is tried again with the handler", async () => {
    const { store, effects, execute } = await open();
    const message = messageWith();
    let runs = 0;
    const result = await transactionsOf(store).run(message, terms, async (tx) => {
      runs += 1;
      await effects?.write(tx, `run ${runs}`);
      if (runs === 1)
        await execute(tx, "do $$ begin raise exception 'again' using errcode = '40001'; end $$");
    });
    expect(result).toEqual({ kind: "worked" });
    expect(await effects?.read()).toEqual(["run 2"]);
  });
});

test.each(["commit", "rollback"] as const)("a handler that calls %s of Knex is told why not", async (end) => {
  const { store } = await byKnex();
  const ending = transactionsOf(store).run(messageWith(), terms, async (tx) => void (await tx[end]()));
  await expect(ending).rejects.toThrow(/ended its transaction/);
});

describe("a connection that is lost", () => {
  test("in the handler undoes everything, and the process lives on", async () => {
    const world = await byPg();
    const message = messageWith();
    const lost = transactionsOf(world.store).run(message, terms, async (tx) => {
      await world.effects?.write(tx, "half");
      const { rows } = await tx.query("select pg_backend_pid() as pid");
      await anotherStore(world).pool.query("select pg_terminate_backend($1)", [rows[0].pid]);
    });
    await expect(lost).rejects.toThrow();
    expect(await world.effects?.read()).toEqual([]);
    expect(await transactionsOf(world.store).run(message, terms, async () => {})).toEqual({ kind: "worked" });
  });

  test("before the answer to the commit came is an error, and a noted failure leaves what was committed alone", async () => {
    const world = await byPg();
    const { pool } = anotherStore(world);
    const released: unknown[] = [];
    const store = postgresStore({
      query: pool.query.bind(pool) as never,
      connect: async () => answeringNoCommit(await pool.connect(), released),
    });
    const message = messageWith();
    const unknown = transactionsOf(store).run(message, terms, async (tx) => {
      await tx.query("insert into effects (effect) values ('paid')");
    });
    await expect(unknown).rejects.toThrow("Connection terminated");
    expect(released).toEqual([expect.any(Error)]);
    const failure = { error: "Connection terminated", next: { kind: "dead" } } as const;
    expect(await transactionsOf(store).recordFailure(message, failure, terms)).toBe(false);
    expect(await transactionsOf(world.store).run(message, terms, async () => {})).toEqual({ kind: "done" });
    expect(await world.effects?.read()).toEqual(["paid"]);
  });
});

test("a handler given up in the middle of a statement is not waited for, and its connection is nobody's any more", async () => {
  const world = await byPg();
  const { pool, transactions } = anotherStore(world, { max: 2 });
  let statement: Promise<unknown> | undefined;
  const run = transactions.run(messageWith(), terms, async (tx) => {
    await tx.query("insert into effects (effect) values ('half')");
    statement = tx.query("select pg_sleep(1)").then(null, (error: Error) => error.message);
    throw new HandlerTimeout("The handler took more than 60000 ms.");
  });
  await expect(run).rejects.toBeInstanceOf(HandlerTimeout);
  expect(pool.totalCount).toBe(0);
  expect(await statement).toMatch("Connection terminated");
  expect(await world.effects?.read()).toEqual([]);
});

test("a handler given up while it waits for something else has let go of its message when that is to be noted", async () => {
  const { transactions, pool } = anotherStore(await byPg());
  const message = messageWith();
  for (const tries of times(10, (index) => index)) {
    // so that there is a connection to note it by at once
    await Promise.all(times(3, () => pool.query("select pg_sleep(0.01)")));
    const run = transactions.run(message, terms, async (_, claim) => {
      expect(claim.tries).toBe(tries);
      throw new HandlerTimeout("The handler took more than 60000 ms.");
    });
    await expect(run).rejects.toBeInstanceOf(HandlerTimeout);
    const failure = { error: "too slow", next: { kind: "release" } } as const;
    expect(await transactions.recordFailure(message, failure, terms)).toBe(true);
  }
});

test("a failure is not noted, and holds no connection for long, while a statement of a handler given up has the row", async () => {
  const world = await byPg();
  const { store, transactions, pool } = anotherStore(world);
  const message = messageWith();
  await store.accept(message, terms);
  const [claim] = await store.claimDue(1, terms);
  if (claim === undefined) throw new Error("It was not taken.");
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

/** It is committed, but nobody hears so. */
function answeringNoCommit(client: pg.PoolClient, released: unknown[]) {
  let isLost = false;
  return {
    on: client.on.bind(client),
    off: client.off.bind(client),
    async query(text: string, values?: unknown[]): Promise<unknown> {
      if (isLost) throw new Error("Connection terminated");
      const result = await client.query(text, values);
      isLost = text.endsWith("commit");
      if (isLost) throw new Error("Connection terminated");
      return result;
    },
    release(error?: Error | boolean) {
      released.push(error);
      client.release(error);
    },
  };
}

describe("while a worker finishes a message in its transaction", () => {
  test("its lease can be renewed", async () => {
    const { store } = await byPg();
    await store.accept(messageWith(), terms);
    const [claim] = await store.claimDue(1, terms);
    if (claim === undefined) throw new Error("nothing taken");
    const isDone = await transactionsOf(store).finish(claim, async () => {
      expect(await store.renew(claim, 60_000)).toBe(true);
    });
    expect(isDone).toBe(true);
  });

  test("a renewal that came after the lease was over counts when the work is undone: it can be failed", async () => {
    const world = await byPg();
    const { store } = world;
    await store.accept(messageWith(), terms);
    const [claim] = await store.claimDue(1, { ...terms, leaseMs: 100 });
    if (claim === undefined) throw new Error("nothing taken");
    const failing = transactionsOf(store).finish(claim, async () => {
      await expect.poll(() => isLeaseOver(world.pool)).toBe(true);
      expect(await store.renew(claim, 60_000)).toBe(true);
      throw new Error("shop closed");
    });
    await expect(failing).rejects.toThrow("shop closed");
    expect(await store.fail(claim, { error: "shop closed", next: { kind: "dead" } })).toBe(true);
    expect(await store.deadLetters.count()).toBe(1);
  });

  test("nobody takes, claims or waits for it, though its lease is over", async () => {
    const world = await byPg();
    const { store } = world;
    const message = messageWith();
    await store.accept(message, terms);
    const [claim] = await store.claimDue(1, { ...terms, leaseMs: 300 });
    if (claim === undefined) throw new Error("nothing taken");
    const isDone = await transactionsOf(store).finish(claim, async () => {
      await expect.poll(() => isLeaseOver(world.pool)).toBe(true);
      const other = anotherStore(world);
      expect(await other.store.claimDue(1, terms)).toEqual([]);
      expect((await other.store.claim(message, terms)).kind).toBe("running");
      expect((await other.transactions.run(message, terms, async () => {})).kind).toBe("running");
      expect(await other.store.accept(message, terms)).toEqual({ kind: "waiting" });
    });
    expect(isDone).toBe(true);
  });
});

async function isLeaseOver(pool: pg.Pool): Promise<boolean> {
  const { rows } = await pool.query(
    "select ready_at < clock_timestamp() as over from posthorn_receiver.messages",
  );
  return rows[0].over;
}
