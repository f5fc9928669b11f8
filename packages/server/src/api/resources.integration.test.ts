import { request } from "node:http";
import { contract } from "@posthorn/client";
import { startScriptedReceiver } from "posthorn/testing";
import { expect, onTestFinished, test } from "vitest";
import { adminKey, startServer, type TestServer } from "../../../../tests/support/start-server.ts";

async function withReceiver(server: TestServer, input: object = {}) {
  const receiver = await startScriptedReceiver();
  onTestFinished(() => receiver.close());
  await server.call("PUT", "/api/v1/tenants/acme");
  const created = await server.call("POST", "/api/v1/tenants/acme/endpoints", {
    url: `${receiver.url}/in`,
    events: ["*"],
    ...input,
  });
  return { receiver, created, path: `/api/v1/tenants/acme/endpoints/${created.json.id}` };
}

/** Waits for a state by asking until it is there. */
async function deliveryInState(
  server: TestServer,
  id: string,
  state: string,
): Promise<Record<string, unknown>> {
  return await expect
    .poll(async () => (await server.call("GET", `/api/v1/deliveries/${id}`)).json, { timeout: 10_000 })
    .toMatchObject({ state })
    .then(async () => (await server.call("GET", `/api/v1/deliveries/${id}`)).json);
}

test("a tenant is created, changed, listed and deleted with the caller's id", async () => {
  const server = await startServer({ started: false });
  expect((await server.call("PUT", "/api/v1/tenants/acme", { name: "Acme" })).json).toEqual({
    id: "acme",
    name: "Acme",
    is_active: true,
    websub_topics: [],
    created_at: expect.any(String),
    updated_at: expect.any(String),
  });
  expect((await server.call("PUT", "/api/v1/tenants/acme", { is_active: false })).json).toMatchObject({
    name: "Acme",
    is_active: false,
  });
  expect((await server.call("GET", "/api/v1/tenants")).json).toMatchObject({
    data: [{ id: "acme" }],
    next_cursor: null,
  });
  const gone = await server.call("DELETE", "/api/v1/tenants/acme");
  expect([gone.status, gone.text]).toEqual([204, ""]);
  expect((await server.call("GET", "/api/v1/tenants/acme")).json).toMatchObject({
    status: 404,
    code: "tenant_not_found",
  });
});

test("who gets a deleted tenant's id gets nothing of it, unless it is restored by the installation", async () => {
  const server = await startServer({ started: false });
  const event = { tenant: "acme", type: "order.paid", data: { old: 42 }, idempotency_key: "order-1" };
  await server.call("PUT", "/api/v1/tenants/acme");
  const { json: published } = await server.call("POST", "/api/v1/events", event);
  await server.call("DELETE", "/api/v1/tenants/acme");
  const taken = await server.call("PUT", "/api/v1/tenants/acme", { name: "New company" });
  expect(taken.json).toMatchObject({ status: 409, code: "tenant_deleted" });
  expect(taken.json.detail).toContain("restore: true");
  const restored = await server.call("PUT", "/api/v1/tenants/acme", { restore: true });
  expect([restored.status, restored.json.id]).toEqual([200, "acme"]);
  const { json: key } = await server.call("POST", "/api/v1/keys", {
    name: "k",
    tenant: "acme",
    scopes: ["admin"],
  });
  const headers = { authorization: `Bearer ${key.key}` };
  const { json: seen } = await server.call("GET", "/api/v1/events", undefined, headers);
  expect(seen.data).toMatchObject([{ id: published.id }]);
  const again = await server.call("PUT", "/api/v1/tenants/acme", { restore: true }, headers);
  expect(again.status).toBe(403);
});

/** A path as it is written: `fetch` would take its dots for steps. */
async function callAsWritten({ url }: TestServer, method: string, path: string, body?: object) {
  const { hostname, port } = new URL(url);
  const headers = { authorization: `Bearer ${adminKey}`, "content-type": "application/json" };
  return await new Promise<{ status: number | undefined; json: { code?: string } }>((resolve, reject) => {
    const sent = request({ hostname, port, path, method, headers }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("end", () =>
        resolve({ status: response.statusCode, json: JSON.parse(String(Buffer.concat(parts))) }),
      );
    });
    sent.on("error", reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

test.each([".", "..", "%2e", "%2E%2e", "a%2F..", "%2e%2e%2fkeys"])(
  "%s in a path is no tenant and no user, however it is written",
  async (id) => {
    const server = await startServer({ started: false });
    await server.call("PUT", "/api/v1/tenants/acme");
    const tenant = `/api/v1/tenants/${id}`;
    expect(await callAsWritten(server, "PUT", tenant, {})).toMatchObject({
      status: 422,
      json: { code: "invalid_tenant" },
    });
    expect(await callAsWritten(server, "GET", `${tenant}/endpoints`)).toMatchObject({ status: 404 });
    const member = `/api/v1/tenants/acme/members/${id}`;
    expect(await callAsWritten(server, "PUT", member, { role: "owner" })).toMatchObject({
      status: 422,
      json: { code: "invalid_member" },
    });
    expect((await server.call("GET", "/api/v1/tenants")).json.data).toHaveLength(1);
  },
);

test("the secret of an endpoint is returned only on creation", async () => {
  const server = await startServer({ started: false });
  const { created, path } = await withReceiver(server);
  expect(created.status).toBe(201);
  expect(created.json.secret).toMatch(/^whsec_/);
  for (const answer of [
    await server.call("GET", path),
    await server.call("GET", "/api/v1/tenants/acme/endpoints"),
    await server.call("PATCH", path, { description: "x" }),
  ]) {
    expect(answer.status).toBe(200);
    expect(answer.text).not.toMatch(/secret|whsec/);
  }
});

test("an endpoint that asks for order gets a subject's events in the order they were posted, numbered", async () => {
  const server = await startServer();
  const { receiver, created, path } = await withReceiver(server, { ordering: "fifo", fifo_on_dead: "hold" });
  expect(created.json).toMatchObject({ ordering: "fifo", fifo_on_dead: "hold" });
  expect((await server.call("PATCH", path, { fifo_on_dead: null })).json).toMatchObject({
    ordering: "fifo",
    fifo_on_dead: "pass",
  });
  const wrong = await server.call("PATCH", path, { ordering: "lifo", fifo_on_dead: "stop" });
  expect(wrong.json.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
    "/ordering",
    "/fifo_on_dead",
  ]);
  const event = (n: number) => ({ tenant: "acme", type: "order.paid", subject: "order-1", data: { n } });
  const posted = await server.call("POST", "/api/v1/events", [1, 2, 3, 4].map(event));
  expect((await server.call("POST", "/api/v1/events", event(5))).json).toMatchObject({ sequence: 5 });
  expect(posted.json.map(({ sequence }: { sequence: number }) => sequence)).toEqual([1, 2, 3, 4]);
  const bodies = (await receiver.received(5)).map(({ body }) => JSON.parse(String(body)));
  expect(bodies.map(({ sequence, data }) => [sequence, data.n])).toEqual([1, 2, 3, 4, 5].map((n) => [n, n]));
  expect((await server.call("GET", `/api/v1/events/${posted.json[3].id}`)).json).toMatchObject({
    subject: "order-1",
    sequence: 4,
    deliveries: [{ subject: "order-1", sequence: 4 }],
  });
  expect((await server.call("GET", "/api/v1/deliveries")).json.data[0]).toMatchObject({
    subject: "order-1",
    sequence: 5,
  });
});

test("an endpoint shows the fields of the contract, and what it shows can be sent back", async () => {
  const server = await startServer({ started: false });
  const { path } = await withReceiver(server, {
    headers: { "X-MyTeam": "a_B" },
    retry_policy: "exponential",
  });
  const { json: endpoint } = await server.call("GET", path);
  expect(Object.keys(endpoint)).toEqual(Object.keys(contract.endpoints.get.answer.schema.shape));
  expect(endpoint.headers).toEqual({ "X-MyTeam": "a_B" });
  const { url, events, signature, headers, timeout_ms, retry_policy, retry_on, format } = endpoint;
  const back = await server.call("PATCH", path, {
    url,
    events,
    signature,
    headers,
    timeout_ms,
    retry_policy,
    retry_on,
    format,
  });
  expect(back.json).toEqual({ ...endpoint, updated_at: expect.any(String) });
});

test("the endpoints of a list can be imported as they are, and a field that no endpoint has still cannot", async () => {
  const server = await startServer({ started: false });
  const { path } = await withReceiver(server, { headers: { "X-MyTeam": "a_B" }, rate_limit: 5 });
  const { json: before } = await server.call("GET", path);
  const listed = await server.call("GET", "/api/v1/tenants/acme/endpoints");
  const importAll = (endpoints: unknown) =>
    server.call("POST", "/api/v1/tenants/acme/endpoints/import", { endpoints });
  expect(await importAll(listed.json.data)).toMatchObject({
    status: 200,
    json: { endpoints: [{ id: before.id, secret: null }] },
  });
  expect((await server.call("GET", path)).json).toEqual({ ...before, updated_at: expect.any(String) });
  const refused = await importAll([{ ...before, colour: "red" }]);
  expect([refused.status, refused.json.errors]).toEqual([
    422,
    [{ pointer: "/endpoints/0/colour", message: expect.stringContaining("is not a field") }],
  ]);
});

test("PATCH with the output of GET names the read-only fields", async () => {
  const server = await startServer({ started: false });
  const { path } = await withReceiver(server);
  const { json: endpoint } = await server.call("GET", path);
  const refused = await server.call("PATCH", path, endpoint);
  expect(refused.status).toBe(422);
  const readOnly = "id tenant disabled_reason disabled_at circuit health websub created_at updated_at".split(
    " ",
  );
  expect(refused.json.detail).toContain(
    `"id" is read-only. Remove the read-only fields: ${readOnly.join(", ")}.`,
  );
  const pointers = refused.json.errors.map(({ pointer }: { pointer: string }) => pointer);
  expect(pointers.toSorted()).toEqual(readOnly.map((name) => `/${name}`).toSorted());
  const rest = Object.entries(endpoint).filter(([name]) => !readOnly.includes(name));
  expect((await server.call("PATCH", path, Object.fromEntries(rest))).status).toBe(200);
});

test.each([
  [{ is_actve: true }, "/is_actve"],
  [{ timeout_ms: "10" }, "/timeout_ms"],
  [{ timeout_ms: 1 }, "/timeout_ms"],
  [{ tenant: "other" }, "/tenant"],
  [{ secret: "whsec_x" }, "/secret"],
  [{ signature: { header_prefx: "X" } }, "/signature/header_prefx"],
  [{ headers: { Host: "x" } }, "/headers/Host"],
  [{ url: "ftp://example.com" }, "/url"],
])("PATCH with %j points at %s", async (patch, pointer) => {
  const server = await startServer({ started: false });
  const { path } = await withReceiver(server);
  const answer = await server.call("PATCH", path, patch);
  expect([answer.status, answer.json.errors[0].pointer]).toEqual([422, pointer]);
});

test.each([
  [{ timeout_ms: 1, max_in_flight: 0 }, /\/timeout_ms: .*\/max_in_flight: /],
  [{ retry_policy: { gaps: [], exponential: {} } }, /\/retry_policy: .*max_attempts: 12.*max_age/],
  [{ signature: { schemes: ["t-v1"], header_prefix: "X-" } }, /\/signature\/header_prefix: /],
])("what is wrong with %j is told in the names of the API", async (patch, detail) => {
  const server = await startServer({ started: false });
  const { path } = await withReceiver(server);
  const { json } = await server.call("PATCH", path, patch);
  expect(json.detail).toMatch(detail);
  expect(JSON.stringify([json.detail, json.errors])).not.toMatch(/[a-z][A-Z]/);
});

test("a route without fields says so, and an unknown tenant how to make it", async () => {
  const server = await startServer({ started: false });
  const { path } = await withReceiver(server);
  const { json } = await server.call("POST", `${path}/disable`, { type: "x" });
  expect(json.detail).toBe('/type: "type" is not a field: this takes no fields.');
  for (const method of ["GET", "DELETE"]) {
    expect((await server.call(method, "/api/v1/tenants/none")).json).toMatchObject({
      code: "tenant_not_found",
      detail: 'There is no tenant "none". Create it with PUT /api/v1/tenants/{tenant}.',
    });
  }
});

test("a deleted endpoint, another tenant's and one that never was look the same", async () => {
  const server = await startServer({ started: false });
  const { path, created } = await withReceiver(server);
  await server.call("PUT", "/api/v1/tenants/other");
  expect((await server.call("DELETE", path)).status).toBe(204);
  for (const missing of [
    path,
    path.replace("acme", "other"),
    path.replace(created.json.id, "ep_x"),
    path.replace("acme", "none"),
  ]) {
    expect((await server.call("GET", missing)).json).toMatchObject({
      status: 404,
      code: "endpoint_not_found",
    });
  }
});

test("a test event goes the way of every delivery and shows in the log with its attempt", async () => {
  const server = await startServer();
  const { receiver, path } = await withReceiver(server, { events: ["order.paid"] });
  receiver.answer("/in", { status: 200, body: Buffer.from([0x6f, 0x6b, 0xff]) });
  const answer = await server.call("POST", `${path}/test`);
  expect(answer.status).toBe(202);
  expect(answer.json).toEqual({
    event_id: expect.stringMatching(/^evt_/),
    delivery_id: expect.stringMatching(/^dlv_/),
  });
  await receiver.received(1);
  const delivery = await deliveryInState(server, answer.json.delivery_id, "success");
  expect(delivery).toMatchObject({
    event_type: "webhook.test",
    tenant: "acme",
    attempt_count: 1,
    replay_count: 0,
  });
  expect(delivery.attempts).toEqual([
    expect.objectContaining({
      number: 1,
      status_code: 200,
      trigger: "test",
      response_body: "ok\ufffd",
      error: null,
    }),
  ]);
  const log = await server.call("GET", `${path}/deliveries?state=success`);
  expect(log.json.data).toEqual([expect.objectContaining({ id: answer.json.delivery_id })]);
});

test("a dead delivery is retried by hand and succeeds", async () => {
  const server = await startServer();
  const { receiver } = await withReceiver(server);
  receiver.answer("/in", [{ status: 400 }, { status: 200 }]);
  await server.call("POST", "/api/v1/events", { tenant: "acme", type: "order.paid", data: 1 });
  await expect
    .poll(async () => (await server.call("GET", "/api/v1/deliveries?state=dead&reason=rejected")).json.data, {
      timeout: 10_000,
    })
    .toHaveLength(1);
  const [dead] = (await server.call("GET", "/api/v1/tenants/acme/deliveries")).json.data;
  const retried = await server.call("POST", `/api/v1/deliveries/${dead.id}/retry`);
  expect([retried.status, retried.json.id]).toEqual([202, dead.id]);
  expect(await deliveryInState(server, dead.id, "success")).toMatchObject({ attempt_count: 2 });
});

test("rotation returns a new secret and the expiry of the old one", async () => {
  const server = await startServer({ started: false });
  const { created, path } = await withReceiver(server);
  const rotated = await server.call("POST", `${path}/rotate-secret`, { overlap_seconds: 60 });
  expect(rotated.json).toEqual({
    secret: expect.stringMatching(/^whsec_/),
    previous_expires_at: expect.any(String),
  });
  expect(rotated.json.secret).not.toBe(created.json.secret);
  expect((await server.call("POST", `${path}/rotate-secret`)).status).toBe(200);
  const wrong = await server.call("POST", `${path}/rotate-secret`, { overlap_seconds: -1 });
  expect([wrong.status, wrong.json.errors[0].pointer]).toEqual([422, "/overlap_seconds"]);
  expect(wrong.json.detail).toMatch(/^overlap_seconds is a whole number/);
});
