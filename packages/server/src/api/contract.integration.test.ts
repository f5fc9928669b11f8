// Calls every operation with the typed client, which checks every response against its schema.
import { createClient, operationsOf, PosthornApiError } from "@posthorn/client";
import { expect, test } from "vitest";
import { startReceiver } from "../../../../tests/support/servers/start-receiver.ts";
import { adminKey, sharedServer, startServer } from "../../../../tests/support/servers/start-server.ts";

const server = sharedServer({ started: false });

/** A client that checks responses, and the operations that it has called. */
function checkingClient(url: string) {
  const asked: string[] = [];
  const record: typeof fetch = (input, init) => {
    asked.push(`${init?.method} ${new URL(String(input)).pathname}`);
    return fetch(input, init);
  };
  const client = createClient({ url, key: adminKey, checksResponses: true, fetch: record });
  const isCalled = ({ method, path }: { method: string; path: string }) => {
    const pattern = new RegExp(`^${method} ${path.replace(/\{\w+\}/g, "[^/]+")}$`);
    return asked.some((place) => pattern.test(place));
  };
  return { client, uncalled: () => operationsOf().filter(([, one]) => !isCalled(one)) };
}

type World = Awaited<ReturnType<typeof openWorld>>;
const tenant = "acme";

/** A tenant with a disabled endpoint. */
async function openWorld() {
  const receiver = await startReceiver();
  const { url } = await startServer({ posthorn: { retryPolicy: "1h" } });
  const { client, uncalled } = checkingClient(url);
  await client.tenants.put({ tenant, body: { name: "Acme" } });
  const { id: endpoint, secret } = await client.endpoints.create({
    tenant,
    body: { url: `${receiver.url}/in`, events: ["order.*"], is_active: false },
  });
  expect(secret).toMatch(/^whsec_/);
  const at = { tenant, endpoint };
  return {
    url,
    receiver,
    client,
    uncalled,
    at,
    async publish(total: number) {
      const body = { tenant, type: "order.paid", subject: "order-1", data: { total } };
      const { id } = (await client.events.publish({ body })) as { id: string };
      const { data } = await client.deliveries.listOfEndpoint({ ...at, query: { limit: 1 } });
      return { event: id, delivery: data[0]?.id as string };
    },
    attempted: (delivery: string, times: number) =>
      expect.poll(async () => (await client.deliveries.get({ delivery })).attempts.length).toBe(times),
  };
}

test("every operation responds as the contract specifies", async () => {
  const world = await openWorld();
  await callAccess(world);
  await callDeliveries(world);
  await callReplays(world);
  await callEndpoints(world);
  await callCatalogue(world);
  await callExports(world);
  const { client, at, uncalled } = world;
  await client.endpoints.delete(at);
  await client.tenants.delete({ tenant });
  // these need an event published from SQL, see rejected.integration.test.ts, and a browser, see session.integration.test.ts
  expect(uncalled().map(([id]) => id)).toEqual([
    "events.release",
    "events.discard",
    "session.create",
    "session.end",
  ]);
});

async function callAccess({ url, client }: World): Promise<void> {
  expect(await client.tenants.get({ tenant })).toMatchObject({ name: "Acme", is_active: true });
  expect((await client.tenants.list()).data.map(({ id }) => id)).toEqual([tenant]);
  const anna = { tenant, user: "anna" };
  await client.members.put({ ...anna, body: { role: "owner", email: "a@example.com" } });
  const { key: token } = await client.members.createToken(anna);
  expect(await createClient({ url, key: token }).session.get()).toMatchObject(anna);
  expect((await client.members.list({ tenant })).data).toEqual([await client.members.get(anna)]);
  await client.members.delete(anna);
  const { id: link } = await client.portalLinks.create({ tenant });
  await client.portalLinks.revoke({ tenant, link });
  const { id: key } = await client.keys.create({ body: { name: "k", scopes: ["admin"] } });
  expect((await client.keys.list()).data.map(({ id }) => id)).toContain(key);
  await client.keys.revoke({ key });
  expect(await client.session.get()).toMatchObject({ kind: "operator", expires_at: null });
  const { data: audited } = await client.auditLog.list({ query: { limit: 1 } });
  expect(audited).toMatchObject([{ action: "keys.revoke", target: { key } }]);
  expect(await client.deliveryMode.set({ body: { mode: "on", note: "again" } })).toMatchObject({
    note: "again",
  });
  expect(await client.deliveryMode.get()).toMatchObject({ mode: "on", source: "stored" });
  expect(await client.sources.list()).toEqual({ data: [], next_cursor: null });
  for (const change of ["skip", "reset", "delete"] as const)
    await expect(client.sources[change]({ source: "shop" })).rejects.toMatchObject({
      code: "source_not_found",
    });
  expect((await client.system.get()).version).toMatch(/^\d+\.\d+\.\d+/);
}

async function callDeliveries({ client, at, publish, attempted }: World): Promise<void> {
  const { event, delivery } = await publish(1);
  expect(await client.events.get({ event })).toMatchObject({ data: { total: 1 }, sequence: 1 });
  expect(await client.deliveries.get({ delivery })).toMatchObject({ state: "pending", attempts: [] });
  for (const { data } of [
    await client.events.list({ query: { tenant, limit: 1 } }),
    await client.deliveries.list({ query: { tenant } }),
    await client.deliveries.listOfTenant({ tenant }),
    await client.endpoints.list({ tenant }),
    await client.endpoints.listAll({ query: { state: "disabled" } }),
  ])
    expect(data).toHaveLength(1);
  expect(await client.stats.get({ query: { tenant, period: "day" } })).toMatchObject({
    now: { pending: { count: 1, is_exact: true } },
    attempts: { success_rate: null },
    latency_ms: null,
  });
  await client.activity.get({ query: { tenant, period: "hour" } });

  const enabled = await client.endpoints.enable({ ...at, body: { backlog: "discard" } });
  expect(enabled).toMatchObject({ is_active: true, disabled_reason: null });
  expect(await client.deliveries.get({ delivery })).toMatchObject({ dead_reason: "discarded" });
  expect((await client.deliveries.retry({ delivery })).id).toBe(delivery);
  await attempted(delivery, 1);
  expect(await client.deliveries.request({ delivery })).toMatchObject({ attempt: 1, is_exact: true });
  expect((await client.resends.list()).data).toMatchObject([{ delivery_id: delivery, trigger: "manual" }]);

  const { delivery_id } = await client.endpoints.test({ ...at, body: { type: "order.test", data: 1 } });
  await attempted(delivery_id, 1);
  expect((await client.endpoints.listAttempts(at)).data).toMatchObject([
    { delivery_id, number: 1, trigger: "test", status_code: 200 },
    { delivery_id: delivery, number: 1, trigger: "manual", status_code: 200 },
  ]);
  await client.events.resend({ event, body: { endpoint: at.endpoint } });
  await attempted(delivery, 2);
  const copy = await client.events.resendEdited({ event, body: { endpoint: at.endpoint, data_json: "{}" } });
  await attempted(copy.delivery_id, 1);
}

async function callReplays({ client, at, receiver, publish, attempted }: World): Promise<void> {
  receiver.answer("/in", 500);
  const failed = await publish(2);
  await attempted(failed.delivery, 1);
  const { data: queue } = await client.deliveries.retryQueue({ query: { tenant } });
  expect(queue).toMatchObject([{ id: failed.delivery, next_retry_at: expect.any(String) }]);
  expect(await client.deliveries.cancel(failed)).toMatchObject({ dead_reason: "cancelled" });
  receiver.answer("/in", 200);
  const body = { tenant, states: ["dead" as const], created_after: "2020-01-01T00:00:00.000Z" };
  const preview = await client.replays.start({ body: { ...body, dry_run: true } });
  expect(preview).toEqual({ dry_run: true, count: 1, is_exact: true });
  const { id: replay } = (await client.replays.start({ body })) as { id: string };
  const state = async () => (await client.replays.get({ replay })).state;
  await expect.poll(state).toBe("finished");
  expect((await client.replays.list({ query: { state: "finished" } })).data).toMatchObject([
    { id: replay, created_after: body.created_after, total: 1, done: 1 },
  ]);
  await expect(client.replays.cancel({ replay })).rejects.toMatchObject({ code: "replay_finished" });
  await attempted(failed.delivery, 2);

  expect(await client.endpoints.disable(at)).toMatchObject({ disabled_reason: "manual" });
  const held = await publish(3);
  await expect(client.deliveries.delete(held)).rejects.toMatchObject({ code: "delivery_not_dead" });
  await client.deliveries.cancel(held);
  await client.deliveries.delete(held);
  const dry = await client.deliveries.deleteDead({ body: { tenant, dry_run: true } });
  expect(dry).toMatchObject({ dry_run: true, count: 0, is_exact: true });
  expect(await client.deliveries.deleteDead({ body: { tenant } })).toEqual({ deleted: 0, next_cursor: null });
  const released = await client.events.releaseRejected({ body: { tenant } });
  expect(released).toEqual({ released: 0, next_cursor: null });
  const rejected = await client.events.discardRejected({ body: { tenant, dry_run: true } });
  expect(rejected).toMatchObject({ dry_run: true, count: 0, is_exact: true });
}

async function callExports({ client }: World): Promise<void> {
  for (const read of Object.values(client.exports)) {
    const response = await read({ query: { tenant } });
    expect(response.headers.get("content-type")).toBe("application/x-ndjson");
    await response.text();
  }
}

async function callEndpoints({ client, at, publish }: World): Promise<void> {
  const rotated = await client.endpoints.rotateSecret({ ...at, body: { overlap_seconds: 60 } });
  const { data: secrets } = await client.endpoints.listSecrets(at);
  expect(secrets.map(({ expires_at }) => expires_at)).toEqual([null, rotated.previous_expires_at]);
  await client.endpoints.revokeSecret({ ...at, secret: secrets[1]?.id as string });
  const query = { scheme: "slack", header_prefix: "X-Shop" };
  expect((await client.deliveryContracts.get({ query })).signatures[0]?.scheme).toBe("slack");
  expect((await client.deliveryContracts.ofEndpoint(at)).request.timeout_ms).toBe(10_000);

  const filter = { data: { total: { $gt: 9 } } };
  const { endpoints: imported } = await client.endpoints.import({
    tenant,
    body: { endpoints: [{ id: at.endpoint, filter }], dry_run: false },
  });
  expect(imported).toEqual([
    { action: "updated", id: at.endpoint, url: expect.any(String), secret: null, warnings: [] },
  ]);
  const reason = { reason: "filter", pointer: "/data/total/$gt" };
  const example = { type: "order.paid", data: { total: 1 } };
  expect(await client.endpoints.match({ ...at, body: example })).toMatchObject({ matches: false, ...reason });
  const unmatched = await publish(4);
  expect((await client.events.get(unmatched)).not_matched).toMatchObject([
    { endpoint_id: at.endpoint, settings_changed: false, ...reason },
  ]);
  await client.endpoints.update({ ...at, body: { description: "billing" } });
  expect(await client.endpoints.get(at)).toMatchObject({ description: "billing", filter });
}

async function callCatalogue({ client }: World): Promise<void> {
  const name = "order.paid";
  const type = { description: "Paid.", schema: { required: ["amountDue"] }, example: { amountDue: 1 } };
  await client.eventTypes.put({ name, body: { ...type, redact: ["/card"], deprecated: true } });
  await client.eventTypes.put({ name, body: { api_version: "2" } });
  expect(await client.eventTypes.get({ name, query: { api_version: "1" } })).toMatchObject({
    ...type,
    versions: ["1", "2"],
  });
  const document = await client.eventTypes.export({ query: { format: "openapi" } });
  const { data: imported } = await client.eventTypes.import({ body: { document } });
  expect(imported).toMatchObject([
    { name, api_version: "1", change: "unchanged" },
    { name, api_version: "2", change: "unchanged" },
  ]);
  await client.eventTypes.delete({ name, query: { api_version: "1" } });
  expect((await client.eventTypes.list()).data).toMatchObject([{ name, api_version: "2" }]);
}

test("the client's error has the code and pointers of the server's", async () => {
  const client = createClient({ url: server.url, key: adminKey });
  const refused = client.tenants.put({ tenant: "acme", body: { name: 5 as never } });
  const errors = [{ pointer: "/name", message: "This must be a string." }];
  await expect(refused).rejects.toBeInstanceOf(PosthornApiError);
  await expect(refused).rejects.toMatchObject({ code: "invalid_body", status: 422, problem: { errors } });
  const strange = createClient({ url: `${server.url}/nowhere`, key: adminKey });
  await expect(strange.tenants.list()).rejects.toMatchObject({ status: 404 });
});

test("the reference is public, allows no scripts, and is linked from the first page", async () => {
  const anonymous = { authorization: "" };
  const docs = await server.call("GET", "/docs", undefined, anonymous);
  expect([docs.status, docs.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  expect(docs.headers.get("content-security-policy")).toMatch(
    /^default-src 'none'; style-src 'self'; font-src 'self';/,
  );
  expect(docs.text).toContain("/api/v1/events");
  expect(docs.text).toContain(`export POSTHORN_URL=${server.url} POSTHORN_API_KEY=`);
  expect((await server.call("GET", "/", undefined, anonymous)).text).toContain('href="docs"');
  expect((await server.call("GET", "/openapi.json", undefined, anonymous)).status).toBe(200);
});
