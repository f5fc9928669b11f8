// Links that let a customer into the portal: once, for a while, into one tenant, and no further than they say.
import { ROLE_SCOPES } from "@posthorn/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventuallyPasses } from "../../../../../../tests/support/eventually.ts";
import { rawRequest } from "../../../../../../tests/support/raw-request.ts";
import { codeIn, portalVisitor, signIn, visitor } from "../../../../../../tests/support/sign-in.ts";
import { adminKey, startServer, type TestServer } from "../../../../../../tests/support/start-server.ts";

const LINKS = "/api/v1/tenants/acme/portal-links";
const SESSION = "/api/v1/session";

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ started: false, atEnd: afterAll });
  for (const tenant of ["acme", "rivals"]) await server.call("PUT", `/api/v1/tenants/${tenant}`);
  await server.call("PUT", "/api/v1/tenants/acme/members/anna", { role: "admin" });
});

async function linkFor(input: object = {}): Promise<{ id: string; url: string; expires_at: string }> {
  const { status, json } = await server.call("POST", LINKS, input);
  expect([status, json.code]).toEqual([201, undefined]);
  return json;
}

test("a link leads to the portal, with its code where no server sees it, and is valid for five minutes", async () => {
  const { url, expires_at } = await linkFor();
  expect(url).toMatch(new RegExp(`^${server.url}/portal#code=phl_[0-9A-Za-z]{10}_[0-9A-Za-z]{38}$`));
  const seconds = (Date.parse(expires_at) - Date.now()) / 1_000;
  expect(seconds).toBeGreaterThan(290);
  expect(seconds).toBeLessThanOrEqual(300);
});

test("a link leads to where people reach the server, when that was set", async () => {
  const set = await startServer({ started: false, publicUrl: "https://hooks.example/in" });
  await set.call("PUT", "/api/v1/tenants/acme");
  const { json } = await set.call("POST", LINKS);
  expect(json.url).toMatch(/^https:\/\/hooks\.example\/in\/portal#code=phl_/);
  const strange = { host: "$(reboot)", authorization: `Bearer ${adminKey}` };
  const asked = await rawRequest(server.url, LINKS, { method: "POST", headers: strange });
  expect(JSON.parse(asked.text).url).toMatch(/^http:\/\/…\/portal#/);
});

test("a link opens a session of its tenant with what an admin may, and of two at once it lets one in", async () => {
  const { url } = await linkFor();
  const code = codeIn(url);
  const tries = await Promise.all(Array.from({ length: 8 }, () => signIn(server, { code })));
  const [inside] = tries.filter(({ answer }) => answer.status === 201);
  expect(tries.map(({ answer }) => answer.status).toSorted()).toEqual([201, ...Array(7).fill(401)]);
  expect(inside?.answer.json).toMatchObject({
    kind: "portal",
    tenant: "acme",
    user: null,
    role: null,
    scopes: ROLE_SCOPES.admin,
  });
  const visit = (method: string, path: string, body?: unknown) =>
    server.visit(method, path, body, inside?.headers);
  expect((await visit("GET", "/api/v1/tenants/acme/endpoints")).status).toBe(200);
  expect((await visit("GET", "/api/v1/tenants/rivals/endpoints")).status).toBe(404);
  expect((await visit("GET", "/api/v1/deliveries?tenant=rivals")).status).toBe(403);
  for (const [path, body] of [
    ["/api/v1/keys", { name: "x", scopes: ["admin"] }],
    [LINKS, {}],
    ["/api/v1/events", { tenant: "acme", type: "order.paid", data: {} }],
  ] as const) {
    expect([path, (await visit("POST", path, body)).status]).toEqual([path, 403]);
  }
});

test("changes of a customer are in the audit log with the link or the member", async () => {
  const nobody = await linkFor();
  const anna = await linkFor({ user: "anna" });
  for (const { url, id } of [nobody, anna]) {
    const { headers } = await signIn(server, { code: codeIn(url) });
    const endpoint = { url: "https://hooks.example/in", events: ["*"] };
    await server.visit("POST", "/api/v1/tenants/acme/endpoints", endpoint, headers);
    const { json } = await server.call("GET", "/api/v1/audit-log?tenant=acme&limit=2");
    const isAnna = id === anna.id;
    const actor = { kind: isAnna ? "member" : "portal", id, user: isAnna ? "anna" : null };
    expect(json.data).toMatchObject([
      { action: "endpoints.create", actor },
      { action: "session.create", actor, tenant: "acme", target: { made: id }, changes: { by: "code" } },
    ]);
  }
});

test.each<[input: object, scopes: readonly string[]]>([
  [{ role: "member" }, ROLE_SCOPES.member],
  [{ scopes: ["deliveries:retry"] }, ["deliveries:retry"]],
  [{ user: "anna" }, ROLE_SCOPES.admin],
  [{ user: "anna", role: "member" }, ROLE_SCOPES.member],
])("a link with %j gives that and no more", async (input, scopes) => {
  const { answer } = await signIn(server, { code: codeIn((await linkFor(input)).url) });
  expect(answer.json.scopes).toEqual(scopes);
});

test("a member's session has the role that the member has when it is used, and never more than the link said", async () => {
  await server.call("PUT", "/api/v1/tenants/acme/members/bob", { role: "member" });
  const wide = await signIn(server, { code: codeIn((await linkFor({ user: "bob" })).url) });
  const narrow = await signIn(server, {
    code: codeIn((await linkFor({ user: "bob", scopes: ["deliveries:retry"] })).url),
  });
  expect([wide.answer.json.scopes, narrow.answer.json.scopes]).toEqual([ROLE_SCOPES.member, []]);
  await server.call("PUT", "/api/v1/tenants/acme/members/bob", { role: "owner" });
  await eventuallyPasses(async () => {
    const { json } = await server.visit("GET", SESSION, undefined, wide.headers);
    expect(json).toMatchObject({ role: "owner", scopes: ROLE_SCOPES.owner });
  });
});

test.each<[input: object, status: number, pointer: string | undefined]>([
  [{ expires_in_seconds: 60, session_seconds: 60 }, 201, undefined],
  [{ expires_in_seconds: 3600, session_seconds: 3600 }, 201, undefined],
  [{ expires_in_seconds: 59 }, 422, "/expires_in_seconds"],
  [{ expires_in_seconds: 3601 }, 422, "/expires_in_seconds"],
  [{ session_seconds: 59 }, 422, "/session_seconds"],
  [{ session_seconds: 3601 }, 422, "/session_seconds"],
  [{ scopes: ["admin"] }, 422, "/scopes/0"],
  [{ scopes: ["events:publish"] }, 422, "/scopes/0"],
  [{ scopes: [] }, 422, "/scopes"],
  [{ role: "admin", scopes: ["deliveries:read"] }, 422, "/scopes"],
  [{ user: "nobody" }, 404, undefined],
  [{ user: "no body" }, 404, undefined],
])("a link with %j returns %i", async (input, status, pointer) => {
  const answer = await server.call("POST", LINKS, input);
  expect([answer.status, answer.json.errors?.[0].pointer]).toEqual([status, pointer]);
});

test("a link lets its customer in at the portal alone, and an operator nobody there", async () => {
  const { url } = await linkFor();
  const { answer: atTheDashboard } = await signIn(server, { code: codeIn(url) }, visitor);
  expect([atTheDashboard.status, atTheDashboard.json.code]).toEqual([401, "sign_in_failed"]);
  expect(atTheDashboard.headers.get("set-cookie")).toBeNull();
  const { answer: atThePortal } = await signIn(server, { code: codeIn(url) }, portalVisitor);
  expect(atThePortal.status).toBe(201);
  const { answer: operator } = await signIn(server, { key: adminKey }, portalVisitor);
  expect([operator.status, operator.headers.get("set-cookie")]).toEqual([401, null]);
});

test("a link of an unknown tenant returns 404", async () => {
  const { status, json } = await server.call("POST", "/api/v1/tenants/nobody/portal-links");
  expect([status, json.code]).toEqual([404, "tenant_not_found"]);
});

test("a revoked link is rejected and its session ends; another tenant cannot revoke it", async () => {
  const unused = await linkFor();
  const used = await linkFor();
  const { headers } = await signIn(server, { code: codeIn(used.url) });
  const elsewhere = await server.call("DELETE", `/api/v1/tenants/rivals/portal-links/${used.id}`);
  expect([elsewhere.status, elsewhere.json.code]).toEqual([404, "portal_link_not_found"]);
  expect((await server.visit("GET", SESSION, undefined, headers)).status).toBe(200);
  for (const { id } of [unused, used]) {
    expect((await server.call("DELETE", `${LINKS}/${id}`)).status).toBe(204);
    expect((await server.call("DELETE", `${LINKS}/${id}`)).status).toBe(404);
  }
  expect((await signIn(server, { code: codeIn(unused.url) })).answer.status).toBe(401);
  const look = async () => expect((await server.visit("GET", SESSION, undefined, headers)).status).toBe(401);
  await eventuallyPasses(look);
});

test("a key that ends makes no link whose session could end later", async () => {
  const endingIn = async (seconds: number) => {
    const expires_at = new Date(Date.now() + seconds * 1_000).toISOString();
    const input = { name: "x", tenant: "acme", scopes: ["admin"], expires_at };
    const { json } = await server.call("POST", "/api/v1/keys", input);
    return (body: object) => server.call("POST", LINKS, body, { authorization: `Bearer ${json.key}` });
  };
  const soon = await endingIn(600);
  expect((await soon({ session_seconds: 600 })).json).toMatchObject({ status: 403, code: "forbidden" });
  expect((await soon({ session_seconds: 400, expires_in_seconds: 100 })).status).toBe(201);
  const { json } = await soon({});
  const { answer } = await signIn(server, { code: codeIn(json.url) });
  expect(Date.parse(answer.json.expires_at)).toBeLessThan(Date.now() + 600_000);
  expect((await (await endingIn(100))({})).status).toBe(403);
});

test("a member's token makes no links, a key of another tenant none for this one", async () => {
  const { json: token } = await server.call("POST", "/api/v1/tenants/acme/members/anna/tokens");
  const { json: other } = await server.call("POST", "/api/v1/keys", {
    name: "x",
    tenant: "rivals",
    scopes: ["admin"],
  });
  const statuses = await Promise.all(
    [token.key, other.key].map(
      async (key) => (await server.call("POST", LINKS, {}, { authorization: `Bearer ${key}` })).status,
    ),
  );
  expect(statuses).toEqual([403, 404]);
});
