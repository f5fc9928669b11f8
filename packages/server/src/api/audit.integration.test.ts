// The audit log, from outside: every operation that changes something leaves exactly one entry, made from the contract.
import { randomBytes } from "node:crypto";
import { operationsOf } from "@posthorn/client";
import pg from "pg";
import { expect, test, vi } from "vitest";
import { bodies, type OperationId } from "../../../../tests/support/operation-bodies.ts";
import { visitor } from "../../../../tests/support/sign-in.ts";
import { startServer, type TestServer } from "../../../../tests/support/start-server.ts";

async function entries(server: TestServer, query = "") {
  return (await server.call("GET", `/api/v1/audit-log${query}`)).json.data;
}

const input = { url: "https://anna:pass@hooks.example/in?token=planted", events: ["*"] };

test("an entry has actor, tenant, action and result", async () => {
  const server = await startServer({ started: false });
  await server.call("PUT", "/api/v1/tenants/acme", { name: "Acme" });
  const key = await server.call("POST", "/api/v1/keys", { name: "ops", tenant: "acme", scopes: ["admin"] });
  const made = await server.call(
    "POST",
    "/api/v1/tenants/acme/endpoints",
    {
      ...input,
      url: "https://hooks.example/in?token=planted",
      headers: { "x-token": "planted" },
      signature: { schemes: ["github"] },
      scheme_secrets: { github: "planted" },
      authorization: { type: "bearer", token: "planted" },
    },
    { authorization: `Bearer ${key.json.key}`, "x-request-id": "mine" },
  );
  const [newest, ...rest] = await entries(server);
  expect(newest).toMatchObject({
    actor: { kind: "key", id: key.json.id, user: null },
    tenant: "acme",
    action: "endpoints.create",
    target: { tenant: "acme", made: made.json.id },
    changes: {
      url: "https://hooks.example/in?…",
      headers: { "x-token": "…" },
      events: ["*"],
      scheme_secrets: { github: "…" },
      authorization: { type: "bearer", token: "…" },
    },
    status: 200,
    error_code: null,
    request_id: "mine",
    address: "127.0.0.1",
  });
  expect(rest.map(({ action, actor }: { action: string; actor: object }) => [action, actor])).toEqual([
    ["keys.create", { kind: "admin", id: null, user: null }],
    ["tenants.put", { kind: "admin", id: null, user: null }],
  ]);
});

test("an entry has the tenant of a delivery and of a replay, whoever acted and whatever came of it", async () => {
  const server = await startServer({ started: false });
  await server.hooks.start({ role: "api" });
  await server.call("PUT", "/api/v1/tenants/acme");
  await server.call("POST", "/api/v1/tenants/acme/endpoints", {
    url: "https://hooks.example/in",
    events: ["*"],
  });
  await server.call("POST", "/api/v1/events", { tenant: "acme", type: "order.paid", data: {} });
  const { json } = await server.call("GET", "/api/v1/deliveries");
  const path = `/api/v1/deliveries/${json.data[0].id}`;
  expect((await server.call("DELETE", path)).status).toBe(409);
  expect((await server.call("POST", `${path}/cancel`)).status).toBe(200);
  expect((await server.call("DELETE", path)).status).toBe(204);
  const replay = await server.call("POST", "/api/v1/replays", { tenant: "acme" });
  await server.call("POST", `/api/v1/replays/${replay.json.id}/cancel`);
  const shown = (await entries(server, "?tenant=acme")).map(({ action }: { action: string }) => action);
  expect(shown.slice(0, 5)).toEqual([
    "replays.cancel",
    "replays.start",
    "deliveries.delete",
    "deliveries.cancel",
    "deliveries.delete",
  ]);
});

test("only what was made is told as made", async () => {
  const server = await startServer({ started: false });
  await server.call("PUT", "/api/v1/tenants/acme");
  const { json } = await server.call("POST", "/api/v1/tenants/acme/endpoints", {
    url: "https://hooks.example/in",
    events: ["*"],
  });
  await server.call("POST", `/api/v1/tenants/acme/endpoints/${json.id}/disable`);
  await server.call("POST", `/api/v1/tenants/acme/endpoints/${json.id}/enable`);
  expect((await entries(server)).map(({ target }: { target: object }) => target)).toEqual([
    { tenant: "acme", endpoint: json.id },
    { tenant: "acme", endpoint: json.id },
    { tenant: "acme", made: json.id },
    { tenant: "acme" },
  ]);
});

test("an unknown action is rejected with a suggestion", async () => {
  const server = await startServer({ started: false });
  const asked = async (action: string) => await server.call("GET", `/api/v1/audit-log?action=${action}`);
  expect((await asked("endpoint.create")).json).toMatchObject({
    code: "invalid_query",
    errors: [{ parameter: "action", message: expect.stringContaining("Did you mean endpoints.create?") }],
  });
  expect((await asked("tenants.list")).status).toBe((await asked("events.publish")).status);
  expect((await asked("endpoints.enable")).json).toEqual({ data: [], next_cursor: null });
});

test("a refusal has its status and code; what never got so far leaves no entry", async () => {
  const server = await startServer({ started: false });
  await server.call("PUT", "/api/v1/tenants/acme");
  await server.call("POST", "/api/v1/tenants/acme/endpoints", { url: "http://10.0.0.1/", events: ["*"] });
  const [refused] = await entries(server);
  expect(refused).toMatchObject({ action: "endpoints.create", status: 422, error_code: "invalid_endpoint" });
  const before = (await entries(server)).length;
  await server.call("POST", "/api/v1/tenants/acme/endpoints", { uri: "x" });
  await server.call("POST", "/api/v1/tenants/acme/endpoints", input, { authorization: "Bearer none" });
  await server.call("POST", "/api/v1/events", { tenant: "acme", type: "order.paid", data: {} });
  await server.call("GET", "/api/v1/tenants/acme/endpoints");
  expect(await entries(server)).toHaveLength(before);
});

test("no secret is in the log or in plain text in its table", async () => {
  const server = await startServer({ started: false });
  await server.call("PUT", "/api/v1/tenants/acme");
  const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  const path = "/api/v1/tenants/acme/endpoints";
  const body = {
    url: "https://hooks.example/in?token=planted",
    events: ["*"],
    secret,
    headers: { "x-a": "planted" },
  };
  const { json } = await server.call("POST", path, body);
  const rotated = await server.call("POST", `${path}/${json.id}/rotate-secret`);
  const key = await server.call("POST", "/api/v1/keys", { name: "x", scopes: ["admin"] });
  const client = new pg.Client({ connectionString: server.connectionString });
  await client.connect();
  const { rows } = await client.query("select a::text as row from posthorn.audit_log a");
  await client.end();
  const seen = JSON.stringify([rows, await entries(server)]);
  expect(rows.length).toBe(4);
  for (const planted of ["planted", secret, rotated.json.secret, key.json.key]) {
    expect(seen).not.toContain(planted);
  }
});

test("an entry says which key was revoked, and of one that was given in full only what may be shown", async () => {
  const server = await startServer({ started: false });
  const { json: made } = await server.call("POST", "/api/v1/keys", { name: "x", scopes: ["admin"] });
  for (const given of [made.key, `${made.key}?`, "not-a-key", made.id]) {
    await server.call("DELETE", `/api/v1/keys/${encodeURIComponent(given)}`);
  }
  const shown = (await entries(server, "?action=keys.revoke")).map(
    ({ target }: { target: object }) => target,
  );
  const prefix = { key: `phk_${made.id}_…` };
  expect(shown).toEqual([{ key: made.id }, { key: "…" }, prefix, prefix]);
});

test("a tenant sees changes of operators without their key and address", async () => {
  const server = await startServer({ started: false });
  await server.call("PUT", "/api/v1/tenants/acme");
  const path = "/api/v1/tenants/acme/members/anna";
  const { json: wide } = await server.call("POST", "/api/v1/keys", { name: "support", scopes: ["admin"] });
  await server.call("PUT", path, { role: "owner" }, { authorization: `Bearer ${wide.key}` });
  const { json: own } = await server.call("POST", "/api/v1/keys", {
    name: "own",
    tenant: "acme",
    scopes: ["admin"],
  });
  const headers = { authorization: `Bearer ${own.key}` };
  await server.call("PUT", path, { role: "member" }, headers);
  await server.call("PUT", path, { role: "owner" });
  const { json: token } = await server.call("POST", `${path}/tokens`);
  const endpoints = "/api/v1/tenants/acme/endpoints";
  await server.call(
    "POST",
    endpoints,
    { url: "https://hooks.example/in", events: ["*"] },
    {
      authorization: `Bearer ${token.key}`,
    },
  );
  const whoIn = (data: { action: string; actor: object; address: string | null }[]) =>
    data.map(({ action, actor, address }) => [action, actor, address]);
  const { json } = await server.call("GET", "/api/v1/audit-log", undefined, headers);
  const operator = { kind: "operator", id: null, user: null };
  expect(whoIn(json.data)).toEqual([
    ["endpoints.create", { kind: "member", id: token.id, user: "anna" }, "127.0.0.1"],
    ["members.createToken", operator, null],
    ["members.put", operator, null],
    ["members.put", { kind: "key", id: own.id, user: null }, "127.0.0.1"],
    ["keys.create", operator, null],
    ["members.put", operator, null],
    ["tenants.put", operator, null],
  ]);
  expect(JSON.stringify(json)).not.toContain(wide.id);
  expect(whoIn(await entries(server, "?tenant=acme"))).toContainEqual([
    "members.put",
    { kind: "key", id: wide.id, user: null },
    "127.0.0.1",
  ]);
});

test("whatever is sent gets its entry and the answer it would have had", async () => {
  const server = await startServer({ started: false });
  const cutInHalf = `${"x".repeat(999)}😀x`;
  // longer than an index takes, also compressed
  const long = randomBytes(6_000).toString("base64url");
  const longInThousand = encodeURIComponent(
    Array.from({ length: 990 }, (_, n) => String.fromCharCode(0x4e00 + ((n * 7919) % 20_000))).join(""),
  );
  for (const [method, path, body] of [
    ["PUT", "/api/v1/tenants/a%00b", "{}"],
    ["PUT", "/api/v1/tenants/acme", '{"name":"a\\u0000b\\ud800"}'],
    ["PUT", "/api/v1/tenants/acme", JSON.stringify({ name: cutInHalf })],
    ["PUT", `/api/v1/tenants/${encodeURIComponent(cutInHalf)}`, "{}"],
    ["PUT", `/api/v1/tenants/${longInThousand}`, "{}"],
    ["PUT", "/api/v1/tenants/acme/members/%F0%9F%98%80", '{"role":"member"}'],
    ["POST", "/api/v1/keys", JSON.stringify({ name: "x", scopes: ["admin"], tenant: long })],
    ["POST", "/api/v1/replays", JSON.stringify({ tenant: long })],
  ] as const) {
    const before = (await entries(server)).length;
    const { status } = await server.call(method, path, body);
    expect([path, status < 500, (await entries(server)).length - before]).toEqual([path, true, 1]);
  }
});

test("when the entry cannot be written nothing is changed", async () => {
  const server = await startServer({ started: false });
  vi.spyOn(server.hooks.auditLog, "begin").mockRejectedValueOnce(new Error("the disk is full"));
  expect((await server.call("PUT", "/api/v1/tenants/acme")).status).toBe(500);
  expect((await server.call("GET", "/api/v1/tenants/acme")).status).toBe(404);
});

test("a key of one tenant sees the entries of that tenant only, and lists are filtered", async () => {
  const server = await startServer({ started: false });
  for (const tenant of ["acme", "rivals"]) await server.call("PUT", `/api/v1/tenants/${tenant}`);
  const key = await server.call("POST", "/api/v1/keys", { name: "x", tenant: "acme", scopes: ["admin"] });
  const headers = { authorization: `Bearer ${key.json.key}` };
  const { json } = await server.call("GET", "/api/v1/audit-log", undefined, headers);
  expect(json.data.map(({ tenant }: { tenant: string }) => tenant)).toEqual(["acme", "acme"]);
  expect(await entries(server, "?action=tenants.put")).toHaveLength(2);
  expect(await entries(server, "?created_before=2020-01-01")).toEqual([]);
});

test("every operation that changes something is in it exactly once, and no other is", async () => {
  const server = await startServer({ started: false });
  const changing = operationsOf().filter(
    ([id, { method, isQuestion }]) => method !== "GET" && !isQuestion && id !== "events.publish",
  );
  expect(changing.length).toBeGreaterThan(10);
  for (const [id, { method, path, isBodyOptional, body }] of changing) {
    const filled = path.replace(/\{\w+\}/g, "nobody");
    const sent = body && !isBodyOptional ? bodies[id as OperationId]?.("nobody") : undefined;
    if (body && !isBodyOptional) expect([id, sent]).not.toEqual([id, undefined]);
    const before = (await entries(server)).length;
    await server.call(method, filled, sent, visitor);
    const after = await entries(server);
    expect([id, after.length - before, after[0].action]).toEqual([id, 1, id]);
  }
});

test("a question that gives out a valid signature is in it, and the same one without is not", async () => {
  const server = await startServer({ started: false });
  const path = "/api/v1/deliveries/dlv_0197a3c2-7d1e-7c43-9a51-2f6f6f1b8e10/request";
  await server.call("GET", path);
  expect(await entries(server)).toEqual([]);
  await server.call("GET", `${path}?fresh=true`);
  expect(await entries(server)).toMatchObject([
    { action: "deliveries.request", changes: { fresh: true }, status: 404, error_code: "delivery_not_found" },
  ]);
});
