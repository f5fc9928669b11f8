// Members, and endpoints switched off and on, over HTTP.
import { startScriptedReceiver } from "posthorn/testing";
import { expect, onTestFinished, test } from "vitest";
import { startServer } from "../../../../../../tests/support/start-server.ts";

async function open() {
  const server = await startServer();
  const receiver = await startScriptedReceiver();
  onTestFinished(() => receiver.close());
  await server.call("PUT", "/api/v1/tenants/acme");
  const created = await server.call("POST", "/api/v1/tenants/acme/endpoints", {
    url: `${receiver.url}/in`,
    events: ["*"],
  });
  const path = `/api/v1/tenants/acme/endpoints/${created.json.id}`;
  return {
    server,
    receiver,
    path,
    publish: (n: number) =>
      server.call("POST", "/api/v1/events", { tenant: "acme", type: "order.paid", data: { n } }),
    numbers: () => receiver.requests.map(({ body }) => JSON.parse(String(body)).data.n as number),
    dead: async () => (await server.call("GET", `${path}/deliveries?state=dead`)).json.data,
  };
}

test("an endpoint disabled by 410 holds its deliveries until it is enabled", async () => {
  const { server, receiver, path, publish, numbers } = await open();
  receiver.answer("/in", [{ status: 410 }, { status: 200 }]);
  await publish(1);
  await expect
    .poll(async () => (await server.call("GET", path)).json, { timeout: 10_000 })
    .toMatchObject({ is_active: false, disabled_reason: "gone", disabled_at: expect.any(String) });
  await publish(2);
  await publish(3);
  const { status, json } = await server.call("POST", `${path}/enable`);
  expect([status, json]).toMatchObject([200, { is_active: true, disabled_reason: null, disabled_at: null }]);
  await receiver.received(3);
  expect(numbers().toSorted()).toEqual([1, 2, 3]);
});

test("a backlog is discarded on request: dead with its reason, and nothing of it is sent", async () => {
  const { server, receiver, path, publish, numbers, dead } = await open();
  const disabled = await server.call("POST", `${path}/disable`);
  expect([disabled.status, disabled.json]).toMatchObject([
    200,
    { is_active: false, disabled_reason: "manual" },
  ]);
  await publish(1);
  await publish(2);
  await server.call("POST", `${path}/enable`, { backlog: "discard" });
  await publish(3);
  await receiver.received(1);
  expect(numbers()).toEqual([3]);
  expect(await dead()).toMatchObject([{ dead_reason: "discarded" }, { dead_reason: "discarded" }]);
});

test("is_active disables and enables like the operations", async () => {
  const { server, receiver, path, publish, dead } = await open();
  await server.call("PATCH", path, { is_active: false });
  await publish(1);
  await server.call("PATCH", path, { is_active: true });
  await receiver.received(1);
  expect(await dead()).toEqual([]);
});

test("wishes that nobody knows are refused, and it stays disabled", async () => {
  const { server, path } = await open();
  await server.call("POST", `${path}/disable`);
  const unknown = await server.call("POST", `${path}/enable`, { backlog: "drop" });
  expect([unknown.status, unknown.json]).toMatchObject([
    422,
    {
      code: "invalid_body",
      errors: [{ pointer: "/backlog", message: "This must be one of deliver, discard." }],
    },
  ]);
  const misspelt = await server.call("POST", `${path}/enable`, { baklog: "discard" });
  expect(misspelt.json).toMatchObject({
    code: "invalid_body",
    errors: [{ pointer: "/baklog", message: expect.stringContaining("Did you mean backlog?") }],
  });
  expect((await server.call("POST", `${path}/disable`, { reason: "x" })).status).toBe(422);
  expect((await server.call("GET", path)).json).toMatchObject({ is_active: false });
  expect((await server.call("POST", "/api/v1/tenants/acme/endpoints/ep_x/enable")).status).toBe(404);
});

test("Posthorn's own types cannot be published", async () => {
  const { server } = await open();
  const input = { tenant: "acme", type: "webhook.endpoint.disabled", data: {} };
  const { status, json } = await server.call("POST", "/api/v1/events", input);
  expect([status, json]).toMatchObject([422, { code: "invalid_event", errors: [{ pointer: "/type" }] }]);
});

test("members are put, shown, listed and deleted", async () => {
  const { server } = await open();
  const path = "/api/v1/tenants/acme/members";
  const put = await server.call("PUT", `${path}/anna`, { role: "owner", email: "anna@example.com" });
  expect([put.status, put.json]).toEqual([
    200,
    {
      tenant: "acme",
      user: "anna",
      role: "owner",
      email: "anna@example.com",
      created_at: expect.any(String),
      updated_at: expect.any(String),
    },
  ]);
  expect((await server.call("GET", `${path}/anna`)).json).toEqual(put.json);
  expect((await server.call("GET", path)).json).toEqual({ data: [put.json], next_cursor: null });
  expect((await server.call("DELETE", `${path}/anna`)).status).toBe(204);
  expect((await server.call("GET", `${path}/anna`)).json).toMatchObject({
    status: 404,
    code: "member_not_found",
  });
});

test.each<[body: object, code: string, pointer: string]>([
  [{ role: "boss" }, "invalid_body", "/role"],
  [{}, "invalid_body", "/role"],
  [{ role: "owner", email: "a@example.com\r\nBcc: b@example.com" }, "invalid_member", "/email"],
  [{ role: "owner", mail: "a@example.com" }, "invalid_body", "/mail"],
])("the member %j is refused", async (body, code, pointer) => {
  const server = await startServer({ started: false });
  await server.call("PUT", "/api/v1/tenants/acme");
  const { status, json } = await server.call("PUT", "/api/v1/tenants/acme/members/anna", body);
  expect([status, json]).toMatchObject([422, { code, errors: [{ pointer }] }]);
});
