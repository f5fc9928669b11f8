// Keys and tokens: their permissions and lifetime, and how soon a revoked one stops working.
import { expect, onTestFinished, test, vi } from "vitest";
import { queryOnce } from "../../../../../../tests/support/database/own-postgres.ts";
import { eventuallyPasses } from "../../../../../../tests/support/eventually.ts";
import {
  type Answer,
  sharedServer,
  startServer,
} from "../../../../../../tests/support/servers/start-server.ts";

const server = sharedServer({ started: false });
const KEYS = "/api/v1/keys";

function calling(key: string) {
  return (method: string, path: string, body?: unknown): Promise<Answer> =>
    server.call(method, path, body, { authorization: `Bearer ${key}`, "x-request-id": "same" });
}

async function makeKey(input: object): Promise<{ id: string; key: string; scopes: string[] }> {
  const { status, json } = await server.call("POST", KEYS, { name: "test", ...input });
  expect([status, json.code]).toEqual([201, undefined]);
  return json;
}

/** A tenant with an owner, and the path of the owner's tokens. */
async function withMember() {
  const tenant = await server.newTenant();
  const member = `/api/v1/tenants/${tenant}/members/anna`;
  await server.call("PUT", member, { role: "owner" });
  return { tenant, tokens: `${member}/tokens` };
}

test("a key is returned once, and the database contains only its digest", async () => {
  const tenant = await server.newTenant();
  const made = await makeKey({ tenant, scopes: ["admin", "events:publish", "admin"] });
  expect(made.key).toMatch(/^phk_[0-9A-Za-z]{10}_[0-9A-Za-z]{38}$/);
  const listed = await server.call("GET", KEYS);
  expect(listed.json.data[0]).toMatchObject({ id: made.id, tenant, scopes: ["admin", "events:publish"] });
  expect(listed.text).not.toContain(made.key);
  const rows = await queryOnce(server.connectionString, "select * from posthorn.api_keys");
  expect(JSON.stringify(rows)).not.toContain(made.key.slice(15, 47));
  expect((await calling(made.id)("GET", `/api/v1/tenants/${tenant}`)).status).toBe(401);
});

test("invalid settings of a key are refused, and those at the limits accepted", async () => {
  for (const [input, pointer] of [
    [{ name: "" }, "/name"],
    [{ name: "x".repeat(201) }, "/name"],
    [{ scopes: [] }, "/scopes"],
    [{ scopes: ["everything"] }, "/scopes/0"],
    [{ expires_at: "2020-01-01T00:00:00Z" }, "/expires_at"],
    [{ expires_at: "tomorrow" }, "/expires_at"],
    [{ rate_limit: 0 }, "/rate_limit"],
    [{ rate_limit: 100_001 }, "/rate_limit"],
    [{ owner: "me" }, "/owner"],
  ] as const) {
    const { status, json } = await server.call("POST", KEYS, { name: "x", scopes: ["admin"], ...input });
    expect([input, status, json.errors?.[0]?.pointer]).toEqual([input, 422, pointer]);
  }
  await makeKey({ name: "x".repeat(200), scopes: ["admin"], rate_limit: 100_000 });
  const unknown = await server.call("POST", KEYS, { name: "x", scopes: ["admin"], tenant: "nobody" });
  expect([unknown.status, unknown.json.code]).toEqual([404, "tenant_not_found"]);
});

test("wrong, expired and revoked keys get the same 401", async () => {
  const { key, id } = await makeKey({ scopes: ["deliveries:read"] });
  const expires_at = new Date(Date.now() + 600_000).toISOString();
  const expiring = await makeKey({ scopes: ["deliveries:read"], expires_at });
  await queryOnce(
    server.connectionString,
    "update posthorn.api_keys set expires_at = now() where expires_at is not null",
  );
  const list = (given: string) => calling(given)("GET", "/api/v1/deliveries");
  expect((await list(key)).status).toBe(200);
  await server.call("DELETE", `${KEYS}/${id}`);
  await eventuallyPasses(async () => expect((await list(key)).status).toBe(401));
  const wrong = `${key.slice(0, -1)}${key.endsWith("0") ? "1" : "0"}`;
  const answers = await Promise.all([key, expiring.key, wrong, "phk_x", "x"].map(list));
  expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
});

test("a revoked key stops within a second on another node too", async () => {
  const other = await startServer({ hooks: server.hooks });
  const { key, id } = await makeKey({ scopes: ["deliveries:read"] });
  const status = async () =>
    (await other.visit("GET", "/api/v1/deliveries", undefined, { authorization: `Bearer ${key}` })).status;
  expect(await status()).toBe(200);
  await server.call("DELETE", `${KEYS}/${id}`);
  const now = performance.now.bind(performance);
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now() + 1_000);
  onTestFinished(() => clock.mockRestore());
  expect(await status()).toBe(401);
});

test("a key over its rate limit gets 429 with Retry-After, and other keys do not", async () => {
  const slow = await makeKey({ scopes: ["deliveries:read"], rate_limit: 2 });
  const usual = await makeKey({ scopes: ["deliveries:read"] });
  const list = (key: string) => calling(key)("GET", "/api/v1/deliveries?limit=1");
  // time stands still, so that no further request becomes allowed
  const clock = vi.spyOn(performance, "now").mockReturnValue(performance.now());
  onTestFinished(() => clock.mockRestore());
  const answers = await Promise.all(Array.from({ length: 8 }, () => list(slow.key)));
  const refused = answers.find(({ status }) => status === 429);
  expect([refused?.headers.get("retry-after"), refused?.json.code]).toEqual(["1", "rate_limited"]);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
  expect((await list(usual.key)).status).toBe(200);
});

test("the time of a key's last use is returned", async () => {
  const { key, id } = await makeKey({ scopes: ["deliveries:read"] });
  await calling(key)("GET", "/api/v1/deliveries");
  await eventuallyPasses(async () => {
    const { json } = await server.call("GET", KEYS);
    expect(json.data.find((one: { id: string }) => one.id === id).last_used_at).not.toBeNull();
  });
});

test("a key of a tenant creates keys for that tenant only, with at most its own rate limit", async () => {
  const { tenant, tokens } = await withMember();
  const { key } = await makeKey({ tenant, scopes: ["admin"], rate_limit: 50 });
  const make = async (input: object) =>
    (await calling(key)("POST", KEYS, { name: "x", scopes: ["admin"], ...input })).json;
  expect(await make({})).toMatchObject({ tenant, rate_limit: 50 });
  expect(await make({ rate_limit: 50 })).toMatchObject({ rate_limit: 50 });
  expect(await make({ rate_limit: 51 })).toMatchObject({ status: 403, code: "forbidden" });
  expect(await make({ tenant: await server.newTenant() })).toMatchObject({ status: 403 });
  expect((await calling(key)("POST", tokens, {})).json).toMatchObject({ rate_limit: 50 });
  expect((await server.call("POST", tokens, {})).json).toMatchObject({ rate_limit: null });
});

test("a key that expires creates no key and no token that expires later", async () => {
  const { tenant: own, tokens } = await withMember();
  const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString();
  for (const tenant of [own, null]) {
    const end = inSeconds(600);
    const { key } = await makeKey({ tenant, scopes: ["admin"], expires_at: end });
    const make = async (expires_at?: string | null) =>
      (await calling(key)("POST", KEYS, { name: "x", scopes: ["admin"], expires_at })).json;
    for (const given of [undefined, null, end]) expect((await make(given)).expires_at).toBe(end);
    expect(await make(new Date(Date.parse(end) + 1).toISOString())).toMatchObject({
      status: 403,
      code: "forbidden",
    });
    const token = (body?: object) => calling(key)("POST", tokens, body);
    expect(Date.parse((await token()).json.expires_at)).toBeLessThanOrEqual(Date.parse(end));
    expect((await token({ expires_in_seconds: 60 })).status).toBe(201);
    expect((await token({ expires_in_seconds: 601 })).json).toMatchObject({ status: 403, code: "forbidden" });
    const ending = await makeKey({ tenant, scopes: ["admin"], expires_at: inSeconds(59) });
    expect((await calling(ending.key)("POST", tokens)).status).toBe(403);
  }
});

test("a token is valid for a minute to 30 days", async () => {
  const { tokens } = await withMember();
  for (const expires_in_seconds of [59, 2_592_001])
    expect((await server.call("POST", tokens, { expires_in_seconds })).json).toMatchObject({
      code: "invalid_key",
      errors: [{ pointer: "/expires_in_seconds" }],
    });
  expect((await server.call("POST", tokens, { expires_in_seconds: 2_592_000 })).status).toBe(201);
});
