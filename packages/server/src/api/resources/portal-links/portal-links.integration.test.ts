// One-time links to the portal of one tenant.
import { ROLE_SCOPES } from "@posthorn/client";
import { beforeAll, expect, test } from "vitest";
import { eventuallyPasses } from "../../../../../../tests/support/eventually.ts";
import { send } from "../../../../../../tests/support/servers/http.ts";
import {
  adminKey,
  codeIn,
  portalVisitor,
  sharedServer,
  signIn,
  startServer,
  visitor,
} from "../../../../../../tests/support/servers/start-server.ts";

const LINKS = "/api/v1/tenants/acme/portal-links";
const SESSION = "/api/v1/session";

const server = sharedServer({ started: false });
beforeAll(async () => {
  for (const tenant of ["acme", "rivals"]) await server.call("PUT", `/api/v1/tenants/${tenant}`);
  await server.call("PUT", "/api/v1/tenants/acme/members/anna", { role: "admin" });
  await server.call("PUT", "/api/v1/tenants/acme/members/bob", { role: "member" });
});

async function linkFor(input: object = {}): Promise<{ id: string; url: string; expires_at: string }> {
  const { status, json } = await server.call("POST", LINKS, input);
  expect([status, json.code]).toEqual([201, undefined]);
  return json;
}

test("a link has its code in the fragment, and is valid for five minutes", async () => {
  const { url, expires_at } = await linkFor();
  expect(url).toMatch(new RegExp(`^${server.url}/portal#code=phl_[0-9A-Za-z]{10}_[0-9A-Za-z]{38}$`));
  expect((Date.parse(expires_at) - Date.now()) / 60_000).toBeCloseTo(5, 0);
});

test("a link uses the public URL, or else a valid host of the request", async () => {
  const set = await startServer({ started: false, publicUrl: "https://hooks.example/in" });
  await set.call("PUT", "/api/v1/tenants/acme");
  const { json } = await set.call("POST", LINKS);
  expect(json.url).toMatch(/^https:\/\/hooks\.example\/in\/portal#code=phl_/);
  const strange = { host: "$(reboot)", authorization: `Bearer ${adminKey}` };
  const asked = await send(server.url + LINKS, { headers: strange });
  expect(JSON.parse(asked.body).url).toMatch(/^http:\/\/…\/portal#/);
});

test("a link opens one session, with the scopes of an admin of its tenant", async () => {
  const { url } = await linkFor();
  const code = codeIn(url);
  const tries = await Promise.all(Array.from({ length: 8 }, () => signIn(server, { code })));
  const [inside] = tries.filter(({ answer }) => answer.status === 201);
  expect(tries.map(({ answer }) => answer.status).toSorted()).toEqual([201, ...Array(7).fill(401)]);
  const nobody = { user: null, role: null, scopes: ROLE_SCOPES.admin };
  expect(inside?.answer.json).toMatchObject({ kind: "portal", tenant: "acme", ...nobody });
  const endpoints = await server.visit("GET", "/api/v1/tenants/acme/endpoints", undefined, inside?.headers);
  expect(endpoints.status).toBe(200);
  const link = await server.visit("POST", LINKS, {}, inside?.headers);
  expect(link.status).toBe(403);
});

test("the audit log names the link or the member of a customer's changes", async () => {
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
      { action: "session.create", actor, tenant: "acme", target: { created: id }, changes: { by: "code" } },
    ]);
  }
});

test.each<[input: object, scopes: readonly string[]]>([
  [{ role: "member" }, ROLE_SCOPES.member],
  [{ scopes: ["deliveries:retry"] }, ["deliveries:retry"]],
  [{ user: "anna" }, ROLE_SCOPES.admin],
  [{ user: "anna", role: "member" }, ROLE_SCOPES.member],
  [{ user: "bob" }, ROLE_SCOPES.member],
  [{ user: "bob", scopes: ["deliveries:retry"] }, []],
])("a session of a link with %j has the scopes %j", async (input, scopes) => {
  const { answer } = await signIn(server, { code: codeIn((await linkFor(input)).url) });
  expect(answer.json.scopes).toEqual(scopes);
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

test("a link signs in to the portal only, and the admin key to the dashboard only", async () => {
  const { url } = await linkFor();
  const { answer: atTheDashboard } = await signIn(server, { code: codeIn(url) }, visitor);
  expect([atTheDashboard.status, atTheDashboard.json.code]).toEqual([401, "sign_in_failed"]);
  expect(atTheDashboard.headers.get("set-cookie")).toBeNull();
  const { answer: atThePortal } = await signIn(server, { code: codeIn(url) }, portalVisitor);
  expect(atThePortal.status).toBe(201);
  const { answer: operator } = await signIn(server, { key: adminKey }, portalVisitor);
  expect([operator.status, operator.headers.get("set-cookie")]).toEqual([401, null]);
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

test("a key that expires creates no link whose session could expire later", async () => {
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
