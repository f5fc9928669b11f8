// The two switches, from outside: a tenant that is not active gets nothing at all, and with POSTHORN_ENABLED=false
// nobody does.
import { randomBytes } from "node:crypto";
import pg from "pg";
import { createPosthorn } from "posthorn";
import { type ScriptedReceiver, startScriptedReceiver } from "posthorn/testing";
import { expect, onTestFinished, test } from "vitest";
import { startServer, type TestServer } from "../../../../tests/support/start-server.ts";

const encryptionKeys = `test:${randomBytes(32).toString("base64")}`;

async function world(options: { enabled?: boolean } = {}) {
  const receiver = await startScriptedReceiver();
  onTestFinished(() => receiver.close());
  const server = await startServer({ posthorn: { encryptionKeys, retryPolicy: "10ms,1h", ...options } });
  for (const tenant of ["acme", "other"]) await server.call("PUT", `/api/v1/tenants/${tenant}`);
  return { server, receiver };
}

async function endpointOf(server: TestServer, { url }: ScriptedReceiver, tenant: string): Promise<string> {
  const path = `/api/v1/tenants/${tenant}/endpoints`;
  const { json } = await server.call("POST", path, { url: `${url}/${tenant}`, events: ["*"] });
  return `${path}/${json.id}`;
}

async function publish(server: TestServer, tenant: string, n: number) {
  const { json, status } = await server.call("POST", "/api/v1/events", {
    tenant,
    type: "order.paid",
    data: { n },
  });
  expect(status).toBe(202);
  return json;
}

async function publishInSql({ connectionString }: TestServer, tenant: string, n: number): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    const text = "select posthorn.publish(tenant => $1, type => 'order.paid', data => $2::text)";
    await client.query(text, [tenant, JSON.stringify({ n })]);
  } finally {
    await client.end();
  }
}

const numbersAt = (receiver: ScriptedReceiver, path: string) =>
  receiver.requestsTo(path).map(({ body }) => JSON.parse(String(body)).data.n);

async function outboxIsEmpty(server: TestServer): Promise<void> {
  await expect
    .poll(async () => {
      const { json } = await server.call("GET", "/api/v1/events");
      const pages = await Promise.all(
        json.data.map(({ id }: { id: string }) => server.call("GET", `/api/v1/events/${id}`)),
      );
      return pages.flatMap((page) => page.json.not_matched).map(({ reason }) => reason);
    })
    .not.toContain("waiting");
}

test("an inactive tenant gets nothing, whichever way it is asked for; others get theirs", async () => {
  const { server, receiver } = await world();
  const path = await endpointOf(server, receiver, "acme");
  await endpointOf(server, receiver, "other");
  receiver.answer("/acme", [500, 500, 200]);
  const owed = await publish(server, "acme", 1);
  await receiver.received(2, { path: "/acme" });
  await expect
    .poll(
      async () => (await server.call("GET", `/api/v1/events/${owed.id}`)).json.deliveries[0].attempt_count,
    )
    .toBe(2);
  const { json: page } = await server.call("GET", `/api/v1/events/${owed.id}`);
  const delivery = `/api/v1/deliveries/${page.deliveries[0].id}`;

  await server.call("PUT", "/api/v1/tenants/acme", { is_active: false });
  const unheard = await publish(server, "acme", 2);
  expect(unheard).toMatchObject({ duplicate: false, deliveries: 0 });
  await publishInSql(server, "acme", 3);
  expect((await server.call("POST", `${path}/test`)).json).toMatchObject({ code: "tenant_inactive" });
  expect((await server.call("POST", `${delivery}/retry`)).json).toMatchObject({ code: "tenant_inactive" });
  expect((await server.call("POST", `${path}/disable`)).status).toBe(200);
  expect((await server.call("POST", `${path}/enable`)).status).toBe(200);
  await publish(server, "other", 4);
  await receiver.received(1, { path: "/other" });
  await outboxIsEmpty(server);
  expect(numbersAt(receiver, "/acme")).toEqual([1, 1]);
  const { json: kept } = await server.call("GET", `/api/v1/events/${unheard.id}`);
  expect(kept).toMatchObject({
    data: { n: 2 },
    deliveries: [],
    not_matched: [{ reason: "tenant_inactive" }],
  });
  expect((await server.call("GET", delivery)).json).toMatchObject({ state: "failed", attempt_count: 2 });

  await server.call("PUT", "/api/v1/tenants/acme", { is_active: true });
  expect((await server.call("POST", `${delivery}/retry`)).status).toBe(202);
  await publish(server, "acme", 5);
  await receiver.received(4, { path: "/acme" });
  expect(numbersAt(receiver, "/acme").toSorted()).toEqual([1, 1, 1, 5]);
  expect((await server.call("GET", `/api/v1/tenants/acme/deliveries`)).json.data).toHaveLength(2);
});

test("what an inactive tenant was owed before waits, and goes out by itself when it is active again", async () => {
  const { server, receiver } = await world({ enabled: false });
  await endpointOf(server, receiver, "acme");
  await publish(server, "acme", 1);
  await server.call("PUT", "/api/v1/tenants/acme", { is_active: false });
  const worker = await workerOn(server);
  await endpointOf(server, receiver, "other");
  await publish(server, "other", 2);
  await receiver.received(1, { path: "/other" });
  expect(receiver.requestsTo("/acme")).toEqual([]);
  await worker.tenants.upsert("acme", { isActive: true });
  await receiver.received(1, { path: "/acme" });
  expect(numbersAt(receiver, "/acme")).toEqual([1]);
});

test("with delivery turned off events are taken and kept, and go out from a process where it is on", async () => {
  const { server, receiver } = await world({ enabled: false });
  const path = await endpointOf(server, receiver, "acme");
  expect(await publish(server, "acme", 1)).toMatchObject({ deliveries: 1 });
  await publishInSql(server, "acme", 2);
  const { json: tested, status } = await server.call("POST", `${path}/test`);
  expect(status).toBe(202);
  const { json: list } = await server.call("GET", "/api/v1/tenants/acme/deliveries");
  expect(list.data.map(({ state }: { state: string }) => state)).toEqual(["pending", "pending"]);
  expect((await server.call("GET", "/readyz")).status).toBe(200);
  expect(receiver.requests).toEqual([]);

  await workerOn(server);
  await receiver.received(3, { path: "/acme" });
  const sent = receiver.requestsTo("/acme").map(({ headers }) => headers["x-webhook-id"]);
  expect(new Set(sent).size).toBe(3);
  expect(sent).toContain(tested.event_id);
});

test.each([
  ["all", false, 1],
  ["worker", false, 1],
  ["api", false, 0],
  ["all", true, 0],
] as const)(
  "the role %s with enabled: %s warns %i times that nothing is sent",
  async (role, enabled, times) => {
    const { connectionString } = await startServer({ started: false });
    const warned: string[] = [];
    const quiet = (): void => {};
    const hooks = createPosthorn({
      database: connectionString,
      enabled,
      logger: { debug: quiet, info: quiet, error: quiet, warn: (message) => void warned.push(message) },
    });
    onTestFinished(() => hooks.stop({ graceMs: 0 }));
    await hooks.start({ role });
    expect(warned.filter((message) => message.includes("POSTHORN_ENABLED"))).toHaveLength(times);
  },
);

/** Another process on the same database, with delivery on. */
async function workerOn({ connectionString }: TestServer) {
  const worker = createPosthorn({
    database: connectionString,
    encryptionKeys,
    allowHttp: true,
    allowCidrs: ["127.0.0.0/8"],
  });
  onTestFinished(() => worker.stop({ graceMs: 0 }));
  await worker.start();
  return worker;
}
