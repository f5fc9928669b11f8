// Sessions of people, from outside: signing in, and from where a session may be used.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { createClient, ROLE_SCOPES, SCOPES } from "@posthorn/client";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { eventuallyPasses } from "../../../../../../tests/support/eventually.ts";
import { rawRequest } from "../../../../../../tests/support/raw-request.ts";
import { codeIn, signIn, visitor } from "../../../../../../tests/support/sign-in.ts";
import { adminKey, startServer, type TestServer } from "../../../../../../tests/support/start-server.ts";

const SESSION = "/api/v1/session";

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ started: false, atEnd: afterAll });
  await server.call("PUT", "/api/v1/tenants/acme");
  await server.call("PUT", "/api/v1/tenants/acme/members/anna", { role: "owner" });
});

async function makeKey(input: object = {}): Promise<{ id: string; key: string }> {
  return (await server.call("POST", "/api/v1/keys", { name: "x", scopes: ["admin"], ...input })).json;
}

describe("signing in", () => {
  test("with the admin key gives an operator's session, in a cookie that scripts and other sites do not get", async () => {
    const answer = await server.visit("POST", SESSION, { key: adminKey }, visitor);
    const nobody = { tenant: null, user: null, role: null };
    expect([answer.status, answer.json]).toMatchObject([
      201,
      { kind: "operator", ...nobody, scopes: [...SCOPES] },
    ]);
    const cookie = answer.headers.get("set-cookie") as string;
    expect(cookie).toMatch(/^posthorn=phs_\w+; Path=\/; Max-Age=43(200|199); HttpOnly; SameSite=Strict$/);
    expect(answer.text).not.toContain("phs_");
    const hours = (Date.parse(answer.json.expires_at) - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(11.9);
    expect(hours).toBeLessThanOrEqual(12);
  });

  test("with a key of one tenant gives an hour of what that key may", async () => {
    const { key } = await makeKey({ tenant: "acme", scopes: ["deliveries:read"] });
    const { answer, headers } = await signIn(server, { key });
    expect(answer.json).toMatchObject({ kind: "portal", tenant: "acme", scopes: ["deliveries:read"] });
    expect(answer.headers.get("set-cookie")).toMatch(/Max-Age=(3600|3599);/);
    expect((await server.visit("GET", "/api/v1/deliveries", undefined, headers)).status).toBe(200);
    expect((await server.visit("GET", "/api/v1/keys", undefined, headers)).status).toBe(403);
    expect((await server.visit("GET", "/api/v1/tenants/rivals", undefined, headers)).status).toBe(404);
  });

  test("with a member's token gives what the member's role may, as it is now", async () => {
    const path = "/api/v1/tenants/acme/members/berta";
    await server.call("PUT", path, { role: "owner" });
    const { json } = await server.call("POST", `${path}/tokens`);
    const { answer, headers } = await signIn(server, { key: json.key });
    expect(answer.json).toMatchObject({ user: "berta", role: "owner", scopes: ROLE_SCOPES.owner });
    await server.call("PUT", path, { role: "member" });
    await eventuallyPasses(async () => {
      const shown = await server.visit("GET", SESSION, undefined, headers);
      expect(shown.json).toMatchObject({ role: "member", scopes: ROLE_SCOPES.member });
    });
  });

  test("fails in the same words for every reason", async () => {
    const { key: revoked, id } = await makeKey();
    await server.call("DELETE", `/api/v1/keys/${id}`);
    const { json: link } = await server.call("POST", "/api/v1/tenants/acme/portal-links");
    const code = codeIn(link.url);
    const { headers } = await signIn(server, { code });
    const { json: gone } = await server.call("POST", "/api/v1/tenants/acme/portal-links");
    await server.call("DELETE", `/api/v1/tenants/acme/portal-links/${gone.id}`);
    const session = (headers.cookie as string).replace("posthorn=", "");
    const { key } = await makeKey();
    const wrong = [
      { key: "x" },
      { key: "" },
      { key: revoked },
      { key: `${key.slice(0, -1)}${key.endsWith("0") ? "1" : "0"}` },
      { key: session },
      { key: code },
      { code },
      { code: codeIn(gone.url) },
      { code: session },
      { code: session.replace("phs_", "phl_") },
      { code: key },
      { code: adminKey },
      { code: "eyJhbGciOiJub25lIn0.eyJ0ZW5hbnQiOiJhY21lIn0." },
    ];
    const answers = new Set<string>();
    for (const given of wrong) {
      const same = { ...visitor, "x-request-id": "same" };
      const answer = await server.visit("POST", SESSION, given, same);
      expect([given, answer.headers.get("set-cookie")]).toEqual([given, null]);
      answers.add(`${answer.status} ${answer.text}`);
    }
    expect([...answers]).toEqual([expect.stringMatching(/^401 .*"code":"sign_in_failed"/)]);
  });

  test.each([{}, { key: adminKey, code: "x" }, { key: 5 }, { key: adminKey, tenant: "acme" }])(
    "with %j is refused for what it is",
    async (body) => {
      const { status, json } = await server.visit("POST", SESSION, body, visitor);
      expect([status, json.code]).toEqual([422, "invalid_body"]);
    },
  );

  test("is not tried for ever: after 20 failures an address has to wait, also with the right key", async () => {
    const own = await startServer({ started: false });
    const tries = Array.from({ length: 20 }, () => own.visit("POST", SESSION, { key: "guess" }, visitor));
    expect(new Set((await Promise.all(tries)).map(({ status }) => status))).toEqual(new Set([401]));
    const { status, json, headers } = await own.visit("POST", SESSION, { key: adminKey }, visitor);
    expect([status, json.code, Number(headers.get("retry-after"))]).toEqual([429, "too_many_sign_ins", 3]);
    expect((await own.call("GET", "/api/v1/tenants")).status).toBe(200);
  });

  test("is not tried more often by holding the bodies back until all are asked for", async () => {
    const own = await startServer({ started: false });
    const { hostname, port, host } = new URL(own.url);
    const body = JSON.stringify({ key: "guess" });
    const head = `POST ${SESSION} HTTP/1.1\r\nHost: ${host}\r\nposthorn-dashboard: 1\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`;
    const sockets = Array.from({ length: 25 }, () => connect(Number(port), hostname));
    onTestFinished(() => sockets.forEach((socket) => void socket.destroy()));
    const told = (socket: Socket) => once(socket, "data").then(([data]) => String(data).slice(9, 12));
    for (const socket of sockets) socket.write(head);
    expect(new Set(await Promise.all(sockets.map(told)))).toEqual(new Set(["100"]));
    for (const socket of sockets) socket.write(body);
    const statuses = await Promise.all(sockets.map(told));
    expect(statuses.filter((status) => status === "401")).toHaveLength(20);
    expect(statuses.filter((status) => status === "429")).toHaveLength(5);
  });

  test("leaves one entry in the audit log, signing out another, and failing none", async () => {
    const own = await startServer({ started: false });
    const { json: made } = await own.call("POST", "/api/v1/keys", { name: "x", scopes: ["admin"] });
    await signIn(own, { key: "guess" });
    const { headers } = await signIn(own, { key: made.key });
    await own.visit("DELETE", SESSION, undefined, headers);
    const { json } = await own.call("GET", "/api/v1/audit-log");
    const actor = { kind: "key", id: made.id, user: null };
    expect(json.data.slice(0, -1)).toMatchObject([
      { action: "session.end", actor, status: 200 },
      { action: "session.create", actor, status: 200, changes: { by: "key" } },
    ]);
    expect(json.data).toHaveLength(3);
    expect(JSON.stringify(json)).not.toContain(made.key);
  });

  test("leaves digests in the database, and nothing to sign in with", async () => {
    const { headers } = await signIn(server, { key: adminKey });
    const { json } = await server.call("POST", "/api/v1/tenants/acme/portal-links");
    const client = new pg.Client({ connectionString: server.connectionString });
    await client.connect();
    const { rows } = await client.query(
      "select s::text as row from posthorn.sessions s union all select a::text from posthorn.audit_log a",
    );
    await client.end();
    const kept = JSON.stringify(rows);
    const secret = (text: string) => text.split("_").at(-1) as string;
    expect(kept).toContain(json.id);
    expect(kept).not.toContain(secret(codeIn(json.url)));
    expect(kept).not.toContain(secret(headers.cookie as string));
  });
});

describe("a session is for our own pages", () => {
  let headers: Record<string, string>;
  beforeAll(async () => {
    ({ headers } = await signIn(server, { key: adminKey }));
  });
  const own = () => ({ origin: server.url, host: new URL(server.url).host });

  test.each<[what: string, given: (own: { origin: string; host: string }) => object]>([
    ["another origin", () => ({ origin: "https://evil.example" })],
    ["the origin of a sandbox", () => ({ origin: "null" })],
    ["an origin that is none", () => ({ origin: "%%%" })],
    ["another port of this host", () => ({ origin: "http://127.0.0.1:1" })],
    ["another site", () => ({ "sec-fetch-site": "cross-site" })],
    ["a sibling of this host", () => ({ "sec-fetch-site": "same-site" })],
    ["the address bar", () => ({ "sec-fetch-site": "none" })],
    ["another site that sets a right origin", ({ origin }) => ({ origin, "sec-fetch-site": "cross-site" })],
    ["a page without the header", () => ({ "posthorn-dashboard": undefined })],
    ["a page with another value of it", () => ({ "posthorn-dashboard": "yes" })],
  ])("from %s reading, changing and signing in are refused", async (_what, given) => {
    const sent = { ...headers, ...given(own()) };
    const withoutUnset = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined));
    const json = { ...withoutUnset, "content-type": "application/json" };
    const answers = [
      await rawRequest(server.url, "/api/v1/tenants", { headers: withoutUnset }),
      await rawRequest(server.url, "/api/v1/tenants/evil", { method: "PUT", headers: json, body: "{}" }),
      await rawRequest(server.url, SESSION, {
        method: "POST",
        headers: json,
        body: JSON.stringify({ key: adminKey }),
      }),
    ];
    for (const { status, text } of answers) {
      expect([status, JSON.parse(text).code]).toEqual([403, "cross_site_request"]);
    }
    expect((await server.call("GET", "/api/v1/tenants/evil")).status).toBe(404);
  });

  test("a form of another site cannot sign in", async () => {
    const body = JSON.stringify({ key: adminKey });
    const form = { "content-type": "text/plain" };
    expect(await rawRequest(server.url, SESSION, { method: "POST", headers: form, body })).toMatchObject({
      status: 403,
    });
    const answer = await rawRequest(server.url, SESSION, {
      method: "POST",
      headers: { ...form, ...visitor },
      body,
    });
    expect(answer.status).toBe(415);
  });

  test("from our own page it is taken, whatever of that the browser says", async () => {
    for (const said of [
      {},
      { origin: server.url },
      { origin: server.url, "sec-fetch-site": "same-origin" },
    ]) {
      const answer = await rawRequest(server.url, "/api/v1/tenants", { headers: { ...headers, ...said } });
      expect(answer.status).toBe(200);
    }
  });

  test("under a host name that was only made to lead here it is 421; a key minds no name", async () => {
    for (const host of [
      "evil.example",
      "evil.example:8400",
      "127.0.0.1.evil.example",
      "localhost.evil.example",
    ]) {
      const rebound = { ...headers, host, origin: `http://${host}`, "sec-fetch-site": "same-origin" };
      const answer = await rawRequest(server.url, "/api/v1/tenants", { headers: rebound });
      expect([host, answer.status, JSON.parse(answer.text).code]).toEqual([host, 421, "unknown_host"]);
      const body = JSON.stringify({ key: adminKey });
      const json = { ...visitor, host, "content-type": "application/json" };
      expect((await rawRequest(server.url, SESSION, { method: "POST", headers: json, body })).status).toBe(
        421,
      );
      const keyed = { host, authorization: `Bearer ${adminKey}` };
      expect((await rawRequest(server.url, "/api/v1/tenants", { headers: keyed })).status).toBe(200);
    }
  });

  test("under names that were set it works", async () => {
    const set = await startServer({
      started: false,
      publicUrl: "http://hooks.example:8400",
      allowedHosts: ["inside.example", "[fd00::1]"],
    });
    for (const host of [
      "hooks.example:8400",
      "inside.example",
      "[fd00::1]:80",
      "localhost",
      "LOCALHOST.:1",
    ]) {
      const json = { ...visitor, host, "content-type": "application/json" };
      const body = JSON.stringify({ key: adminKey });
      const answer = await rawRequest(set.url, SESSION, { method: "POST", headers: json, body });
      expect([host, answer.status]).toEqual([host, 201]);
    }
  });

  test("its cookie is no key, and a key in its place is no session", async () => {
    const text = (headers.cookie as string).replace("posthorn=", "");
    const asKey = await server.visit("GET", SESSION, undefined, { authorization: `Bearer ${text}` });
    expect(asKey.status).toBe(401);
    for (const value of [adminKey, (await makeKey()).key, text.slice(0, -1), `${text}0`, ""]) {
      const answer = await server.visit("GET", SESSION, undefined, {
        ...visitor,
        cookie: `posthorn=${value}`,
      });
      expect([value, answer.status]).toEqual([value, 401]);
    }
    const other = await server.visit("GET", SESSION, undefined, {
      ...visitor,
      cookie: `__Host-posthorn=${text}`,
    });
    expect(other.status).toBe(401);
  });

  test("with a key, cookies and the page header are ignored", async () => {
    const { key } = await makeKey({ tenant: "acme", scopes: ["deliveries:read"] });
    const both = {
      cookie: headers.cookie as string,
      authorization: `Bearer ${key}`,
      origin: "https://a.example",
    };
    expect((await server.visit("GET", SESSION, undefined, both)).json).toMatchObject({
      kind: "portal",
      expires_at: null,
    });
    const ended = await server.visit("DELETE", SESSION, undefined, both);
    expect([ended.status, ended.json.code]).toEqual([404, "session_not_found"]);
  });

  test("the dashboard and the portal have a session each", async () => {
    const { json } = await server.call("POST", "/api/v1/tenants/acme/portal-links");
    const { headers: portal } = await signIn(server, { code: codeIn(json.url) });
    const cookie = `${headers.cookie}; ${portal.cookie}`;
    const kindOf = async (page: string) =>
      (await server.visit("GET", SESSION, undefined, { "posthorn-dashboard": page, cookie })).json.kind;
    expect([await kindOf("1"), await kindOf("portal")]).toEqual(["operator", "portal"]);
    const alone = { "posthorn-dashboard": "1", cookie: portal.cookie as string };
    expect((await server.visit("GET", SESSION, undefined, alone)).status).toBe(401);
  });
});

test("a session of a key makes no more requests per second than the key may", async () => {
  const { key } = await makeKey({ rate_limit: 3 });
  const { headers } = await signIn(server, { key });
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => server.visit("GET", SESSION, undefined, headers)),
  );
  expect(answers.map(({ status }) => status)).toContain(429);
});

test("the typed client signs in and out without a key", async () => {
  const { headers } = await signIn(server, { key: adminKey });
  const withCookie: typeof fetch = (url, init) =>
    fetch(url, { ...init, headers: { ...(init?.headers as object), cookie: headers.cookie as string } });
  const client = createClient({ url: server.url, key: null, fetch: withCookie, checksAnswers: true });
  expect(await client.session.get()).toMatchObject({ kind: "operator" });
  expect((await client.tenants.list()).data.length).toBeGreaterThan(0);
  await client.session.end();
  await expect(client.session.get()).rejects.toMatchObject({ status: 401, code: "unauthorized" });
});
