// The installation and its charts over HTTP: who sees what, and that lists have an end.
import { createClient } from "@posthorn/client";
import { expect, onTestFinished, test } from "vitest";
import { createPool } from "../../../../../tests/support/database/postgres.ts";
import { eventually } from "../../../../../tests/support/eventually.ts";
import { startReceiver } from "../../../../../tests/support/servers/start-receiver.ts";
import { adminKey, startServer } from "../../../../../tests/support/servers/start-server.ts";
import { Sink } from "../sink.ts";

test("the system resource returns version, migrations, workers, backlog and retention", async () => {
  const sink = { sink: new Sink(), readers: "public" as const };
  const server = await startServer({ sink, posthorn: { retentionDays: 7 } });
  const client = createClient({ url: server.url, key: adminKey, checksResponses: true });
  await eventually("a worker leads", async () => (await client.system.get()).workers.data[0]?.leads === true);
  const system = await client.system.get();
  expect(system.version).toMatch(/^\d+\.\d+\.\d+/);
  expect(system.has_sink).toBe(true);
  expect(system.schema.applied.map(({ version }) => version)).toContain(system.schema.version);
  expect(system.schema.pending).toEqual([]);
  expect(system.workers).toMatchObject({ is_complete: true, data: [{ delivers: true, is_alive: true }] });
  expect(system.workers.data[0]?.name).toMatch(/:\d+$/);
  const [{ started_at, last_seen_at } = { started_at: "", last_seen_at: "" }] = system.workers.data;
  expect(Date.parse(last_seen_at)).toBeGreaterThanOrEqual(Date.parse(started_at));
  expect(system.backlog).toMatchObject({ count: 0, is_exact: true, oldest_due_age_seconds: 0, outbox: 0 });
  expect(system.open_circuits).toEqual({ data: [], is_complete: true });
  expect(system.retention).toEqual({
    retention_days: 7,
    dead_retention_days: null,
    idempotency_days: 30,
    audit_days: 365,
  });
});

test("endpoints in trouble are listed by kind, longest first, at most 100", async () => {
  const server = await startServer({ started: false, posthorn: { maxEndpointsPerTenant: 200 } });
  const pool = createPool(server.connectionString);
  onTestFinished(() => pool.end());
  const create = async () => (await server.newEndpoint({}, "acme")).id;
  const [open, failing, disabled] = [await create(), await create(), await create()];
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

test("charts are a tenant's own, and another's endpoint has nothing to show", async () => {
  const receiver = await startReceiver();
  receiver.answer("/bad", 400);
  const server = await startServer();
  const endpoints: Record<string, string> = {};
  for (const [tenant, path] of [
    ["acme", "/good"],
    ["rivals", "/bad"],
  ] as const) {
    endpoints[tenant] = (await server.newEndpoint({ url: receiver.url + path }, tenant)).id;
    await server.call("POST", "/api/v1/events", { tenant, type: "order.paid", data: {} });
  }
  const client = createClient({ url: server.url, key: adminKey, checksResponses: true });
  // a worker writes its counts every five seconds
  await eventually("both are counted", async () => {
    const { total } = await client.activity.get({ query: {} });
    return total.success === 1 && total.dead === 1;
  });
  const acme = await server.keyHeaders(["deliveries:read"], "acme");
  const total = async (query: string) =>
    (await server.call("GET", `/api/v1/activity${query}`, undefined, acme)).json.total;
  expect(await total("")).toMatchObject({ success: 1, dead: 0, success_rate: 1 });
  expect(await total(`?endpoint=${endpoints.acme}`)).toMatchObject({ success: 1 });
  expect(await total(`?endpoint=${endpoints.rivals}`)).toMatchObject({ success: 0, dead: 0, p50: null });
  expect((await server.call("GET", "/api/v1/activity?period=week")).status).toBe(422);
  const attempts = async (query: string, headers = {}) =>
    (await server.call("GET", `/api/v1/stats${query}`, undefined, headers)).json.attempts;
  expect(await attempts("")).toMatchObject({ success: 1, dead: 1 });
  expect(await attempts("?tenant=rivals")).toMatchObject({ success: 0, dead: 1 });
  expect(await attempts("", acme)).toMatchObject({ success: 1, dead: 0 });
  expect(await attempts(`?endpoint=${endpoints.rivals}`, acme)).toMatchObject({ dead: 0 });
  expect((await server.call("GET", "/api/v1/stats?period=week")).status).toBe(422);
});
