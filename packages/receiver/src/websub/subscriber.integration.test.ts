// The subscriber on the store in PostgreSQL, through every library, and through kills.
import { createHmac } from "node:crypto";
import { createReceiver, type Store } from "@posthorn/receiver";
import { postgresStore } from "@posthorn/receiver/postgres";
import { createSubscriber } from "@posthorn/receiver/websub";
import { describe, expect, onTestFinished, test } from "vitest";
import { gate } from "../../../../tests/support/database-per-test.ts";
import { isQuick } from "../../../../tests/support/matrix.ts";
import { createPool } from "../../../../tests/support/postgres.ts";
import {
  openDrizzle,
  openKnex,
  openKysely,
  openPool,
  openPostgres,
  openPrisma,
  type PostgresWorld,
} from "../../../../tests/support/receiver/postgres-world.ts";
import { startTestHub } from "../../../../tests/support/receiver/websub/hub.ts";
import { startSubscriberProcess } from "../../../../tests/support/receiver/websub/subscriber-process.ts";
import {
  openFollowing,
  type SubscriptionWorld,
  subscriberSuite,
} from "../../../../tests/support/receiver/websub/suite.ts";

const DAY_MS = 86_400_000;

async function emptied<Tx>(open: () => Promise<PostgresWorld<Tx>>): Promise<PostgresWorld<Tx>> {
  const world = await open();
  await world.pool.query("truncate posthorn_receiver.subscriptions");
  return world;
}

/** All its times are so much longer ago. */
async function elapse({ pool }: Pick<PostgresWorld<unknown>, "pool">, ms: number): Promise<void> {
  await pool.query(
    `update posthorn_receiver.subscriptions
     set due_at = due_at - $1::double precision * interval '1 millisecond',
         lease_ends_at = lease_ends_at - $1::double precision * interval '1 millisecond',
         confirmed_at = confirmed_at - $1::double precision * interval '1 millisecond'`,
    [ms],
  );
}

function worldOf<Tx>(open: () => Promise<PostgresWorld<Tx>>): () => Promise<SubscriptionWorld> {
  return async () => {
    const world = await emptied(open);
    return { store: world.store as Store, elapse: (ms) => elapse(world, ms) };
  };
}

const byPg = openPostgres(openPool);
subscriberSuite(worldOf(byPg));

test.each([
  ["Drizzle", worldOf(openPostgres(openDrizzle))],
  ["Kysely", worldOf(openPostgres(openKysely))],
  ["Knex", worldOf(openPostgres(openKnex))],
  ["Prisma", worldOf(openPostgres(openPrisma))],
])("through %s a subscription lives from the first request to its end", async (_, open) => {
  const { hub, subscriber, topic, follow, elapse: wait, handled } = await openFollowing(open);
  const asked = await follow();
  await hub.distribute(asked, "news");
  await wait(7 * DAY_MS);
  expect(await subscriber.renew()).toBe(1);
  expect((await hub.verify(hub.last)).status).toBe(200);
  expect(await subscriber.list({ after: "http:", limit: 1 })).toMatchObject([
    { url: topic, tries: 0, denied: null },
  ]);
  expect((await hub.verify(asked, { mode: "denied", challenge: null })).status).toBe(200);
  expect((await subscriber.subscribe(topic)).tries).toBe(1);
  await subscriber.unsubscribe(topic);
  expect((await hub.verify(hub.last)).status).toBe(200);
  expect(await subscriber.list()).toEqual([]);
  expect(handled).toHaveLength(1);
});

test("of ten processes one renews", async () => {
  const world = await emptied(byPg);
  const { hub, follow } = await openFollowing(worldOf(byPg));
  await follow();
  await elapse(world, 7 * DAY_MS);
  const renewed = await Promise.all(
    Array.from({ length: 10 }, () => {
      const pool = createPool(world.connectionString, { max: 1 });
      onTestFinished(() => pool.end());
      return createSubscriber({ callbackUrl: "https://example.com/", store: postgresStore(pool) }).renew();
    }),
  );
  expect(renewed.toSorted()).toEqual([...Array(9).fill(0), 1]);
  expect(hub.asked).toHaveLength(2);
});

test("content and what a handler writes are one commit", async () => {
  const world = await emptied(byPg);
  const { store } = world;
  const hub = await startTestHub();
  onTestFinished(() => hub[Symbol.asyncDispose]());
  const subscriber = createSubscriber({ callbackUrl: "http://127.0.0.1:9/", store, onFailure: null });
  const receiver = createReceiver({ sources: [subscriber.source], store, onFailure: null });
  let fails = true;
  receiver.on("websub.content", async (_event, { tx }) => {
    await tx.query("insert into effects (effect) values ('read')");
    if (fails) throw new Error("after the write");
  });
  const callbacks = subscriber.before(receiver);
  const link = `<${hub.url}/hub>; rel=hub`;
  await subscriber.subscribe(hub.page("/feed", { headers: { link } }));
  const { callback, topic, secret } = hub.last;
  const query = new URLSearchParams({ "hub.mode": "subscribe", "hub.topic": topic, "hub.challenge": "c" });
  const get = { method: "GET", url: `${callback}?${query}`, headers: {}, body: new Uint8Array() };
  expect((await callbacks.receive(get)).body).toBe("c");
  const post = async () => {
    const signature = `sha256=${createHmac("sha256", secret ?? "")
      .update("news")
      .digest("hex")}`;
    const body = new TextEncoder().encode("news");
    const headers = { "x-hub-signature": signature };
    return (await callbacks.receive({ method: "POST", url: callback, headers, body })).status;
  };
  expect(await post()).toBe(500);
  expect(await world.effects?.read()).toEqual([]);
  fails = false;
  expect([await post(), await post()]).toEqual([200, 200]);
  expect(await world.effects?.read()).toEqual(["read"]);
});

describe.skipIf(isQuick)("a process that is killed", () => {
  test("after it asked the hub, and after it was to renew, leaves both to the next", async () => {
    const world = await emptied(byPg);
    const hub = await startTestHub();
    onTestFinished(() => hub[Symbol.asyncDispose]());
    const topic = hub.page("/feed", { headers: { link: `<${hub.url}/hub>; rel=hub` } });
    let asking = gate();
    hub.answers("/hub", () => {
      asking.open();
      return new Promise(() => {}); // never answered: whoever asks is killed while it waits
    });
    const settings = { connectionString: world.connectionString, subscribeTo: topic };

    await using first = await startSubscriberProcess(settings);
    await asking.opened;
    await first.kill();

    // The second answers for the first: on another port here, in life behind the same name.
    await using second = await startSubscriberProcess({ ...settings, subscribeTo: null });
    const at = (url: string) => url.replace(/^http:\/\/[^/]+/, second.url);
    const asked = { ...hub.last, callback: at(hub.last.callback) };
    expect((await hub.verify(asked)).status).toBe(200);
    expect((await hub.distribute(asked, "news")).status).toBe(200);
    await elapse(world, 7 * DAY_MS);
    asking = gate();
    await asking.opened; // the renewal
    await second.kill();

    await using third = await startSubscriberProcess({ ...settings, subscribeTo: null });
    expect(hub.asked).toHaveLength(2);
    asking = gate();
    hub.answers("/hub", async () => {
      asking.open();
      return { status: 202 };
    });
    await elapse(world, 60_000);
    await asking.opened; // the renewal again
    const renewed = { ...hub.last, callback: hub.last.callback.replace(/^http:\/\/[^/]+/, third.url) };
    expect(renewed.secret).toBe(asked.secret);
    expect((await hub.verify(renewed)).status).toBe(200);
    expect((await hub.distribute(renewed, "news")).headers.get("posthorn-duplicate")).toBe("true");
    expect((await hub.distribute(renewed, "more")).status).toBe(200);
    expect(await world.effects?.read()).toEqual(["news", "more"]);
  }, 60_000);
});
