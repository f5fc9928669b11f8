import { expect, test } from "vitest";
import { startServer } from "../../../../../tests/support/servers/start-server.ts";

test("metrics need a key of the installation with the scope admin", async () => {
  const server = await startServer();
  const statusFor = async (headers?: Record<string, string>) =>
    (await server.visit("GET", "/metrics", undefined, headers)).status;
  expect(await statusFor()).toBe(401);
  expect(await statusFor(await server.keyHeaders(["deliveries:read"]))).toBe(403);
  expect(await statusFor(await server.keyHeaders(["admin"], await server.newTenant()))).toBe(403);
  expect(await statusFor(await server.keyHeaders(["admin"]))).toBe(200);
  const { headers, text } = await server.call("GET", "/metrics");
  expect(headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  expect(text).toContain("\nwebhook_queue_depth 0\n");
});

test("metrics can be made public, also in a process without an API", async () => {
  const server = await startServer({ metricsPublic: true, routes: "health" });
  const answer = await fetch(`${server.url}/metrics`);
  expect(answer.status).toBe(200);
  expect(await answer.text()).toContain("\nwebhook_workers 1\n");
  expect((await server.call("GET", "/readyz")).status).toBe(200);
  const missing = await server.call("GET", "/api/v1/tenants");
  expect([missing.status, missing.json.detail]).toEqual([404, expect.stringContaining("runs as a worker")]);
});
