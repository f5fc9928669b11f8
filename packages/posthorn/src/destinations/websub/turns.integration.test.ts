// The order in which the hub processes requests, if there are more than it may send.
import { uuidv7 } from "@posthorn/wire";
import { expect, test } from "vitest";
import { openResources } from "../../../../../tests/support/database/resources.ts";
import { claimRequests, storeRequest } from "../../storage/queries/websub/requests.ts";
import { countSubscriptions, insertSubscription } from "../../storage/queries/websub/subscriptions.ts";
import { ensureExternalTenant } from "../../storage/queries/websub/topics.ts";
import { statement } from "../../storage/sql.ts";
import { pairOf } from "./urls.ts";

const { db } = await openResources();

async function ask(host: string, path: number, limits = { perHost: 100, total: 100 }): Promise<boolean> {
  const topic = "https://hub.example.com/topic";
  const callback = `https://${host}/${path}`;
  const request = { mode: "subscribe", topic, callback, pair: pairOf(topic, callback), host } as const;
  return await storeRequest(db, { ...request, leaseSeconds: null, secret: null, verifyToken: null }, limits);
}

test("hosts take turns, a busy host delays only itself, and each request is claimed once", async () => {
  for (let path = 0; path < 20; path += 1)
    await ask(path % 2 === 0 ? "flood.example" : "storm.example", path);
  await ask("new.example", 0);
  const claim = () => claimRequests(db, { limit: 3, leaseMs: 60_000 });
  expect((await claim()).map(({ host }) => host).sort()).toEqual([
    "flood.example",
    "new.example",
    "storm.example",
  ]);
  const taken = new Set<string>();
  for (let round = 0; round < 10; round += 1) {
    const claimed = (await Promise.all([claim(), claim()])).flat();
    for (const { callback } of claimed) {
      expect(taken.has(callback)).toBe(false);
      taken.add(callback);
    }
  }
  expect(taken.size).toBe(18);
});

test("pending requests are limited per host and in total; a pending one may be repeated", async () => {
  await db.query(statement("forget all requests")`delete from posthorn.websub_requests`);
  const limits = { perHost: 2, total: 3 };
  const asked: boolean[] = [];
  for (const [host, path] of [
    ["a", 0],
    ["a", 1],
    ["a", 2],
    ["b", 0],
    ["c", 0],
    ["a", 1],
  ] as const)
    asked.push(await ask(`${host}.example`, path, limits));
  expect(asked).toEqual([true, true, false, true, false, true]);
});

test("hosts under a name are counted with it, and names that only end alike are not", async () => {
  await ensureExternalTenant(db, "acme", "Acme");
  const hosts = ["evil.example", "a.evil.example", "b.a.evil.example.", "notevil.example", "a.example"];
  const topic = "https://hub.example.com/counted";
  for (const host of hosts) {
    const callback = `https://${host}/`;
    const pair = pairOf(topic, callback);
    const leaseEndsAt = new Date(Date.now() + 3_600_000);
    await insertSubscription(db, {
      id: uuidv7(Date.now()),
      tenant: "acme",
      eventType: "e",
      format: "envelope",
      topic,
      callback,
      pair,
      host,
      leaseEndsAt,
    });
  }
  expect(await countSubscriptions(db, "a.evil.example", "evil.example")).toEqual({
    perHost: 1,
    perDomain: 3,
    total: 5,
  });
});
