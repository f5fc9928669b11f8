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
