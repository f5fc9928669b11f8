// What operators do with endpoints: find those in trouble among all tenants', change secrets over, send a test of their own.
import { startScriptedReceiver } from "posthorn/testing";
import { expect, onTestFinished, test } from "vitest";
import { startServer, type TestServer } from "../../../../../../tests/support/start-server.ts";

async function withEndpoint(server: TestServer, tenant = "acme", input: object = {}) {
  await server.call("PUT", `/api/v1/tenants/${tenant}`);
  const { json } = await server.call("POST", `/api/v1/tenants/${tenant}/endpoints`, {
    url: "http://127.0.0.1:4999/in",
    events: ["*"],
    ...input,
  });
  return { ...json, path: `/api/v1/tenants/${tenant}/endpoints/${json.id}` };
}

async function idsOf(server: TestServer, query: string): Promise<string[]> {
  const { json } = await server.call("GET", `/api/v1/endpoints${query}`);
  return json.data.map(({ id }: { id: string }) => id);
}

test("the endpoints of all tenants are listed newest first, by tenant and state, page by page", async () => {
  const server = await startServer();
  const receiver = await startScriptedReceiver();
  onTestFinished(() => receiver.close());
  receiver.answer("/broken", 500);
  const fine = await withEndpoint(server, "acme", { url: `${receiver.url}/fine` });
  const off = await withEndpoint(server, "rivals");
  const broken = await withEndpoint(server, "acme", { url: `${receiver.url}/broken` });
  const deleted = await withEndpoint(server, "rivals");
  await server.call("DELETE", deleted.path);
  await server.call("POST", `${off.path}/disable`);
  await server.call("POST", "/api/v1/events", { tenant: "acme", type: "order.paid", data: 1 });
  expect(await idsOf(server, "")).toEqual([broken.id, off.id, fine.id]);
  expect(await idsOf(server, "?tenant=acme")).toEqual([broken.id, fine.id]);
  expect(await idsOf(server, "?tenant=nobody")).toEqual([]);
  expect(await idsOf(server, "?state=active")).toEqual([broken.id, fine.id]);
  expect(await idsOf(server, "?state=disabled")).toEqual([off.id]);
  expect(await idsOf(server, "?state=disabled&tenant=acme")).toEqual([]);
  await expect.poll(() => idsOf(server, "?state=failing"), { timeout: 10_000 }).toEqual([broken.id]);
  expect(await idsOf(server, "?state=failing&tenant=rivals")).toEqual([]);
  const first = await server.call("GET", "/api/v1/endpoints?limit=2");
  expect(first.json.data).toMatchObject([{ tenant: "acme" }, { tenant: "rivals" }]);
  expect(await idsOf(server, `?limit=2&cursor=${first.json.next_cursor}`)).toEqual([fine.id]);
});

test("the list of all endpoints shows a reader neither headers nor the query of a URL", async () => {
  const server = await startServer({ started: false });
  await withEndpoint(server, "acme", {
    url: "http://127.0.0.1:4999/in?token=s3cret",
    headers: { "X-A": "b" },
  });
  const { json: reader } = await server.call("POST", "/api/v1/keys", {
    name: "reader",
    scopes: ["deliveries:read"],
  });
  const headers = { authorization: `Bearer ${reader.key}` };
  const { json } = await server.call("GET", "/api/v1/endpoints", undefined, headers);
  expect(json.data).toMatchObject([
    { url: "http://127.0.0.1:4999/in?[redacted]", headers: { "X-A": "[redacted]" } },
  ]);
});

test("after a rotation two secrets are listed, without the secrets, and the old one can be ended early", async () => {
  const server = await startServer({ started: false });
  const { path } = await withEndpoint(server);
  const before = await server.call("GET", `${path}/secrets`);
  expect(before.json.data).toEqual([
    {
      id: expect.stringMatching(/^sec_/),
      is_current: true,
      scheme: null,
      created_at: expect.any(String),
      expires_at: null,
    },
  ]);
  const rotated = await server.call("POST", `${path}/rotate-secret`, { overlap_seconds: 3_600 });
  const { json, text } = await server.call("GET", `${path}/secrets`);
  expect(json.data).toMatchObject([
    { is_current: true, expires_at: null },
    { id: before.json.data[0].id, is_current: false, expires_at: rotated.json.previous_expires_at },
  ]);
  expect(text).not.toContain("whsec_");
  const [current, old] = json.data;
  const refused = await server.call("DELETE", `${path}/secrets/${current.id}`);
  expect(refused.json).toMatchObject({ status: 409, code: "secret_in_use" });
  expect((await server.call("DELETE", `${path}/secrets/${old.id}`)).status).toBe(204);
  expect((await server.call("GET", `${path}/secrets`)).json.data).toMatchObject([{ id: current.id }]);
  const again = await server.call("DELETE", `${path}/secrets/${old.id}`);
  expect(again.json).toMatchObject({ status: 404, code: "secret_not_found" });
});

test("a request is signed by both secrets until the old one is ended, and then by the new one alone", async () => {
  const server = await startServer();
  const receiver = await startScriptedReceiver();
  onTestFinished(() => receiver.close());
  const signature = { schemes: ["standard-webhooks"] };
  const { path } = await withEndpoint(server, "acme", { url: `${receiver.url}/in`, signature });
  const signatures = async () => {
    const seen = receiver.requestsTo("/in").length;
    await server.call("POST", `${path}/test`);
    await receiver.received(seen + 1);
    return String(receiver.requestsTo("/in")[seen]?.headers["webhook-signature"]).split(" ").length;
  };
  expect(await signatures()).toBe(1);
  await server.call("POST", `${path}/rotate-secret`);
  expect(await signatures()).toBe(2);
  const { json } = await server.call("GET", `${path}/secrets`);
  await server.call("DELETE", `${path}/secrets/${json.data[1].id}`);
  expect(await signatures()).toBe(1);
});

test("a test event is what it was edited to, for this endpoint alone, and its attempts say that it is one", async () => {
  const server = await startServer();
  const receiver = await startScriptedReceiver();
  onTestFinished(() => receiver.close());
  const other = await withEndpoint(server, "acme", { url: `${receiver.url}/other` });
  const { path } = await withEndpoint(server, "acme", { url: `${receiver.url}/in`, events: ["invoice.*"] });
  const input = { type: "order.paid", data: { amount_due: 5 }, subject: "order-7" };
  const sent = await server.call("POST", `${path}/test`, input);
  expect(sent.status).toBe(202);
  await receiver.received(1);
  const [request] = receiver.requestsTo("/in");
  expect(JSON.parse(String(request?.body))).toMatchObject(input);
  expect(JSON.parse(String(request?.body))).not.toHaveProperty("sequence");
  const { json: event } = await server.call("GET", `/api/v1/events/${sent.json.event_id}`);
  expect(event).toMatchObject({ ...input, sequence: null });
  expect(event.not_matched).toMatchObject([{ endpoint_id: other.id, reason: "test" }]);
  await expect
    .poll(async () => (await server.call("GET", `/api/v1/deliveries/${sent.json.delivery_id}`)).json)
    .toMatchObject({ state: "success", attempts: [{ trigger: "test" }] });
  expect(receiver.requestsTo("/other")).toEqual([]);
  const { json: audit } = await server.call("GET", "/api/v1/audit-log?action=endpoints.test");
  expect(audit.data).toMatchObject([{ changes: { ...input, data: "…" } }]);
});

test.each([
  ["a type with capitals", { type: "Order.Paid" }, "/type"],
  ["a type of Posthorn's own", { type: "webhook.endpoint.disabled" }, "/type"],
  ["an empty subject", { subject: "" }, "/subject"],
  ["data nested too deeply", { data: JSON.parse("[".repeat(65) + "]".repeat(65)) }, "/data"],
])("a test event with %s is refused at its place", async (_what, input, pointer) => {
  const server = await startServer({ started: false });
  const { path } = await withEndpoint(server);
  const { json } = await server.call("POST", `${path}/test`, input);
  expect(json).toMatchObject({ status: 422, code: "invalid_event", errors: [{ pointer }] });
});
