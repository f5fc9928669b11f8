// The installation and its charts over HTTP: who sees what, and that lists have an end.
import { createClient } from "@posthorn/client";
import { startScriptedReceiver } from "posthorn/testing";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../../../../../../tests/support/eventually.ts";
import { createPool } from "../../../../../../tests/support/postgres.ts";
import { adminKey, startServer, type TestServer } from "../../../../../../tests/support/start-server.ts";
import { Sink } from "../../sink.ts";

async function keyOf(server: TestServer, scopes: readonly string[], tenant?: string) {
  const { json } = await server.call("POST", "/api/v1/keys", { name: "k", tenant, scopes });
  return { authorization: `Bearer ${json.key}` };
}

function databaseOf({ connectionString }: TestServer) {
  const pool = createPool(connectionString);
  onTestFinished(() => pool.end());
  return pool;
}

test("the system resource returns version, migrations, workers, backlog and retention", async () => {
  const server = await startServer({ posthorn: { retentionDays: 7 } });
  const client = createClient({ url: server.url, key: adminKey, checksAnswers: true });
  await eventually("somebody leads", async () => (await client.system.get()).workers.data[0]?.leads === true);
  const system = await client.system.get();
  expect(system.version).toMatch(/^\d+\.\d+\.\d+/);
  expect(system.has_sink).toBe(false);
  expect(system.schema.applied.map(({ version }) => version)).toContain(system.schema.version);
  expect(system.schema.pending).toEqual([]);
  expect(system.workers).toMatchObject({ is_complete: true, data: [{ delivers: true, is_alive: true }] });
  expect(system.workers.data[0]?.name).toMatch(/:\d+$/);
  const age = Date.now() - Date.parse(system.workers.data[0]?.last_seen_at ?? "");
  expect(age).toBeLessThan(20_000);
  expect(system.owed).toMatchObject({ count: 0, is_exact: true, oldest_due_age_seconds: 0, outbox: 0 });
  expect(system.open_circuits).toEqual({ data: [], is_complete: true });
  expect(system.retention).toEqual({
    retention_days: 7,
    dead_retention_days: null,
    idempotency_days: 30,
    audit_days: 365,
  });
});

test("a server with a sink reports it", async () => {
  const server = await startServer({ started: false, sink: { sink: new Sink(), readers: "public" } });
  expect((await server.call("GET", "/api/v1/system")).json.has_sink).toBe(true);
});

test("it is for keys of the whole installation, with deliveries:read", async () => {
  const server = await startServer({ started: false });
  await server.call("PUT", "/api/v1/tenants/acme");
  const status = async (scopes: readonly string[], tenant?: string) =>
    (await server.call("GET", "/api/v1/system", undefined, await keyOf(server, scopes, tenant))).status;
  expect(await status(["deliveries:read"])).toBe(200);
  expect(await status(["admin"])).toBe(200);
  expect(await status(["webhooks:manage"])).toBe(403);
  expect(await status(["admin"], "acme")).toBe(403);
});

test("endpoints in trouble are listed by kind, longest first, at most 100", async () => {
  const server = await startServer({ started: false, posthorn: { maxEndpointsPerTenant: 200 } });
  const pool = databaseOf(server);
  await server.call("PUT", "/api/v1/tenants/acme");
  const ids: string[] = [];
  for (let n = 0; n < 3; n += 1) {
    const input = { url: "https://hooks.example/in", events: ["*"] };
    ids.push((await server.call("POST", "/api/v1/tenants/acme/endpoints", input)).json.id);
  }
  const [open, failing, disabled] = ids as [string, string, string];
  const ill = async (id: string, since: string, probe: string | null) =>
    await pool.query(
      "insert into posthorn.endpoint_health values ($1, 7, now() - $2::interval, 'HTTP 500', 1, now() + $3::interval, 0, null)",
      [id.slice(3), since, probe],
    );
  await ill(failing, "2 hours", null);
  await ill(open, "1 hour", "1 minute");
  await pool.query(
    "update posthorn.endpoints set is_active = false, disabled_reason = 'failures', disabled_at = now() where id = $1",
    [disabled.slice(3)],
  );
  const { json } = await server.call("GET", "/api/v1/system");
  const shown = (list: { data: { endpoint_id: string }[] }) => list.data.map((item) => item.endpoint_id);
  expect(shown(json.open_circuits)).toEqual([open]);
  expect(json.open_circuits.data[0]).toMatchObject({
    tenant: "acme",
    reason: "HTTP 500",
    consecutive_failures: 7,
    circuit: "open",
    probe_at: expect.any(String),
  });
  expect(shown(json.failing_endpoints)).toEqual([failing, open]);
  expect(json.disabled_endpoints.data).toMatchObject([{ endpoint_id: disabled, reason: "failures" }]);

  const addMore = (count: number) =>
    pool.query(
      `with made as (
         insert into posthorn.endpoints (id, tenant, url, events)
         select gen_random_uuid(), 'acme', 'https://hooks.example/in', '{*}' from generate_series(1, $1) returning id
       )
       insert into posthorn.endpoint_health
       select id, 1, now(), 'timeout', 0, null, 0, null from made`,
      [count],
    );
  await addMore(98);
  const full = (await server.call("GET", "/api/v1/system")).json.failing_endpoints;
  expect([full.data.length, full.is_complete]).toEqual([100, true]);
  await addMore(1);
  const more = (await server.call("GET", "/api/v1/system")).json.failing_endpoints;
  expect([more.data.length, more.is_complete]).toEqual([100, false]);
});

test("charts and health are a tenant's own, and another's endpoint has nothing to show", async () => {
  const receiver = await startScriptedReceiver();
  onTestFinished(() => receiver.close());
  receiver.answer("/bad", 400);
  const server = await startServer();
  const endpoints: Record<string, string> = {};
  for (const [tenant, path] of [
    ["acme", "/good"],
    ["rivals", "/bad"],
  ] as const) {
    await server.call("PUT", `/api/v1/tenants/${tenant}`);
    const input = { url: receiver.url + path, events: ["*"] };
    endpoints[tenant] = (await server.call("POST", `/api/v1/tenants/${tenant}/endpoints`, input)).json.id;
    await server.call("POST", "/api/v1/events", { tenant, type: "order.paid", data: {} });
  }
  const client = createClient({ url: server.url, key: adminKey, checksAnswers: true });
  // a worker writes its counts every five seconds
  await eventually("both are counted", async () => {
    const { total } = await client.activity.get({ query: {} });
    return total.success === 1 && total.dead === 1;
  });
  for (const period of ["hour", "day", "month"] as const)
    expect((await client.activity.get({ query: { period } })).total.success_share).toBe(0.5);
  const acme = await keyOf(server, ["deliveries:read"], "acme");
  const total = async (query: string) =>
    (await server.call("GET", `/api/v1/activity${query}`, undefined, acme)).json.total;
  expect(await total("")).toMatchObject({ success: 1, dead: 0, success_share: 1 });
  expect(await total(`?endpoint=${endpoints.acme}`)).toMatchObject({ success: 1 });
  expect(await total(`?endpoint=${endpoints.rivals}`)).toMatchObject({ success: 0, dead: 0, p50: null });
  expect((await server.call("GET", "/api/v1/activity?tenant=rivals", undefined, acme)).status).toBe(403);
  expect((await server.call("GET", "/api/v1/activity?period=week")).status).toBe(422);
  const { data } = await client.endpoints.list({ tenant: "rivals" });
  expect(data[0]?.health.last_day).toMatchObject({ success: 0, failed: 1, success_share: 0 });
  expect(data[0]?.health.last_day?.points).toHaveLength(24);
});
