// Signing in, and the pages that may use a session.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { ROLE_SCOPES, SCOPES } from "@posthorn/client";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { queryOnce } from "../../../../../../tests/support/database/own-postgres.ts";
import { get, send } from "../../../../../../tests/support/servers/http.ts";
import {
  type Answer,
  adminKey,
  codeIn,
  sharedServer,
  signIn,
  startServer,
  visitor,
} from "../../../../../../tests/support/servers/start-server.ts";

const SESSION = "/api/v1/session";

const server = sharedServer({ started: false });
beforeAll(async () => void (await server.call("PUT", "/api/v1/tenants/acme")));

async function makeKey(input: object = {}): Promise<{ id: string; key: string }> {
  return (await server.call("POST", "/api/v1/keys", { name: "x", scopes: ["admin"], ...input })).json;
}

/** Expects that the session ends that many seconds after the reply, less those that the reply took. */
function expectLifetime({ headers, json }: Answer, seconds: number): void {
  const [, maxAge] = /Max-Age=(\d+);/.exec(headers.get("set-cookie") ?? "") ?? [];
  const leftSeconds = (Date.parse(json.expires_at) - Date.now()) / 1_000;
  expect(Number(maxAge)).toBeLessThanOrEqual(seconds);
  expect(Number(maxAge)).toBeGreaterThan(leftSeconds - 1);
  expect(leftSeconds).toBeGreaterThan(seconds - 180);
}

describe("signing in", () => {
  test("with the admin key opens an operator's session for 12 hours, in a cookie that scripts and other sites cannot read", async () => {
    const answer = await server.visit("POST", SESSION, { key: adminKey }, visitor);
    const session = { kind: "operator", tenant: null, user: null, role: null, scopes: [...SCOPES] };
    expect([answer.status, answer.json]).toMatchObject([201, session]);
    const cookie = answer.headers.get("set-cookie") as string;
    expect(cookie).toMatch(/^posthorn=phs_\w+; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict$/);
    expectLifetime(answer, 12 * 3_600);
    expect(answer.text).not.toContain("phs_");
  });

  test("with a key of one tenant opens a session with its scopes for an hour", async () => {
    const { key } = await makeKey({ tenant: "acme", scopes: ["deliveries:read"] });
    const { answer, headers } = await signIn(server, { key });
    expect(answer.json).toMatchObject({ kind: "portal", tenant: "acme", scopes: ["deliveries:read"] });
    expectLifetime(answer, 3_600);
    expect((await server.visit("GET", "/api/v1/deliveries", undefined, headers)).status).toBe(200);
    expect((await server.visit("GET", "/api/v1/keys", undefined, headers)).status).toBe(403);
  });

  test("fails with the same response for every reason", async () => {
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
    "with the body %j is refused",
    async (body) => {
      const { status, json } = await server.visit("POST", SESSION, body, visitor);
      expect([status, json.code]).toEqual([422, "invalid_body"]);
    },
  );

  test("is limited to 20 failures per address, also of requests that send their bodies together", async () => {
    const own = await startServer({ started: false });
    // time stands still, so that no further failure becomes allowed
    const clock = vi.spyOn(performance, "now").mockReturnValue(performance.now());
    onTestFinished(() => clock.mockRestore());
    const { hostname, port, host } = new URL(own.url);
    const body = JSON.stringify({ key: "guess" });
    const head = `POST ${SESSION} HTTP/1.1\r\nHost: ${host}\r\nposthorn-dashboard: 1\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`;
    const sockets = Array.from({ length: 25 }, () => connect(Number(port), hostname));
    onTestFinished(() => sockets.forEach((socket) => void socket.destroy()));
    const statusOn = (socket: Socket) => once(socket, "data").then(([data]) => String(data).slice(9, 12));
    for (const socket of sockets) socket.write(head);
    expect(new Set(await Promise.all(sockets.map(statusOn)))).toEqual(new Set(["100"]));
    for (const socket of sockets) socket.write(body);
    const statuses = await Promise.all(sockets.map(statusOn));
    expect(statuses.toSorted()).toEqual([...Array(20).fill("401"), ...Array(5).fill("429")]);
    // the right key is refused as well; requests with a key are not
    const { status, json, headers } = await own.visit("POST", SESSION, { key: adminKey }, visitor);
    expect([status, json.code, headers.get("retry-after")]).toEqual([429, "too_many_sign_ins", "3"]);
    expect((await own.call("GET", "/api/v1/tenants")).status).toBe(200);
  });

  test("and signing out have an entry each in the audit log, and a failure has none", async () => {
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

  test("stores only digests", async () => {
    const { headers } = await signIn(server, { key: adminKey });
    const { json } = await server.call("POST", "/api/v1/tenants/acme/portal-links");
    const rows = await queryOnce(
      server.connectionString,
      "select s::text as row from posthorn.sessions s union all select a::text from posthorn.audit_log a",
    );
    const kept = JSON.stringify(rows);
    const secret = (text: string) => text.split("_").at(-1) as string;
    expect(kept).toContain(json.id);
    expect(kept).not.toContain(secret(codeIn(json.url)));
    expect(kept).not.toContain(secret(headers.cookie as string));
  });
});

test("a member's token and sessions have the member's current role, and end with the membership", async () => {
  const tenant = await server.newTenant();
  const member = `/api/v1/tenants/${tenant}/members/berta`;
  await server.call("PUT", member, { role: "owner" });
  const { json: token } = await server.call("POST", `${member}/tokens`, { expires_in_seconds: 60 });
  expect(token).toMatchObject({ key: expect.stringMatching(/^pht_/), tenant, user: "berta", scopes: [] });
  const links = `/api/v1/tenants/${tenant}/portal-links`;
  const { json: link } = await server.call("POST", links, { user: "berta" });
  const credentials = [
    { authorization: `Bearer ${token.key}` },
    (await signIn(server, { key: token.key })).headers,
    (await signIn(server, { code: codeIn(link.url) })).headers,
  ];
  const shown = () =>
    Promise.all(
      credentials.map(async (headers) => (await server.visit("GET", SESSION, undefined, headers)).json),
    );
  for (const role of ["owner", "member"] as const) {
    await server.call("PUT", member, { role });
    const session = { user: "berta", role, scopes: ROLE_SCOPES[role] };
    await expect.poll(shown).toMatchObject(credentials.map(() => session));
  }
  await server.call("DELETE", member);
  await expect.poll(shown).toMatchObject(credentials.map(() => ({ status: 401 })));
});

describe("a session", () => {
  let headers: Record<string, string>;
  beforeAll(async () => {
    ({ headers } = await signIn(server, { key: adminKey }));
  });
  const byAdminKey = JSON.stringify({ key: adminKey });

  test.each<[what: string, given: (origin: string) => Record<string, string>]>([
    ["another origin", () => ({ origin: "https://evil.example" })],
    ["the origin of a sandbox", () => ({ origin: "null" })],
    ["an invalid origin", () => ({ origin: "%%%" })],
    ["another port of this host", () => ({ origin: "http://127.0.0.1:1" })],
    ["another site", () => ({ "sec-fetch-site": "cross-site" })],
    ["a sibling of this host", () => ({ "sec-fetch-site": "same-site" })],
    ["the address bar", () => ({ "sec-fetch-site": "none" })],
    ["another site with the right origin", (origin) => ({ origin, "sec-fetch-site": "cross-site" })],
    ["a page without the header", () => ({ "posthorn-dashboard": "" })],
    ["a page with another value of the header", () => ({ "posthorn-dashboard": "yes" })],
  ])("cannot be used or opened from %s", async (_what, given) => {
    const sent = { ...headers, ...given(server.url), "content-type": "application/json" };
    const answers = [
      await get(`${server.url}/api/v1/tenants`, sent),
      await send(`${server.url}/api/v1/tenants/evil`, { method: "PUT", headers: sent, body: "{}" }),
      await send(server.url + SESSION, { headers: sent, body: byAdminKey }),
    ];
    for (const { status, body } of answers) {
      expect([status, JSON.parse(body).code]).toEqual([403, "cross_site_request"]);
    }
    expect((await server.call("GET", "/api/v1/tenants/evil")).status).toBe(404);
  });

  test("cannot be opened by a form of another site", async () => {
    const form = { "content-type": "text/plain" };
    const open = (sent: Record<string, string>) =>
      send(server.url + SESSION, { headers: sent, body: byAdminKey });
    expect((await open(form)).status).toBe(403);
    expect((await open({ ...form, ...visitor })).status).toBe(415);
  });

  test("can be used by our own page, with or without the headers of the browser", async () => {
    const { url: origin } = server;
    for (const sent of [{}, { origin }, { origin, "sec-fetch-site": "same-origin" }]) {
      const answer = await get(`${server.url}/api/v1/tenants`, { ...headers, ...sent });
      expect(answer.status).toBe(200);
    }
  });

  test("cannot be used or opened under an unknown host name; a key can", async () => {
    const host = "127.0.0.1.evil.example";
    const rebound = { ...headers, host, origin: `http://${host}`, "sec-fetch-site": "same-origin" };
    const answer = await get(`${server.url}/api/v1/tenants`, rebound);
    expect([answer.status, JSON.parse(answer.body).code]).toEqual([421, "unknown_host"]);
    const json = { ...visitor, host, "content-type": "application/json" };
    const opened = await send(server.url + SESSION, { headers: json, body: byAdminKey });
    expect(opened.status).toBe(421);
    const keyed = { host, authorization: `Bearer ${adminKey}` };
    expect((await get(`${server.url}/api/v1/tenants`, keyed)).status).toBe(200);
  });

  test("has a cookie that is not a key, and a key is not a cookie", async () => {
    const text = (headers.cookie as string).replace("posthorn=", "");
    const status = async (sent: Record<string, string>) =>
      (await server.visit("GET", SESSION, undefined, sent)).status;
    expect(await status({ authorization: `Bearer ${text}` })).toBe(401);
    const values = [adminKey, (await makeKey()).key, text.slice(0, -1), `${text}0`, ""];
    for (const cookie of [...values.map((value) => `posthorn=${value}`), `__Host-posthorn=${text}`])
      expect([cookie, await status({ ...visitor, cookie })]).toEqual([cookie, 401]);
  });

  test("is ignored in requests with a key", async () => {
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

  test("of the dashboard is separate from one of the portal", async () => {
    const { json } = await server.call("POST", "/api/v1/tenants/acme/portal-links");
    const { headers: portal } = await signIn(server, { code: codeIn(json.url) });
    const cookie = `${headers.cookie}; ${portal.cookie}`;
    const kindOf = async (page: string) =>
      (await server.visit("GET", SESSION, undefined, { "posthorn-dashboard": page, cookie })).json.kind;
    expect([await kindOf("1"), await kindOf("portal")]).toEqual(["operator", "portal"]);
    const alone = { "posthorn-dashboard": "1", cookie: portal.cookie as string };
    expect((await server.visit("GET", SESSION, undefined, alone)).status).toBe(401);
  });

  test("has the rate limit of its key", async () => {
    const { key } = await makeKey({ rate_limit: 3 });
    const { headers } = await signIn(server, { key });
    const clock = vi.spyOn(performance, "now").mockReturnValue(performance.now());
    onTestFinished(() => clock.mockRestore());
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => server.visit("GET", SESSION, undefined, headers)),
    );
    expect(answers.map(({ status }) => status)).toContain(429);
  });
});
