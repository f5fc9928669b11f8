import { expect, test } from "vitest";
import { adminKey, startServer } from "../../../../../tests/support/start-server.ts";

const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });

test("the metrics are for a key of the installation with the scope admin", async () => {
  const server = await startServer();
  await server.call("PUT", "/api/v1/tenants/acme", {});
  const keyWith = async (scopes: string[], tenant?: string): Promise<string> =>
    (await server.call("POST", "/api/v1/keys", { name: "k", scopes, tenant })).json.key;
  const statusFor = async (key?: string): Promise<number> =>
    (await fetch(`${server.url}/metrics`, key === undefined ? {} : bearer(key))).status;
  expect(await statusFor()).toBe(401);
  expect(await statusFor(await keyWith(["deliveries:read"]))).toBe(403);
  expect(await statusFor(await keyWith(["admin"], "acme"))).toBe(403);
  expect(await statusFor(await keyWith(["admin"]))).toBe(200);
  const answer = await fetch(`${server.url}/metrics`, bearer(adminKey));
  expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  expect(await answer.text()).toContain("\nwebhook_queue_depth 0\n");
});

test("the metrics are for everybody where that is set, and in a process without an API too", async () => {
  const server = await startServer({ metricsPublic: true, routes: "health" });
  const answer = await fetch(`${server.url}/metrics`);
  expect(answer.status).toBe(200);
  expect(await answer.text()).toContain("\nwebhook_workers 1\n");
  expect((await server.call("GET", "/api/v1/tenants")).status).toBe(404);
});
