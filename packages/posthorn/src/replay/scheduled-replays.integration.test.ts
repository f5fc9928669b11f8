// Replays that start later: what they select, restarts, cancelling and limits.
import { parseId } from "@posthorn/wire";
import { expect, test } from "vitest";
import {
  databasePerTest,
  newEndpoint,
  publishTimes,
  receiverPerFile,
} from "../../../../tests/support/database/database-per-test.ts";
import { eventually } from "../../../../tests/support/eventually.ts";
import { dueReplays, startScheduled } from "../storage/queries/replays/replays.ts";
import type { TestInstance } from "../testing/index.ts";
import { MOST_RUNNING_REPLAYS } from "./replays.ts";

const receiver = await receiverPerFile();
const world = databasePerTest({ retryPolicy: "1m" });
const { open } = world;
const paid = { tenant: "acme", type: "order.paid", data: 1 };
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

async function withDead(instance: TestInstance, count: number) {
  const endpoint = await newEndpoint(instance, receiver);
  receiver.answer(endpoint.path, 400);
  await publishTimes(instance, count, paid);
  await instance.settle();
  return endpoint;
}

const inAnHour = () => new Date(Date.now() + HOUR_MS);

async function ended(instance: TestInstance, id: string) {
  await eventually("the replay has ended", async () => {
    await instance.settle();
    return (await instance.hooks.replays.get(id)).endedAt !== null;
  });
  // what its last step enqueued
  await instance.settle();
  return await instance.hooks.replays.get(id);
}

test("a scheduled replay starts at its time, and covers what matches then", async () => {
  const instance = await open();
  const { replays, deliveries } = instance.hooks;
  const { path } = await withDead(instance, 2);
  const startAt = inAnHour();
  const scheduled = await replays.start({ tenant: "acme", startAt, rate: 1_000 });
  expect(scheduled).toMatchObject({ state: "scheduled", startAt, startedAt: null, total: null, done: 0 });
  expect((await replays.list({ state: "scheduled" })).data).toEqual([scheduled]);
  // one more dies, and one is deleted
  await publishTimes(instance, 2, paid);
  await instance.settle();
  await deliveries.delete((await deliveries.list({ state: "dead" })).data[0]?.id as string);
  receiver.answer(path, 200);
  await instance.advance(HOUR_MS - 60_000);
  await instance.settle();
  expect(await replays.get(scheduled.id)).toEqual(scheduled);
  await instance.advance(61_000);
  const replay = await ended(instance, scheduled.id);
  expect(replay).toMatchObject({ state: "finished", total: 3, done: 3 });
  expect(replay.startedAt?.getTime()).toBeGreaterThanOrEqual(startAt.getTime());
  expect((await deliveries.list({ state: "success" })).data).toHaveLength(3);
});

test("a scheduled replay survives a restart, and starts late if no process ran at its time", async () => {
  const first = await open();
  const { path } = await withDead(first, 1);
  receiver.answer(path, 200);
  const { id } = await first.hooks.replays.start({ startAt: inAnHour() });
  await first.hooks.stop();
  const second = await open();
  await second.advance(2 * HOUR_MS);
  expect(await ended(second, id)).toMatchObject({ state: "finished", done: 1 });
});

test("a scheduled replay that was cancelled never starts", async () => {
  const instance = await open();
  const { replays } = instance.hooks;
  const { path } = await withDead(instance, 1);
  const { id } = await replays.start({ startAt: inAnHour() });
  expect(await replays.cancel(id)).toMatchObject({ state: "cancelled", startedAt: null });
  await expect(replays.cancel(id)).rejects.toMatchObject({ code: "replay_finished" });
  await instance.advance(2 * HOUR_MS);
  await instance.settle();
  expect(await replays.get(id)).toMatchObject({ state: "cancelled", done: 0 });
  expect(receiver.requestsTo(path)).toHaveLength(1);
});

test("a replay for missing deliveries can be scheduled", async () => {
  const instance = await open();
  await publishTimes(instance, 2, paid);
  const { id } = await instance.hooks.replays.start({ startAt: inAnHour(), resubscribe: true });
  await newEndpoint(instance, receiver);
  await instance.advance(HOUR_MS + 1_000);
  expect(await ended(instance, id)).toMatchObject({ total: 2, done: 2 });
});

test("the start must be in the future and at most 90 days ahead", async () => {
  const { hooks } = await open({ started: false });
  const now = Date.now();
  for (const ms of [now - 1, now - DAY_MS, now + 90 * DAY_MS + 60_000, Number.NaN]) {
    const startAt = new Date(ms);
    for (const call of [hooks.replays.start, hooks.replays.preview])
      await expect(call({ startAt } as object)).rejects.toMatchObject({
        code: "invalid_replay",
        problems: [{ pointer: "/startAt" }],
      });
  }
  for (const ms of [now + 60_000, now + 90 * DAY_MS])
    expect((await hooks.replays.start({ startAt: new Date(ms) })).state).toBe("scheduled");
});

test("fifty replays can be scheduled per tenant, also while five are running", async () => {
  const { hooks } = await open({ started: false });
  for (let n = 0; n < 5; n += 1) await hooks.replays.start({ tenant: "acme" });
  const startAt = inAnHour();
  for (let n = 0; n < 50; n += 1) await hooks.replays.start({ tenant: "acme", startAt });
  await expect(hooks.replays.start({ tenant: "acme", startAt })).rejects.toMatchObject({
    code: "replay_limit_reached",
    message: expect.stringContaining("50 replays of this tenant are scheduled"),
  });
});

test("a scheduled replay waits while five are running, and starts once", async () => {
  const instance = await open({ started: false });
  const { replays } = instance.hooks;
  const running = [];
  for (let n = 0; n < 5; n += 1) running.push(await replays.start());
  const { id } = await replays.start({ startAt: inAnHour() });
  const uuid = parseId("rpl", id) ?? "";
  const range = { position: uuid, before: uuid, total: 0 };
  await instance.advance(2 * HOUR_MS);
  const due = () => dueReplays(instance.hooks.db, MOST_RUNNING_REPLAYS);
  expect(await due()).toEqual([]);
  const start = () => startScheduled(instance.hooks.db, uuid, range, MOST_RUNNING_REPLAYS);
  expect(await start()).toBe(false);
  await replays.cancel(running[0]?.id ?? "");
  expect(await due()).toEqual([uuid]);
  expect([await start(), await start()]).toEqual([true, false]);
  expect((await replays.get(id)).state).toBe("running");
});

test("what a revoked key has scheduled is cancelled, and the audit log names the key", async () => {
  const instance = await open();
  const { replays, keys, auditLog } = instance.hooks;
  const { path } = await withDead(instance, 1);
  receiver.answer(path, 200);
  const { key } = await keys.create({ name: "nightly", tenant: "acme", scopes: ["deliveries:retry"] });
  const { key: other } = await keys.create({ name: "other", scopes: ["admin"] });
  const asked = { tenant: "acme", startAt: inAnHour() };
  const scheduled = await replays.start({ ...asked, credential: key.id, requestedBy: key.id });
  const kept = await replays.start({ ...asked, credential: other.id });
  const running = await replays.start({ tenant: "acme", states: ["success"], credential: key.id });
  await keys.revoke(key.id);
  expect(await replays.get(scheduled.id)).toMatchObject({
    state: "cancelled",
    cancelReason: "key_revoked",
    startedAt: null,
    endedAt: expect.any(Date),
  });
  expect(await replays.get(kept.id)).toMatchObject({ state: "scheduled", cancelReason: null });
  expect((await replays.get(running.id)).state).not.toBe("cancelled");
  const { data } = await auditLog.list({ action: "replays.cancel" });
  expect(data).toMatchObject([
    {
      actorKind: "system",
      actorId: null,
      tenant: "acme",
      target: { replay: scheduled.id },
      changes: { reason: "key_revoked", key: key.id },
      status: 200,
    },
  ]);
  await instance.advance(2 * HOUR_MS);
  expect((await ended(instance, kept.id)).state).toBe("finished");
  expect(await replays.get(scheduled.id)).toMatchObject({ state: "cancelled", done: 0 });
  // the second attempt is that of the replay that was kept
  expect(receiver.requestsTo(path)).toHaveLength(2);
});

test("a replay that is cancelled by a request says so", async () => {
  const { hooks } = await open();
  const { id } = await hooks.replays.start({ startAt: inAnHour() });
  expect(await hooks.replays.cancel(id)).toMatchObject({ state: "cancelled", cancelReason: "requested" });
});

test("what a removed member has scheduled is cancelled; the end of a token does not matter", async () => {
  const instance = await open();
  const { replays, members, keys, auditLog } = instance.hooks;
  await members.put("acme", "ann", { role: "admin" });
  await members.put("acme", "bob", { role: "admin" });
  const { key: token } = await keys.createToken("acme", "ann", { expiresInSeconds: 60 });
  const byAnn = await replays.start({
    tenant: "acme",
    startAt: inAnHour(),
    credential: token.id,
    user: "ann",
  });
  const byBob = await replays.start({ tenant: "acme", startAt: inAnHour(), user: "bob" });
  await instance.advance(HOUR_MS / 2);
  expect((await replays.get(byAnn.id)).state).toBe("scheduled");
  await members.delete("acme", "ann");
  expect(await replays.get(byAnn.id)).toMatchObject({ state: "cancelled", cancelReason: "member_removed" });
  expect((await replays.get(byBob.id)).state).toBe("scheduled");
  const [entry] = (await auditLog.list({ action: "replays.cancel" })).data;
  expect(entry).toMatchObject({ changes: { reason: "member_removed", user: "ann" } });
});

test("a revoked token or portal link cancels what it scheduled", async () => {
  const { hooks } = await open();
  const { replays, members, keys, sessions } = hooks;
  await members.put("acme", "ann", { role: "admin" });
  const { key: token } = await keys.createToken("acme", "ann");
  const link = await sessions.createPortalLink("acme");
  const asked = { tenant: "acme", startAt: inAnHour() };
  const byToken = await replays.start({ ...asked, credential: token.id, user: "ann" });
  const byLink = await replays.start({ ...asked, credential: link.id });
  await keys.revoke(token.id);
  await sessions.revokePortalLink("acme", link.id);
  for (const { id } of [byToken, byLink])
    expect(await replays.get(id)).toMatchObject({ state: "cancelled", cancelReason: "key_revoked" });
});

test("a key cannot schedule a replay beyond its expiry, and not after it was revoked", async () => {
  const { hooks } = await open();
  const { replays, keys } = hooks;
  const startAt = inAnHour();
  const expiring = async (afterStartMs: number) => {
    const expiresAt = new Date(startAt.getTime() + afterStartMs);
    return (await keys.create({ name: "short", scopes: ["deliveries:retry"], expiresAt })).key.id;
  };
  const start = async (credential: string) => replays.start({ startAt, credential });
  await expect(start(await expiring(0))).rejects.toMatchObject({
    code: "invalid_replay",
    problems: [{ pointer: "/startAt", message: expect.stringMatching(/expires at .* valid then/) }],
  });
  expect((await start(await expiring(1))).state).toBe("scheduled");
  const revoked = await expiring(1_000);
  await keys.revoke(revoked);
  await expect(start(revoked)).rejects.toMatchObject({
    code: "invalid_replay",
    message: expect.stringContaining("no longer exists"),
  });
  // one that starts at once needs no key later
  expect((await replays.start({ credential: revoked })).state).toBe("running");
});

test("a deleted tenant takes its scheduled replays along", async () => {
  const { hooks } = await open();
  await hooks.tenants.upsert("leaving", {});
  const { key } = await hooks.keys.create({ name: "own", tenant: "leaving", scopes: ["deliveries:retry"] });
  const { id } = await hooks.replays.start({ tenant: "leaving", startAt: inAnHour(), credential: key.id });
  await hooks.tenants.delete("leaving");
  await expect(hooks.replays.get(id)).rejects.toMatchObject({ code: "replay_not_found" });
  expect((await hooks.replays.list({ state: "scheduled" })).data).toEqual([]);
});
