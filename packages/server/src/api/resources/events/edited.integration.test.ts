// Edited copies of events over HTTP: what receivers get, what is recorded, and what is refused.
import { expect, onTestFinished, test } from "vitest";
import { startReceiver } from "../../../../../../tests/support/servers/start-receiver.ts";
import { sharedServer } from "../../../../../../tests/support/servers/start-server.ts";

const server = sharedServer();

/** A new tenant with two endpoints, and an event that both received. */
async function withEvent(event: object = {}, settings: object = {}) {
  const tenant = await server.newTenant();
  const receiver = await startReceiver();
  const endpoint = await server.newEndpoint({ url: `${receiver.url}/a`, ...settings }, tenant);
  await server.newEndpoint({ url: `${receiver.url}/b`, ...settings }, tenant);
  const published = await server.call("POST", "/api/v1/events", {
    ...{ tenant, type: "order.paid", data: { id: 1 }, subject: "order-1", api_version: "7" },
    ...event,
  });
  const id = published.json.id as string;
  await receiver.received(2);
  const edit = (data_json: string, to: object = {}, headers?: Record<string, string>) =>
    server.call(
      "POST",
      `/api/v1/events/${id}/resend-edited`,
      { endpoint: endpoint.id, data_json, ...to },
      headers,
    );
  return { tenant, receiver, endpoint, id, edit };
}

/** A type for one test: while there is any, the catalogue rejects events of other types. */
async function newType(settings: object): Promise<string> {
  const type = "edited.type";
  await server.call("PUT", `/api/v1/event-types/${type}`, settings);
  onTestFinished(async () => void (await server.call("DELETE", `/api/v1/event-types/${type}`)));
  return type;
}

test("an edited copy reaches one endpoint byte for byte, and differs from the original by id, marker and trigger", async () => {
  const { tenant, receiver, endpoint, id, edit } = await withEvent();
  const data = '{"id":12345678901234567890, "rate":1.0}';
  const { status, json } = await edit(data);
  expect([status, json]).toEqual([
    202,
    { event_id: expect.stringMatching(/^evt_/), delivery_id: expect.stringMatching(/^dlv_/) },
  ]);
  const [, , request] = await receiver.received(3);
  expect(request?.path).toBe("/a");
  expect(request?.headers).toMatchObject({
    "x-webhook-id": json.event_id,
    "x-webhook-edited-from": id,
    "x-webhook-event": "order.paid",
  });
  expect(receiver.requests[0]?.headers).not.toHaveProperty("x-webhook-edited-from");
  expect(request?.body.toString()).toContain(`"data":${data}}`);
  expect(JSON.parse(String(request?.body))).toMatchObject({
    ...{ id: json.event_id, type: "order.paid", api_version: "7", tenant_id: tenant, subject: "order-1" },
  });
  expect(JSON.parse(String(request?.body))).not.toHaveProperty("sequence");

  const copy = await server.call("GET", `/api/v1/events/${json.event_id}`);
  expect(copy.json).toMatchObject({ edited_from: id, sequence: null, deliveries: [{ edited_from: id }] });
  const original = await server.call("GET", `/api/v1/events/${id}`);
  expect(original.json).toMatchObject({ edited_from: null, data: { id: 1 } });
  expect(original.json.deliveries).toHaveLength(2);
  const listed = await server.call("GET", `/api/v1/deliveries?tenant=${tenant}`);
  expect(listed.json.data.map((delivery: { edited_from: unknown }) => delivery.edited_from)).toEqual([
    id,
    null,
    null,
  ]);
  await expect
    .poll(async () => (await server.call("GET", `/api/v1/deliveries/${json.delivery_id}`)).json)
    .toMatchObject({ endpoint_id: endpoint.id, state: "success", attempts: [{ trigger: "edited" }] });
});

test("the audit log names who edited which event for which endpoint, without the data", async () => {
  const { tenant, endpoint, id, edit } = await withEvent();
  const key = await server.keyHeaders(["webhooks:manage", "payloads:read"], tenant);
  const { json } = await edit('{"card":"4242"}', {}, key);
  const audit = await server.call("GET", `/api/v1/audit-log?tenant=${tenant}&action=events.resendEdited`);
  expect(audit.json.data).toMatchObject([
    {
      actor: { kind: "key" },
      target: { event: id, created: json.event_id },
      changes: { endpoint: endpoint.id, data_json: "…" },
      status: 200,
    },
  ]);
  expect(audit.text).not.toContain("4242");
});

test("data that the schema of the type rejects, or that is no JSON, is refused with its place, and nothing is sent", async () => {
  const schema = { type: "object", properties: { total: { type: "integer" } }, required: ["total"] };
  const type = await newType({ schema });
  const { receiver, edit } = await withEvent({ type, data: { total: 1 }, api_version: "1" });
  expect(await edit('{"total":"1"}')).toMatchObject({
    status: 422,
    json: {
      code: "invalid_event",
      errors: [{ pointer: "/data/total", message: expect.stringContaining(`the schema of ${type}`) }],
    },
  });
  expect(await edit("{")).toMatchObject({ status: 422, json: { errors: [{ pointer: "/data" }] } });
  expect(await edit("")).toMatchObject({ status: 422, json: { errors: [{ pointer: "/data" }] } });
  expect((await edit('{"total":2}')).status).toBe(202);
  await receiver.received(3);
  expect(receiver.requests).toHaveLength(3);
});

test("edited data may have 256 KB and not a byte more, however much of it is escaped", async () => {
  const { edit } = await withEvent();
  const quotes = `[${'"",'.repeat(87_380)}""]`;
  expect((await edit(quotes)).status).toBe(202);
  expect((await edit(JSON.stringify("x".repeat(262_142)))).status).toBe(202);
  expect(await edit(JSON.stringify("x".repeat(262_143)))).toMatchObject({
    status: 413,
    json: { code: "payload_too_large" },
  });
});

test("only those who may manage the endpoints of the tenant may send an edited copy", async () => {
  const { tenant, endpoint, id, edit, receiver } = await withEvent();
  const other = await withEvent();
  const scopes = ["payloads:read", "deliveries:read", "deliveries:retry", "events:publish"];
  expect((await edit("1", {}, await server.keyHeaders(scopes, tenant))).status).toBe(403);
  const otherKey = await server.keyHeaders(["webhooks:manage", "payloads:read"], other.tenant);
  expect(await edit("1", {}, otherKey)).toMatchObject({ status: 404, json: { code: "event_not_found" } });
  const theirs = { endpoint: other.endpoint.id };
  expect(await edit("1", theirs)).toMatchObject({ status: 404, json: { code: "endpoint_not_found" } });
  const typed = { type: "order.refunded" };
  expect(await edit("1", typed)).toMatchObject({ status: 422, json: { code: "invalid_body" } });
  const path = `/api/v1/events/${id.replace(/.$/, (last) => (last === "0" ? "1" : "0"))}/resend-edited`;
  const unknown = await server.call("POST", path, { endpoint: endpoint.id, data_json: "1" });
  expect(unknown).toMatchObject({ status: 404, json: { code: "event_not_found" } });
  expect([receiver.requests.length, other.receiver.requests.length]).toEqual([2, 2]);
});

test("an event with redacted parts is edited only by those who may read them", async () => {
  const type = await newType({ redact: ["/card"] });
  const { tenant, edit } = await withEvent({ type, data: { card: "4242" }, api_version: "1" });
  const key = (...more: string[]) => server.keyHeaders(["webhooks:manage", ...more], tenant);
  const masked = await edit('{"card":"…"}', {}, await key());
  expect(masked).toMatchObject({ status: 409, json: { code: "event_redacted" } });
  expect((await edit('{"card":"4243"}', {}, await key("payloads:read"))).status).toBe(202);
});

test("an endpoint that is disabled, and an event of Posthorn itself, are refused", async () => {
  const { endpoint, edit, receiver } = await withEvent();
  await server.call("POST", `${endpoint.path}/disable`);
  expect(await edit("1")).toMatchObject({ status: 409, json: { code: "endpoint_disabled" } });
  await server.call("POST", `${endpoint.path}/enable`);
  const tested = await server.call("POST", `${endpoint.path}/test`);
  await receiver.received(3);
  const body = { endpoint: endpoint.id, data_json: "1" };
  const own = await server.call("POST", `/api/v1/events/${tested.json.event_id}/resend-edited`, body);
  expect(own).toMatchObject({ status: 422, json: { code: "invalid_event" } });
  expect(own.json.detail).toContain("webhook.test is Posthorn's own");
});

test("a copy of a CloudEvent keeps its source and time and gets an id of its own", async () => {
  const { tenant, receiver, endpoint } = await withEvent({}, { format: "cloudevents" });
  const sent = {
    specversion: "1.0",
    id: "their-id",
    source: "/shop",
    type: "order.paid",
    time: "2026-01-02T03:04:05Z",
  };
  const published = await server.call("POST", `/api/v1/events?tenant=${tenant}`, sent, {
    "content-type": "application/cloudevents+json",
  });
  await receiver.received(4);
  const body = { endpoint: endpoint.id, data_json: '"text"' };
  const none = await server.call("POST", `/api/v1/events/${published.json.id}/resend-edited`, body);
  expect(none).toMatchObject({ status: 422, json: { errors: [{ pointer: "/attributes/encoding" }] } });
  const edited = { ...body, data_json: "null" };
  const { json } = await server.call("POST", `/api/v1/events/${published.json.id}/resend-edited`, edited);
  const [copy] = (await receiver.received(5)).slice(4);
  expect(JSON.parse(String(copy?.body))).toMatchObject({
    source: "/shop",
    time: sent.time,
    id: json.event_id,
  });
});
