// Replays and the log of manual retries over HTTP.
import { createClient, pages } from "@posthorn/client";
import { expect, test } from "vitest";
import { startReceiver } from "../../../../../tests/support/servers/start-receiver.ts";
import { adminKey, sharedServer, startServer } from "../../../../../tests/support/servers/start-server.ts";

const server = sharedServer({ posthorn: { retryPolicy: "1h" } });

/** A tenant with one delivery in the state that the receiver's status gives. */
async function withDelivery(status: number, on = server) {
  const receiver = await startReceiver();
  receiver.answer("/in", status);
  const { tenant } = await on.newEndpoint({ url: `${receiver.url}/in` });
  await on.call("POST", "/api/v1/events", { tenant, type: "order.paid", data: 1 });
  const first = async () => (await on.call("GET", `/api/v1/deliveries?tenant=${tenant}`)).json.data[0];
  await expect.poll(async () => (await first()).attempt_count).toBe(1);
  return { server: on, tenant, delivery: (await first()).id as string };
}

test("a key of a tenant replays only its tenant's deliveries, and the replay names the key", async () => {
  const { server, tenant } = await withDelivery(400);
  await withDelivery(400);
  const headers = await server.keyHeaders(["deliveries:retry", "deliveries:read"], tenant);
  const preview = await server.call("POST", "/api/v1/replays", { dry_run: true }, headers);
  expect([preview.status, preview.json]).toEqual([202, { dry_run: true, count: 1, is_exact: true }]);
  const started = await server.call("POST", "/api/v1/replays", { rate: 10 }, headers);
  expect([started.status, started.json]).toMatchObject([
    202,
    { state: "running", tenant, created_after: null, rate: 10, total: 1, done: 0 },
  ]);
  expect(headers.authorization).toContain(started.json.requested_by);
});

test("revoking a key over HTTP cancels what it has scheduled, and tenants see why", async () => {
  const { tenant } = await server.newEndpoint({ url: "https://example.com/in" });
  const headers = await server.keyHeaders(["deliveries:retry", "deliveries:read"], tenant);
  const start_at = new Date(Date.now() + 3_600_000).toISOString();
  const { json: replay } = await server.call("POST", "/api/v1/replays", { start_at }, headers);
  expect(replay).toMatchObject({ state: "scheduled", cancel_reason: null });
  expect((await server.call("DELETE", `/api/v1/keys/${replay.requested_by}`)).status).toBe(204);
  expect((await server.call("GET", `/api/v1/replays/${replay.id}`)).json).toMatchObject({
    state: "cancelled",
    cancel_reason: "key_revoked",
  });
  const admin = await server.keyHeaders(["admin"], tenant);
  const { json: log } = await server.call("GET", "/api/v1/audit-log?action=replays.cancel", undefined, admin);
  expect(log.data).toMatchObject([
    {
      actor: { kind: "system", id: null, user: null },
      target: { replay: replay.id },
      changes: { reason: "key_revoked", key: replay.requested_by },
    },
  ]);
});

test("manual retries are listed newest first, page by page, and to a tenant only its own", async () => {
  const own = await startServer();
  const [acme, rivals] = [await withDelivery(200, own), await withDelivery(200, own)];
  const client = createClient({ url: own.url, key: adminKey, checksResponses: true });
  expect((await client.resends.list()).data).toEqual([]);
  const before = new Date().toISOString();
  for (const { delivery } of [acme, acme, rivals, rivals]) {
    const attempts = async () => (await client.deliveries.get({ delivery })).attempts.length;
    const count = await attempts();
    await client.deliveries.retry({ delivery });
    await expect.poll(attempts).toBe(count + 1);
  }
  const all = (await client.resends.list()).data;
  expect(all.map(({ delivery_id, attempt, trigger }) => [delivery_id, attempt, trigger])).toEqual([
    [rivals.delivery, 3, "manual"],
    [rivals.delivery, 2, "manual"],
    [acme.delivery, 3, "manual"],
    [acme.delivery, 2, "manual"],
  ]);
  const paged: unknown[] = [];
  for await (const item of pages((cursor) => client.resends.list({ query: { limit: 1, cursor } })))
    paged.push(item);
  expect(paged).toEqual(all);
  const countOf = async (query: object) => (await client.resends.list({ query })).data.length;
  expect(await countOf({ type: "order.paid" })).toBe(4);
  expect(await countOf({ type: "order.sent" })).toBe(0);
  expect(await countOf({ tenant: rivals.tenant })).toBe(2);
  expect(await countOf({ resent_after: before })).toBe(4);
  const later = new Date(Date.parse(all[0]?.resent_at as string) + 1).toISOString();
  expect(await countOf({ resent_after: later })).toBe(0);

  const headers = await own.keyHeaders(["deliveries:read"], acme.tenant);
  const ofAcme = await own.call("GET", "/api/v1/resends?limit=2", undefined, headers);
  expect(ofAcme.json).toMatchObject({ data: [{ tenant: acme.tenant }, {}], next_cursor: null });
  for (const text of ["events:x", "resends:1:nothing"]) {
    const cursor = Buffer.from(text).toString("base64url");
    expect((await own.call("GET", `/api/v1/resends?cursor=${cursor}`)).json).toMatchObject({
      status: 422,
      errors: [{ parameter: "cursor" }],
    });
  }
});
