// POSTHORN_ENABLED=false, over HTTP.
import { randomBytes } from "node:crypto";
import { createPosthorn } from "posthorn";
import { expect, onTestFinished, test, vi } from "vitest";
import { queryOnce } from "../../../../tests/support/database/own-postgres.ts";
import { startReceiver } from "../../../../tests/support/servers/start-receiver.ts";
import { startServer } from "../../../../tests/support/servers/start-server.ts";

test("with delivery disabled events are stored, and sent by a process where it is enabled", async () => {
  const encryptionKeys = `test:${randomBytes(32).toString("base64")}`;
  const receiver = await startReceiver();
  const server = await startServer({ posthorn: { encryptionKeys, enabled: false } });
  const { call, connectionString } = server;
  const { path: acme } = await server.newEndpoint({ url: `${receiver.url}/acme` }, "acme");
  await server.newEndpoint({ url: `${receiver.url}/other` }, "other");
  for (const tenant of ["acme", "other"]) {
    const { json } = await call("POST", "/api/v1/events", { tenant, type: "order.paid", data: 1 });
    expect(json).toMatchObject({ deliveries: 1 });
  }
  await queryOnce(connectionString, "select posthorn.publish('acme', 'order.paid', '1'::text)");
  const { json: tested } = await call("POST", `${acme}/test`);
  expect((await call("GET", "/readyz")).status).toBe(200);
  expect(receiver.requests).toEqual([]);
  await call("PUT", "/api/v1/tenants/other", { is_active: false });

  const allowed = { allowHttp: true, allowCidrs: ["127.0.0.0/8"] };
  const worker = createPosthorn({ database: connectionString, encryptionKeys, ...allowed });
  onTestFinished(() => worker.stop({ graceMs: 0 }));
  await worker.start();
  await receiver.received(3, { path: "/acme" });
  const sent = receiver.requestsTo("/acme").map(({ headers }) => headers["x-webhook-id"]);
  expect(new Set(sent).size).toBe(3);
  expect(sent).toContain(tested.event_id);
  // deliveries of a tenant that became inactive wait until it is active again
  expect(receiver.requestsTo("/other")).toEqual([]);
  await call("PUT", "/api/v1/tenants/other", { is_active: true });
  await receiver.received(1, { path: "/other" });
});

test("delivery is turned off and on over HTTP by operators, recorded, and followed by every process", async () => {
  const receiver = await startReceiver();
  const server = await startServer();
  const { tenant } = await server.newEndpoint({ url: `${receiver.url}/in` });
  const path = "/api/v1/delivery-mode";
  const publish = () => server.call("POST", "/api/v1/events", { tenant, type: "order.paid", data: 1 });
  expect((await server.call("GET", path)).json).toEqual({
    mode: "on",
    source: "setting",
    setting: "on",
    since: null,
    changed_by: null,
    note: null,
    dropped: 0,
  });
  const off = await server.call("PUT", path, { mode: "drop", note: "incident 12" });
  expect(off.json).toMatchObject({
    mode: "drop",
    source: "stored",
    changed_by: "admin",
    note: "incident 12",
  });
  await expect.poll(async () => (await publish()).json).toMatchObject({ deliveries: 0, dropped: true });
  await server.call("PUT", path, { mode: "hold" });
  await expect.poll(async () => (await publish()).json).toMatchObject({ deliveries: 1 });
  const { json: waiting } = await server.call("GET", `/api/v1/deliveries?tenant=${tenant}`);
  expect(waiting.data[0]).toMatchObject({ state: "pending", waits_for: { reason: "sending_off" } });
  await server.call("PUT", path, { mode: "on" });
  await receiver.received(1, { path: "/in" });
  const { json: log } = await server.call("GET", "/api/v1/audit-log?action=deliveryMode.set");
  expect(log.data.map(({ changes }: { changes: object }) => changes)).toEqual([
    { mode: "on" },
    { mode: "hold" },
    { mode: "drop", note: "incident 12" },
  ]);
  expect((await server.call("PUT", path, { mode: "off" })).status).toBe(422);
  const ofTenant = await server.keyHeaders(["admin"], tenant);
  for (const method of ["GET", "PUT"])
    expect(
      (await server.call(method, path, method === "PUT" ? { mode: "on" } : undefined, ofTenant)).status,
    ).toBe(403);
});

test("a process that would deliver warns if delivery is disabled", async () => {
  const { connectionString } = await startServer({ started: false });
  for (const [role, enabled, warnings] of [
    ["all", false, 1],
    ["worker", false, 1],
    ["api", false, 0],
    ["all", true, 0],
  ] as const) {
    const warn = vi.fn();
    const logger = { debug() {}, info() {}, error() {}, warn };
    const hooks = createPosthorn({ database: connectionString, enabled, logger });
    await hooks.start({ role });
    await hooks.stop({ graceMs: 0 });
    const messages = warn.mock.calls.filter(([message]) => message.includes("POSTHORN_ENABLED"));
    expect([role, enabled, messages.length]).toEqual([role, enabled, warnings]);
  }
});
