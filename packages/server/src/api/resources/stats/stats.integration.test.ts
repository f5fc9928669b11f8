import { expect, test } from "vitest";
import { startServer } from "../../../../../../tests/support/start-server.ts";

test("a key of one tenant sees its own numbers, whatever it asks for, and one of the installation all of them", async () => {
  const server = await startServer();
  for (const [tenant, events] of [
    ["acme", 1],
    ["rivals", 2],
  ] as const) {
    await server.call("PUT", `/api/v1/tenants/${tenant}`, {});
    const endpoint = { url: "https://hooks.example/in", events: ["*"], is_active: false };
    await server.call("POST", `/api/v1/tenants/${tenant}/endpoints`, endpoint);
    for (let n = 0; n < events; n += 1)
      await server.call("POST", "/api/v1/events", { tenant, type: "order.paid", data: n });
  }
  const { data } = (await server.call("GET", "/api/v1/tenants/rivals/endpoints")).json;
  const { key } = (
    await server.call("POST", "/api/v1/keys", { name: "k", scopes: ["deliveries:read"], tenant: "acme" })
  ).json;
  const pending = async (query: string, headers = {}) =>
    (await server.call("GET", `/api/v1/stats${query}`, undefined, headers)).json.now?.pending.count;
  const asAcme = { authorization: `Bearer ${key}` };
  expect(await pending("")).toBe(3);
  expect(await pending("?tenant=rivals")).toBe(2);
  expect(await pending("", asAcme)).toBe(1);
  expect(await pending(`?endpoint=${data[0].id}`)).toBe(2);
  expect(await pending(`?endpoint=${data[0].id}`, asAcme)).toBe(0);
  expect((await server.call("GET", "/api/v1/stats?tenant=rivals", undefined, asAcme)).status).toBe(403);
  expect((await server.call("GET", "/api/v1/stats?period=week")).status).toBe(422);
});
