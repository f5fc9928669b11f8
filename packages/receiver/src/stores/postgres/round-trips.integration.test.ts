// The messages between the store and PostgreSQL in transactional mode: how many there are, what they write, and what happens if the
// connection is lost between a message and its reply.
import {
  createReceiver,
  type Message,
  type Store,
  standardWebhooks,
  type Transactions,
} from "@posthorn/receiver";
import { postgresStore } from "@posthorn/receiver/postgres";
import type pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { startChaosProxy } from "../../../../../tests/support/database/chaos-proxy.ts";
import { createPool } from "../../../../../tests/support/database/postgres.ts";
import { openPool, openPostgres } from "../../../../../tests/support/receiver/postgres-world.ts";
import { NOW, secret, signedDelivery } from "../../../../../tests/support/receiver/signed-delivery.ts";
import { claimAccepted, defaults, messageWith } from "../../../../../tests/support/receiver/store-world.ts";

const open = openPostgres(openPool);

function storeAt(connectionString: string, config: pg.PoolConfig = {}) {
  const pool = createPool(connectionString, config);
  onTestFinished(() => pool.end());
  const store = postgresStore(pool);
  return { pool, store, transactions: store.transactions as NonNullable<typeof store.transactions> };
}

/** Records the statements that are sent. */
async function openRecording() {
  const { connectionString } = await open();
  const opened = storeAt(connectionString, { max: 1 });
  const sent: string[] = [];
  opened.pool.on("connect", (client) => {
    const query = client.query.bind(client) as (...args: unknown[]) => unknown;
    Object.assign(client, {
      query: (text: string, ...rest: unknown[]) => {
        sent.push(text.replaceAll(/\s+/g, " "));
        return query(text, ...rest);
      },
    });
  });
  return { ...opened, sent };
}

const claim = expect.stringMatching(/^begin; call \S+claim_in_transaction\([^;]+$/);
const completion = expect.stringMatching(/^call \S+finish\w*\([^;]+; commit$/);

describe("round trips", () => {
  test("a delivery needs two besides the handler's: begin and claim, completion and commit", async () => {
    const { transactions, sent } = await openRecording();
    await transactions.run(messageWith(), defaults, async (tx) => {
      await tx.query("select 'handler'");
    });
    expect(sent).toEqual([claim, "select 'handler'", completion]);
  });

  test("a duplicate needs two", async () => {
    const { transactions, sent } = await openRecording();
    const message = messageWith();
    await transactions.run(message, defaults, async () => {});
    expect(await transactions.run(message, defaults, async () => {})).toEqual({ kind: "done" });
    expect(sent).toEqual([claim, completion, claim, "commit"]);
  });

  test("work from the inbox needs two besides the handler's", async () => {
    const { store, transactions, sent } = await openRecording();
    const accepted = await claimAccepted(store, messageWith());
    sent.length = 0;
    expect(await transactions.finish(accepted, async () => {})).toBe(true);
    expect(sent).toEqual([expect.stringMatching(/^begin; select \S+hold\([^;]+$/), completion]);
  });
});

test("a new message is written once, when it is done; one that fails is not written at all", async () => {
  const { pool, transactions } = await open();
  const failing = transactions.run(messageWith(), defaults, () => Promise.reject(new Error("shop closed")));
  await expect(failing).rejects.toThrow("shop closed");
  await transactions.run(messageWith(), defaults, async () => {
    const { rows } = await pool.query("select count(*)::integer as count from posthorn_receiver.messages");
    expect(rows).toEqual([{ count: 0 }]);
  });
  const { rows } = await pool.query("select ctid::text as place, state from posthorn_receiver.messages");
  // the first row of the table, so there is no dead one before it
  expect(rows).toEqual([{ place: "(0,1)", state: "done" }]);
});

describe("a connection lost", () => {
  async function openProxied() {
    const world = await open();
    const proxy = await startChaosProxy(world.connectionString);
    onTestFinished(() => proxy.close());
    return { world, proxy, ...storeAt(proxy.connectionString) };
  }

  /** PostgreSQL releases the locks of a lost connection when it notices. */
  const runAgain = (transactions: Transactions<pg.PoolClient>, message: Message) =>
    expect.poll(() => transactions.run(message, defaults, async () => {}), { timeout: 10_000 });

  test("before the reply to the claim is 503, does not run the handler and does not count as its failure", async () => {
    const { world, proxy, store } = await openProxied();
    const failures: number[] = [];
    const receiverOn = (used: Store<pg.PoolClient>) =>
      createReceiver({
        sources: [standardWebhooks({ secrets: [secret] })],
        store: used,
        clock: () => NOW,
        onFailure: null,
      }).fallback((_, context) => void failures.push(context.failures));
    const isLost = proxy.loseNextReply("claim_in_transaction");
    const delivery = await signedDelivery();
    const response = await receiverOn(store).receive(delivery);
    expect(response).toMatchObject({ status: 503, headers: { "retry-after": "10" } });
    await isLost;
    const next = receiverOn(world.store);
    await expect.poll(async () => (await next.receive(delivery)).status, { timeout: 10_000 }).toBe(200);
    expect(failures).toEqual([0]);
  });

  test("between the claim and the completion rolls the handler's writes back", async () => {
    const { world, proxy, transactions } = await openProxied();
    const message = messageWith();
    const lost = transactions.run(message, defaults, async (tx) => {
      await tx.query("insert into effects (effect) values ('half')");
      proxy.cut();
    });
    await expect(lost).rejects.toThrow();
    await runAgain(world.transactions, message).toEqual({ kind: "worked" });
    expect(await world.effects.read()).toEqual([]);
  });

  test("before the reply to the commit is an error, and the next delivery is a duplicate", async () => {
    const { world, proxy, transactions } = await openProxied();
    const message = messageWith();
    const isLost = proxy.loseNextReply("; commit");
    const unknown = transactions.run(message, defaults, async (tx) => {
      await tx.query("insert into effects (effect) values ('paid')");
    });
    await expect(unknown).rejects.toThrow(/terminated|ECONNRESET/);
    await isLost;
    await runAgain(world.transactions, message).toEqual({ kind: "done" });
    expect(await world.effects.read()).toEqual(["paid"]);
  });
});
