// "Copy as curl": who may see how much of a request, and who gets a signature that a receiver accepts.
import { verify } from "@posthorn/wire";
import { startScriptedReceiver } from "posthorn/testing";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../../../../tests/support/eventually.ts";
import { startServer, type TestServer } from "../../../../tests/support/start-server.ts";

async function deliverOne() {
  const receiver = await startScriptedReceiver();
  onTestFinished(() => receiver.close());
  const server = await startServer();
  for (const tenant of ["acme", "rivals"]) await server.call("PUT", `/api/v1/tenants/${tenant}`);
  const endpoint = await server.call("POST", "/api/v1/tenants/acme/endpoints", {
    url: `${receiver.url}/hook?token=their-token`,
    events: ["*"],
    headers: { Authorization: "Bearer their-own" },
  });
  await server.call("POST", "/api/v1/events", { tenant: "acme", type: "order.paid", data: { total: 1 } });
  const delivery = (await server.call("GET", "/api/v1/deliveries")).json.data[0].id;
  const path = `/api/v1/deliveries/${delivery}`;
  await eventually("it is delivered", async () => (await server.call("GET", path)).json.state === "success");
  return { server, receiver, path, secret: endpoint.json.secret as string, endpoint: endpoint.json.id };
}

async function keyOf(server: TestServer, scopes: readonly string[], tenant = "acme") {
  const { json } = await server.call("POST", "/api/v1/keys", { name: "k", tenant, scopes });
  return { authorization: `Bearer ${json.key}` };
}

test("an attempt's request is shown as it was sent, with its phases beside it", async () => {
  const { server, receiver, path } = await deliverOne();
  const { json } = await server.call("GET", `${path}/request`);
  const [received] = receiver.requests;
  expect(json).toMatchObject({
    attempt: 1,
    method: "POST",
    is_exact: true,
    is_fresh: false,
    differences: [],
  });
  expect(json.body).toBe(String(received?.body));
  expect(json.url).toBe(`${receiver.url}/hook?token=their-token`);
  expect(json.headers["X-Webhook-Signature"]).toBe(received?.headers["x-webhook-signature"]);
  expect(json.headers.Authorization).toBe("Bearer their-own");
  const [attempt] = (await server.call("GET", path)).json.attempts;
  expect(attempt.phases).toEqual({
    queue_ms: expect.any(Number),
    connect_ms: expect.any(Number),
    tls_ms: null,
    first_byte_ms: expect.any(Number),
    body_ms: expect.any(Number),
  });
  const { connect_ms, first_byte_ms, body_ms } = attempt.phases;
  expect(Math.abs(connect_ms + first_byte_ms + body_ms - attempt.duration_ms)).toBeLessThanOrEqual(1);
});

test("a reader sees neither what opens the receiver's door nor a signature", async () => {
  const { server, path } = await deliverOne();
  const reader = await keyOf(server, ["deliveries:read"]);
  const { json, text } = await server.call("GET", `${path}/request`, undefined, reader);
  expect(json.masked).toEqual(["url", "Authorization", "X-Webhook-Signature", "webhook-signature"]);
  expect(text).not.toMatch(/their-own|their-token|v1[=,]/);
  const manager = await keyOf(server, ["deliveries:read", "webhooks:manage"]);
  const managed = await server.call("GET", `${path}/request`, undefined, manager);
  expect(managed.json.masked).toEqual(["X-Webhook-Signature", "webhook-signature"]);
});

test("a freshly signed request is accepted by the receiver, and needs both scopes", async () => {
  const { server, path, secret } = await deliverOne();
  for (const scopes of [
    ["deliveries:read"],
    ["deliveries:read", "webhooks:manage"],
    ["deliveries:read", "payloads:read"],
  ]) {
    const refused = await server.call(
      "GET",
      `${path}/request?fresh=true`,
      undefined,
      await keyOf(server, scopes),
    );
    expect([refused.status, refused.json.code]).toEqual([403, "forbidden"]);
  }
  expect((await server.call("GET", "/api/v1/audit-log?action=deliveries.request")).json.data).toEqual([]);
  const allowed = await keyOf(server, ["deliveries:read", "webhooks:manage", "payloads:read"]);
  const { json, headers: answer } = await server.call(
    "GET",
    `${path}/request?fresh=true`,
    undefined,
    allowed,
  );
  expect(json).toMatchObject({ is_fresh: true, is_exact: false, masked: [] });
  expect(answer.get("cache-control")).toContain("no-store");
  const body = Buffer.from(json.body);
  for (const scheme of ["t-v1", "standard-webhooks"])
    expect(await verify({ scheme, headers: json.headers, body, secrets: [secret] })).toEqual({ ok: true });
});

test("a freshly signed request is recorded in the tenant's audit log, without its content", async () => {
  const { server, path } = await deliverOne();
  const { json } = await server.call("GET", `${path}/request?fresh=true&attempt=1`);
  await server.call("GET", `${path}/request`);
  const log = await server.call("GET", "/api/v1/audit-log?action=deliveries.request");
  expect(log.json.data).toMatchObject([
    {
      actor: { kind: "admin" },
      tenant: "acme",
      target: { delivery: path.split("/").at(-1) },
      changes: { attempt: 1, fresh: true },
      status: 200,
    },
  ]);
  expect(log.text).not.toContain(json.headers["webhook-signature"]);
});

test("another tenant's delivery is as good as none, fresh or not", async () => {
  const { server, path } = await deliverOne();
  const rival = await keyOf(server, ["admin"], "rivals");
  const nobodys = "/api/v1/deliveries/dlv_0197a3c2-7d1e-7c43-9a51-2f6f6f1b8e10";
  for (const query of ["", "?fresh=true", "?attempt=1", "?attempt=99"]) {
    const [theirs, none] = await Promise.all(
      [path, nobodys].map((at) => server.call("GET", `${at}/request${query}`, undefined, rival)),
    );
    expect([theirs?.status, theirs?.json.code]).toEqual([404, "delivery_not_found"]);
    expect(none?.json.code).toBe("delivery_not_found");
  }
});

test("an attempt that was never made, one that cannot be, and a deleted endpoint are told apart", async () => {
  const { server, path, endpoint } = await deliverOne();
  const asked = async (query: string) => {
    const { status, json } = await server.call("GET", `${path}/request${query}`);
    return [status, json.code];
  };
  expect(await asked("?attempt=2")).toEqual([404, "attempt_not_found"]);
  expect(await asked("?attempt=0")).toEqual([422, "invalid_parameter"]);
  expect(await asked("?attempt=1000001")).toEqual([422, "invalid_parameter"]);
  expect(await asked("?fresh=yes")).toEqual([422, "invalid_parameter"]);
  await server.call("DELETE", `/api/v1/tenants/acme/endpoints/${endpoint}`);
  expect(await asked("")).toEqual([409, "endpoint_deleted"]);
});
