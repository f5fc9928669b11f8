// The audit log over HTTP: every operation that changes something leaves exactly one entry.
import { randomBytes } from "node:crypto";
import { operationsOf } from "@posthorn/client";
import { expect, test } from "vitest";
import { queryOnce } from "../../../../tests/support/database/own-postgres.ts";
import { bodies, type OperationId } from "../../../../tests/support/samples/operation-bodies.ts";
import { sharedServer, startServer, visitor } from "../../../../tests/support/servers/start-server.ts";
import { RECORDED } from "../../../posthorn/src/audited-resources.ts";

const server = sharedServer({ started: false });
const hook = { url: "https://hooks.example/in", events: ["*"] };

async function entries(query = "") {
  return (await server.call("GET", `/api/v1/audit-log${query}`)).json.data;
}

test("an entry has actor, tenant, action and result, and no secret, also in the database", async () => {
  const tenant = await server.newTenant();
  const path = `/api/v1/tenants/${tenant}/endpoints`;
  const { json: key } = await server.call("POST", "/api/v1/keys", { name: "ops", tenant, scopes: ["admin"] });
  const headers = { authorization: `Bearer ${key.key}`, "x-request-id": "mine" };
  const input = {
    ...hook,
    url: "https://hooks.example/in?token=planted",
    headers: { "x-token": "planted" },
    signature: { schemes: ["github"] },
    scheme_secrets: { github: "planted" },
    authorization: { type: "bearer", token: "planted" },
  };
  const { json: endpoint } = await server.call("POST", path, input, headers);
  const rotated = await server.call("POST", `${path}/${endpoint.id}/rotate-secret`, undefined, headers);
  const [rotation, creation, ...rest] = await entries(`?tenant=${tenant}`);
  expect(rotation.target).toEqual({ tenant, endpoint: endpoint.id });
  expect(creation).toMatchObject({
    actor: { kind: "key", id: key.id, user: null },
    tenant,
    action: "endpoints.create",
    target: { tenant, created: endpoint.id },
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
  const rows = await queryOnce(server.connectionString, "select a::text as row from posthorn.audit_log a");
  const seen = JSON.stringify([rows, await entries()]);
  for (const secret of ["planted", endpoint.secret, rotated.json.secret, key.key])
    expect(seen).not.toContain(secret);
});

test("the entries of a delivery and a replay have its tenant, also if the operation failed", async () => {
  await server.hooks.start({ role: "api" });
  const tenant = await server.newTenant();
  await server.call("POST", `/api/v1/tenants/${tenant}/endpoints`, hook);
  await server.call("POST", "/api/v1/events", { tenant, type: "order.paid", data: {} });
  const { json } = await server.call("GET", `/api/v1/deliveries?tenant=${tenant}`);
  const path = `/api/v1/deliveries/${json.data[0].id}`;
  expect((await server.call("DELETE", path)).status).toBe(409);
  await server.call("POST", `${path}/cancel`);
  await server.call("DELETE", path);
  const replay = await server.call("POST", "/api/v1/replays", { tenant });
  await server.call("POST", `/api/v1/replays/${replay.json.id}/cancel`);
  const shown = (await entries(`?tenant=${tenant}`)).map(({ action }: { action: string }) => action);
  expect(shown.slice(0, 5)).toEqual([
    "replays.cancel",
    "replays.start",
    "deliveries.delete",
    "deliveries.cancel",
    "deliveries.delete",
  ]);
});

test("entries are filtered by action and time, and an unknown action is rejected with a suggestion", async () => {
  const tenant = await server.newTenant();
  expect(await entries(`?tenant=${tenant}&action=tenants.put`)).toHaveLength(1);
  expect(await entries(`?tenant=${tenant}&action=endpoints.enable`)).toEqual([]);
  expect(await entries(`?tenant=${tenant}&created_before=2020-01-01`)).toEqual([]);
  for (const [action, message] of [
    ["endpoint.create", expect.stringContaining("Did you mean endpoints.create?")],
    ["tenants.list", expect.any(String)],
    ["events.publish", expect.any(String)],
  ])
    expect((await server.call("GET", `/api/v1/audit-log?action=${action}`)).json).toMatchObject({
      code: "invalid_query",
      errors: [{ parameter: "action", message }],
    });
});

test("a refused change has its status and code; requests that change nothing leave no entry", async () => {
  const tenant = await server.newTenant();
  const path = `/api/v1/tenants/${tenant}/endpoints`;
  await server.call("POST", path, { ...hook, url: "http://10.0.0.1/" });
  const before = await entries(`?tenant=${tenant}`);
  expect(before[0]).toMatchObject({
    action: "endpoints.create",
    status: 422,
    error_code: "invalid_endpoint",
  });
  await server.call("POST", path, { uri: "x" });
  await server.call("POST", path, hook, { authorization: "Bearer none" });
  await server.call("POST", "/api/v1/events", { tenant, type: "order.paid", data: {} });
  await server.call("GET", path);
  expect(await entries(`?tenant=${tenant}`)).toEqual(before);
});

test("the entry of a revoked key has its id, and of a key given in full only its prefix", async () => {
  const { json: made } = await server.call("POST", "/api/v1/keys", { name: "x", scopes: ["admin"] });
  for (const given of [made.key, `${made.key}?`, "not-a-key", made.id])
    await server.call("DELETE", `/api/v1/keys/${encodeURIComponent(given)}`);
  const shown = (await entries("?action=keys.revoke&limit=4")).map(
    ({ target }: { target: object }) => target,
  );
  const prefix = { key: `phk_${made.id}_…` };
  expect(shown).toEqual([{ key: made.id }, { key: "…" }, prefix, prefix]);
});

test("a tenant sees changes of operators without their key and address", async () => {
  const tenant = await server.newTenant();
  const path = `/api/v1/tenants/${tenant}/members/anna`;
  const { json: wide } = await server.call("POST", "/api/v1/keys", { name: "support", scopes: ["admin"] });
  await server.call("PUT", path, { role: "owner" }, { authorization: `Bearer ${wide.key}` });
  const { json: own } = await server.call("POST", "/api/v1/keys", { name: "own", tenant, scopes: ["admin"] });
  const headers = { authorization: `Bearer ${own.key}` };
  await server.call("PUT", path, { role: "owner" }, headers);
  const { json: token } = await server.call("POST", `${path}/tokens`);
  const asMember = { authorization: `Bearer ${token.key}` };
  await server.call("POST", `/api/v1/tenants/${tenant}/endpoints`, hook, asMember);
  const actorsIn = (data: { action: string; actor: object; address: string | null }[]) =>
    data.map(({ action, actor, address }) => [action, actor, address]);
  const { json } = await server.call("GET", "/api/v1/audit-log", undefined, headers);
  const operator = { kind: "operator", id: null, user: null };
  expect(actorsIn(json.data)).toEqual([
    ["endpoints.create", { kind: "member", id: token.id, user: "anna" }, "127.0.0.1"],
    ["members.createToken", operator, null],
    ["members.put", { kind: "key", id: own.id, user: null }, "127.0.0.1"],
    ["keys.create", operator, null],
    ["members.put", operator, null],
    ["tenants.put", operator, null],
  ]);
  expect(JSON.stringify(json)).not.toContain(wide.id);
  expect(actorsIn(await entries(`?tenant=${tenant}`))).toContainEqual([
    "members.put",
    { kind: "key", id: wide.id, user: null },
    "127.0.0.1",
  ]);
});

/** Calls the API and returns the response with the number of new audit entries and the newest action. */
async function audited(method: string, path: string, body: unknown) {
  const [before] = await entries("?limit=1");
  const { status } = await server.call(method, path, body, visitor);
  const after: { id: string; action: string }[] = await entries("?limit=10");
  const known = after.findIndex(({ id }) => id === before?.id);
  return { status, added: known === -1 ? after.length : known, action: after[0]?.action };
}

test("any input gets an entry, and the same response as without the audit log", async () => {
  const cutInHalf = `${"x".repeat(999)}😀x`;
  // longer than an index entry may be, also compressed
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
    const { status, added } = await audited(method, path, body);
    expect([path, status < 500, added]).toEqual([path, true, 1]);
  }
});

test("if the entry cannot be written, nothing is changed", async () => {
  const { call, connectionString } = await startServer({ started: false });
  await queryOnce(connectionString, "alter table posthorn.audit_log add check (false) not valid");
  expect((await call("PUT", "/api/v1/tenants/unaudited")).status).toBe(500);
  expect((await call("GET", "/api/v1/tenants/unaudited")).status).toBe(404);
});

test("changes by code are recorded too, and shown to a tenant as an operator's", async () => {
  const tenant = `tenant-${randomBytes(4).toString("hex")}`;
  await server.hooks.as("billing").tenants.upsert(tenant);
  const { endpoint } = await server.hooks.endpoints.create(tenant, hook);
  expect(await entries(`?tenant=${tenant}`)).toMatchObject([
    {
      action: "endpoints.create",
      actor: { kind: "library", id: null, user: null },
      target: { tenant, created: endpoint.id },
      changes: hook,
      status: 200,
      request_id: null,
      address: null,
    },
    { action: "tenants.put", actor: { kind: "library", id: "billing", user: null } },
  ]);
  const { json: own } = await server.call("POST", "/api/v1/keys", { name: "own", tenant, scopes: ["admin"] });
  const seen = await server.call("GET", "/api/v1/audit-log", undefined, {
    authorization: `Bearer ${own.key}`,
  });
  expect(seen.text).not.toContain("billing");
  expect(seen.json.data.at(-1).actor).toEqual({ kind: "operator", id: null, user: null });
});

test("the library records every change that the API offers, under the same name", () => {
  const recorded = Object.values(RECORDED).flatMap((methods) =>
    Object.values(methods).map(([action]) => action),
  );
  const offered = operationsOf().filter(([, { method, isReadOnly }]) => method !== "GET" && !isReadOnly);
  // sessions are of browsers, and events are their own record
  const others = new Set(["session.create", "session.end", "session.switchTenant", "events.publish"]);
  const changes = offered.map(([id]) => id).filter((id) => !others.has(id));
  expect(new Set(recorded)).toEqual(new Set(changes));
});

test("every operation that changes something leaves exactly one entry", async () => {
  const changing = operationsOf().filter(
    ([id, { method, isReadOnly }]) => method !== "GET" && !isReadOnly && id !== "events.publish",
  );
  expect(changing.length).toBeGreaterThan(10);
  for (const [id, { method, path, isBodyOptional, body }] of changing) {
    const sent = body && !isBodyOptional ? bodies[id as OperationId]?.("nobody") : undefined;
    if (body && !isBodyOptional) expect([id, sent]).not.toEqual([id, undefined]);
    const { added, action } = await audited(method, path.replace(/\{\w+\}/g, "nobody"), sent);
    expect([id, added, action]).toEqual([id, 1, id]);
  }
});
