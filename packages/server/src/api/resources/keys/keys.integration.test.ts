// Keys and tokens: what they may do, how long, and how fast a revoked one stops.

import pg from "pg";
import { expect, onTestFinished, test, vi } from "vitest";
import { eventuallyPasses } from "../../../../../../tests/support/eventually.ts";
import { queryOnce } from "../../../../../../tests/support/own-postgres.ts";
import {
  type Answer,
  sharedServer,
  startServer,
  type TestServer,
} from "../../../../../../tests/support/start-server.ts";
import { createServer } from "../../../server.ts";

const shared = sharedServer({ started: false });

function calling(server: TestServer, key: string) {
  return (method: string, path: string, body?: unknown): Promise<Answer> =>
    server.call(method, path, body, { authorization: `Bearer ${key}` });
}

async function makeKey(
  server: TestServer,
  input: object,
): Promise<{ id: string; key: string; scopes: string[] }> {
  const { status, json } = await server.call("POST", "/api/v1/keys", { name: "test", ...input });
  expect([status, json.code]).toEqual([201, undefined]);
  return json;
}

test("a key is shown once, and the database holds nothing that could be used as one", async () => {
  const server = shared();
  await server.call("PUT", "/api/v1/tenants/acme");
  const made = await makeKey(server, { tenant: "acme", scopes: ["events:publish"] });
  expect(made.key).toMatch(/^phk_[0-9A-Za-z]{10}_[0-9A-Za-z]{38}$/);
  const listed = await server.call("GET", "/api/v1/keys");
  expect(listed.json.data).toMatchObject([{ id: made.id, tenant: "acme", scopes: ["events:publish"] }]);
  expect(listed.text).not.toContain(made.key);
  const client = new pg.Client({ connectionString: server.connectionString });
  await client.connect();
  const { rows } = await client.query("select * from posthorn.api_keys");
  await client.end();
  const kept = JSON.stringify(rows);
  expect(kept).not.toContain(made.key.slice(15, 47));
  expect(await calling(server, made.id)("GET", "/api/v1/tenants/acme")).toMatchObject({ status: 401 });
});

test("scopes limit a key, and the error names the missing one", async () => {
  const server = shared();
  await server.call("PUT", "/api/v1/tenants/acme");
  const { key } = await makeKey(server, { scopes: ["events:publish"] });
  const call = calling(server, key);
  const event = { tenant: "acme", type: "order.paid", data: {} };
  expect(await call("POST", "/api/v1/events", event)).toMatchObject({ status: 202 });
  expect(await call("GET", "/api/v1/deliveries")).toMatchObject({
    status: 403,
    json: { code: "forbidden", detail: expect.stringContaining("deliveries:read") },
  });
});

test.each([
  [{ name: "", scopes: ["admin"] }, "/name"],
  [{ name: "x".repeat(201), scopes: ["admin"] }, "/name"],
  [{ name: "x", scopes: [] }, "/scopes"],
  [{ name: "x", scopes: ["everything"] }, "/scopes/0"],
  [{ name: "x", scopes: ["admin"], expires_at: "2020-01-01T00:00:00Z" }, "/expires_at"],
  [{ name: "x", scopes: ["admin"], expires_at: "tomorrow" }, "/expires_at"],
  [{ name: "x", scopes: ["admin"], rate_limit: 0 }, "/rate_limit"],
  [{ name: "x", scopes: ["admin"], rate_limit: 100_001 }, "/rate_limit"],
  [{ name: "x", scopes: ["admin"], owner: "me" }, "/owner"],
])("the key %j is refused at %s", async (input, pointer) => {
  const server = shared();
  const { status, json } = await server.call("POST", "/api/v1/keys", input);
  expect([status, json.errors?.[0]?.pointer]).toEqual([422, pointer]);
});

test("the longest name and the highest rate are accepted; an unknown tenant is rejected", async () => {
  const server = shared();
  await makeKey(server, { name: "x".repeat(200), scopes: ["admin"], rate_limit: 100_000 });
  const { status, json } = await server.call("POST", "/api/v1/keys", {
    name: "x",
    scopes: ["admin"],
    tenant: "nobody",
  });
  expect([status, json.code]).toEqual([404, "tenant_not_found"]);
});

test("wrong, expired and revoked keys get the same 401", async () => {
  const server = shared();
  const { key, id } = await makeKey(server, { scopes: ["deliveries:read"] });
  const expires_at = new Date(Date.now() + 600_000).toISOString();
  const expiring = await makeKey(server, { scopes: ["deliveries:read"], expires_at });
  await queryOnce(
    server.connectionString,
    "update posthorn.api_keys set expires_at = now() where expires_at is not null",
  );
  const list = (given: string) =>
    server.call("GET", "/api/v1/deliveries", undefined, {
      authorization: `Bearer ${given}`,
      "x-request-id": "same",
    });
  expect((await list(key)).status).toBe(200);
  await server.call("DELETE", `/api/v1/keys/${id}`);
  await eventuallyPasses(async () => expect((await list(key)).status).toBe(401));
  const wrong = `${key.slice(0, -1)}${key.endsWith("0") ? "1" : "0"}`;
  const answers = await Promise.all([key, expiring.key, wrong, "phk_x", "x"].map(list));
  expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
});

test("a revoked key stops within a second on another node too", async () => {
  const server = shared();
  const other = createServer({ hooks: server.hooks, port: 0, adminKey: "x".repeat(32) });
  const { url } = await other.start();
  const { key, id } = await makeKey(server, { scopes: ["deliveries:read"] });
  const headers = { authorization: `Bearer ${key}` };
  const status = async () => (await fetch(`${url}/api/v1/deliveries`, { headers })).status;
  expect(await status()).toBe(200);
  await server.call("DELETE", `/api/v1/keys/${id}`);
  const now = performance.now.bind(performance);
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now() + 1_000);
  onTestFinished(() => clock.mockRestore());
  expect(await status()).toBe(401);
  await other.stop({ graceMs: 0 });
});

test("a key over its rate limit waits for Retry-After, and other keys do not", async () => {
  const server = await startServer({ started: false, keyRateLimit: 50 });
  const slow = await makeKey(server, { scopes: ["deliveries:read"], rate_limit: 2 });
  const usual = await makeKey(server, { scopes: ["deliveries:read"] });
  const statuses: number[] = [];
  for (let turn = 0; turn < 3; turn += 1) {
    statuses.push((await calling(server, slow.key)("GET", "/api/v1/deliveries?limit=1")).status);
  }
  expect(statuses.slice(0, 2)).toEqual([200, 200]);
  const refused = await calling(server, slow.key)("GET", "/api/v1/deliveries?limit=1");
  if (statuses[2] === 429 || refused.status === 429) {
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(refused.json.code).toBe("rate_limited");
  } else throw new Error("four requests at once passed a limit of two per second");
  expect((await calling(server, usual.key)("GET", "/api/v1/deliveries")).status).toBe(200);
});

test("the last use is noted", async () => {
  const server = shared();
  const { key, id } = await makeKey(server, { scopes: ["deliveries:read"] });
  await calling(server, key)("GET", "/api/v1/deliveries");
  await eventuallyPasses(async () => {
    const { json } = await server.call("GET", "/api/v1/keys");
    expect(json.data.find((one: { id: string }) => one.id === id).last_used_at).not.toBeNull();
  });
});

test("a key of one tenant makes keys for that tenant only", async () => {
  const server = await startServer({ started: false });
  for (const tenant of ["acme", "other"]) await server.call("PUT", `/api/v1/tenants/${tenant}`);
  const { key } = await makeKey(server, { tenant: "acme", scopes: ["admin"] });
  const call = calling(server, key);
  const own = await call("POST", "/api/v1/keys", { name: "own", scopes: ["admin"] });
  expect([own.status, own.json.tenant]).toEqual([201, "acme"]);
  const foreign = await call("POST", "/api/v1/keys", { name: "x", scopes: ["admin"], tenant: "other" });
  expect(foreign.status).toBe(403);
  const listed = await call("GET", "/api/v1/keys");
  expect(listed.json.data.map(({ tenant }: { tenant: string }) => tenant)).toEqual(["acme", "acme"]);
});

test("a key of a tenant cannot create keys with a higher rate limit", async () => {
  const server = shared();
  await server.call("PUT", "/api/v1/tenants/acme");
  const { key } = await makeKey(server, { tenant: "acme", scopes: ["admin"], rate_limit: 50 });
  const make = (input: object) =>
    calling(server, key)("POST", "/api/v1/keys", { name: "x", scopes: ["admin"], ...input });
  expect((await make({ rate_limit: 51 })).json).toMatchObject({ status: 403, code: "forbidden" });
  expect((await make({ rate_limit: 50 })).json).toMatchObject({ rate_limit: 50 });
  expect((await make({})).json).toMatchObject({ rate_limit: 50 });
  await server.call("PUT", "/api/v1/tenants/acme/members/anna", { role: "owner" });
  const tokens = "/api/v1/tenants/acme/members/anna/tokens";
  expect((await calling(server, key)("POST", tokens, {})).json).toMatchObject({ rate_limit: 50 });
  expect((await server.call("POST", tokens, {})).json).toMatchObject({ rate_limit: null });
});

test("a key that ends makes no key and no token that outlives it", async () => {
  const server = shared();
  await server.call("PUT", "/api/v1/tenants/acme");
  await server.call("PUT", "/api/v1/tenants/acme/members/anna", { role: "owner" });
  const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1_000);
  for (const tenant of ["acme", null]) {
    const end = inSeconds(600);
    const { key } = await makeKey(server, { tenant, scopes: ["admin"], expires_at: end.toISOString() });
    const make = (expires_at?: string | null) =>
      calling(server, key)("POST", "/api/v1/keys", { name: "x", scopes: ["admin"], expires_at });
    for (const none of [undefined, null]) expect((await make(none)).json.expires_at).toBe(end.toISOString());
    expect((await make(end.toISOString())).json.expires_at).toBe(end.toISOString());
    const later = new Date(end.getTime() + 1);
    expect((await make(later.toISOString())).json).toMatchObject({ status: 403, code: "forbidden" });
    const token = (body?: object) =>
      calling(server, key)("POST", "/api/v1/tenants/acme/members/anna/tokens", body);
    const usual = await token();
    expect(Date.parse(usual.json.expires_at)).toBeLessThanOrEqual(end.getTime());
    expect((await token({ expires_in_seconds: 60 })).status).toBe(201);
    expect((await token({ expires_in_seconds: 601 })).json).toMatchObject({ status: 403, code: "forbidden" });
    const short = { tenant, scopes: ["admin"], expires_at: inSeconds(59).toISOString() };
    const { key: ending } = await makeKey(server, short);
    const path = "/api/v1/tenants/acme/members/anna/tokens";
    expect((await calling(server, ending)("POST", path)).status).toBe(403);
  }
});

test("a scope that is named twice is kept once", async () => {
  const server = shared();
  const { scopes } = await makeKey(server, { scopes: ["admin", "deliveries:read", "admin"] });
  expect(scopes).toEqual(["admin", "deliveries:read"]);
});

test("a member acts by a token, in the role they have now, and no longer than they are a member", async () => {
  const server = shared();
  await server.call("PUT", "/api/v1/tenants/acme");
  await server.call("PUT", "/api/v1/tenants/acme/members/anna", { role: "admin" });
  const made = await server.call("POST", "/api/v1/tenants/acme/members/anna/tokens", {
    expires_in_seconds: 60,
  });
  expect([made.status, made.json]).toMatchObject([201, { tenant: "acme", user: "anna", scopes: [] }]);
  expect(made.json.key).toMatch(/^pht_/);
  const call = calling(server, made.json.key);
  const input = { url: "https://acme.example/hooks", events: ["*"] };
  expect((await call("POST", "/api/v1/tenants/acme/endpoints", input)).status).toBe(201);
  expect((await call("POST", "/api/v1/events", { tenant: "acme", type: "a", data: 1 })).status).toBe(403);
  await server.call("PUT", "/api/v1/tenants/acme/members/anna", { role: "member" });
  const create = () => call("POST", "/api/v1/tenants/acme/endpoints", input);
  await eventuallyPasses(async () => expect((await create()).status).toBe(403));
  expect((await call("GET", "/api/v1/tenants/acme/endpoints")).status).toBe(200);
  await server.call("DELETE", "/api/v1/tenants/acme/members/anna");
  const look = () => call("GET", "/api/v1/tenants/acme/endpoints");
  await eventuallyPasses(async () => expect((await look()).status).toBe(401));
});

test.each([59, 2_592_001])("a token of %d seconds is refused", async (seconds) => {
  const server = shared();
  await server.call("PUT", "/api/v1/tenants/acme");
  await server.call("PUT", "/api/v1/tenants/acme/members/anna", { role: "member" });
  const path = "/api/v1/tenants/acme/members/anna/tokens";
  expect((await server.call("POST", path, { expires_in_seconds: seconds })).json).toMatchObject({
    code: "invalid_key",
    errors: [{ pointer: "/expires_in_seconds" }],
  });
  expect((await server.call("POST", path, { expires_in_seconds: 2_592_000 })).status).toBe(201);
});
