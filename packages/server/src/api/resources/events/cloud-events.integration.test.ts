// Publishes CloudEvents in the three modes, also with the official library, and reads what is delivered.
import {
  type Decoded,
  decodeBatch,
  decodeBinary,
  decodeStructured,
  type CloudEvent as OurEvent,
} from "@posthorn/wire";
import { CloudEvent, HTTP, type Message } from "cloudevents";
import type { ScriptedReceiver } from "posthorn/testing";
import { expect, test } from "vitest";
import { startReceiver } from "../../../../../../tests/support/servers/start-receiver.ts";
import { adminKey, sharedServer } from "../../../../../../tests/support/servers/start-server.ts";

const STRUCTURED = { "content-type": "application/cloudevents+json; charset=utf-8" };
const BATCH = { "content-type": "application/cloudevents-batch+json" };
const valid = { specversion: "1.0", id: "1", source: "/shop", type: "order.paid", data: { id: 1 } };
const server = sharedServer();
const FORMATS = "envelope data cloudevents cloudevents-binary cloudevents-thin cloudevents-batch".split(" ");

/** A new tenant with an endpoint for each format, all of one receiver, each at its own path. */
async function startWorld(formats: readonly string[] = FORMATS) {
  const tenant = await server.newTenant();
  const receiver = await startReceiver();
  for (const format of formats) {
    const batch = format === "cloudevents-batch" && { batch: { max_delay_ms: 10 } };
    await server.newEndpoint({ url: `${receiver.url}/${format}`, format, ...batch }, tenant);
  }
  const path = `/api/v1/events?tenant=${tenant}`;
  const publish = (body: unknown, headers: Record<string, string> = STRUCTURED) =>
    server.call("POST", path, body, headers);
  return { tenant, receiver, path, publish };
}

async function receivedAs(receiver: ScriptedReceiver, count: number) {
  const requests = await receiver.received(count);
  return new Map(requests.map((request) => [request.path.slice(1), request]));
}

type Got = Awaited<ReturnType<ScriptedReceiver["received"]>>[number];

function decoded({ headers, body, path }: Got): OurEvent {
  const attributes = new Map(
    Object.entries(headers).flatMap(([name, text]): [string, string][] =>
      name.startsWith("ce-") ? [[name, String(text)]] : [],
    ),
  );
  const readers: Record<string, () => Decoded<OurEvent>> = {
    "/cloudevents": () => decodeStructured(body),
    "/cloudevents-thin": () => decodeStructured(body),
    "/cloudevents-binary": () => decodeBinary(attributes, String(headers["content-type"]), body),
    "/cloudevents-batch": () => {
      const batch = decodeBatch(body);
      return batch.ok ? { ok: true as const, value: batch.value[0]?.event as OurEvent } : batch;
    },
  };
  const read = readers[path]?.();
  if (!read?.ok) throw new Error(JSON.stringify(read));
  return read.value;
}

const ORDER = {
  specversion: "1.0",
  id: "Ä 1",
  source: "https://shop.example/a?b",
  type: "com.Shop.Order-Paid",
  subject: "order 7 €",
  time: "2026-01-02T03:04:05.678901+01:00",
  dataschema: "https://shop.example/order.json",
  datacontenttype: "application/vnd.shop+json",
  count: 5,
  flag: true,
};

test("a structured event is delivered in every format with everything that the format supports", async () => {
  const { publish, receiver } = await startWorld();
  const data = '{"b":1.0,"a":12345678901234567890}';
  const answer = await publish(`${JSON.stringify(ORDER).slice(0, -1)},"data":${data}}`);
  expect(answer).toMatchObject({ status: 202, json: { duplicate: false, deliveries: 6, sequence: 1 } });
  const got = await receivedAs(receiver, 6);
  const { specversion: _, count, flag, ...core } = ORDER;
  const place = { partitionkey: ORDER.subject, sequence: "1", sequencetype: "Integer" };
  for (const format of ["cloudevents", "cloudevents-binary", "cloudevents-batch"]) {
    const event = decoded(got.get(format) as Got);
    const extensions =
      format === "cloudevents-binary" ? { count: "5", flag: "true", ...place } : { count, flag, ...place };
    expect(event, format).toMatchObject({ ...core, extensions });
    expect(event.data.kind === "json" && Buffer.from(event.data.json).toString()).toBe(data);
  }
  expect(got.get("data")?.body.toString()).toBe(data);
  expect(got.get("data")?.headers["content-type"]).toBe(ORDER.datacontenttype);
  const thin = decoded(got.get("cloudevents-thin") as Got);
  expect([thin.data.kind, thin.extensions.dataref]).toEqual(["none", `/event-data/${answer.json.id}`]);
  const referred = await fetch(server.url + thin.extensions.dataref, {
    headers: { authorization: `Bearer ${adminKey}` },
  });
  expect([await referred.text(), referred.headers.get("content-type")]).toEqual([
    data,
    ORDER.datacontenttype,
  ]);
  const { subject: _subject, ...kept } = core;
  expect(JSON.parse(String(got.get("envelope")?.body))).toMatchObject({
    type: "com.shop.order_paid",
    subject: ORDER.subject,
    sequence: 1,
    attributes: { ...kept, extensions: { count, flag } },
  });
  const detail = await server.call("GET", `/api/v1/events/${answer.json.id}`);
  expect(detail.json.attributes).toEqual({ ...kept, extensions: { count, flag } });
  expect(got.get("cloudevents")?.headers).not.toHaveProperty("ce-id");
});

test("deliveries continue the trace of the event, or else that of the request", async () => {
  const { publish, receiver } = await startWorld(["cloudevents"]);
  const trace = (digit: string) => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`;
  const headers = { ...STRUCTURED, traceparent: trace("2") };
  await publish({ ...valid, traceparent: trace("1") }, headers);
  await publish({ ...valid, id: "2" }, headers);
  const requests = await receiver.received(2);
  const traces = requests.map((request) => [
    request.headers.traceparent,
    decoded(request).extensions.traceparent,
  ]);
  expect(traces.toSorted()).toEqual([Array(2).fill(trace("1")), Array(2).fill(trace("2"))]);
});

test("source and id are the idempotency key: the same event is a duplicate, and other content is refused", async () => {
  const { publish } = await startWorld([]);
  const first = await publish(valid);
  const again = await publish('{"id":1}', {
    "ce-specversion": "1.0",
    "ce-id": "1",
    "ce-source": "/shop",
    "ce-type": "order.paid",
  });
  expect(again.json).toMatchObject({ id: first.json.id, duplicate: true });
  expect(again.headers.get("idempotency-replayed")).toBe("true");
  const elsewhere = await publish({ ...valid, source: "/other" });
  expect(elsewhere.json).toMatchObject({ duplicate: false });
  const other = await publish({ ...valid, data: 2 });
  expect(other).toMatchObject({ status: 422, json: { code: "idempotency_conflict" } });
  expect(other.json.detail).toContain(
    `The source "/shop" and id "1" are those of another event (${first.json.id})`,
  );

  // the same characters as text and as bytes
  const { data: _, ...without } = { ...valid, id: "letters", datacontenttype: "text/plain" };
  const text = await publish({ ...without, data: "QUJD" });
  expect(text.json).toMatchObject({ duplicate: false });
  const bytes = await publish({ ...without, data_base64: "QUJD" });
  expect(bytes).toMatchObject({ status: 422, json: { code: "idempotency_conflict" } });

  const long = { ...valid, id: "x".repeat(300) };
  expect((await publish(long)).json.duplicate).toBe(false);
  expect((await publish(long)).json.duplicate).toBe(true);
  expect(await publish(valid, { ...STRUCTURED, "idempotency-key": "k" })).toMatchObject({
    status: 422,
    json: { errors: [{ header: "idempotency-key" }] },
  });
});

test("a batch of up to 500 events is published in order, may be empty, and is refused if one is invalid", async () => {
  const { publish } = await startWorld([]);
  const members = ["1", "2", "3"].map((id) => ({ ...valid, id, subject: "s" }));
  const answer = await publish(members, BATCH);
  expect(answer.json.map(({ sequence }: { sequence: number }) => sequence)).toEqual([1, 2, 3]);
  expect(await publish([], BATCH)).toMatchObject({ status: 202, json: [] });
  const wrong = await publish([{ ...valid, id: "4" }, { ...valid, time: "yesterday" }, 5], BATCH);
  expect(wrong).toMatchObject({
    status: 422,
    json: { code: "invalid_body", errors: [{ pointer: "/1/time" }, { pointer: "/2" }] },
  });
  const full = (count: number) => Array.from({ length: count }, (_, at) => ({ ...valid, id: `n${at}` }));
  expect((await publish(full(501), BATCH)).status).toBe(422);
  expect((await publish(full(500), BATCH)).json).toHaveLength(500);
});

const BINARY = { "ce-specversion": "1.0", "ce-id": "1", "ce-source": "/a", "ce-type": "webhook.x" };
const INVALID: [
  what: string,
  body: unknown,
  headers: Record<string, string>,
  status: number,
  errors?: unknown,
][] = [
  ["an attribute", { ...valid, source: "" }, STRUCTURED, 422, [{ pointer: "/source" }]],
  ["a type of Posthorn's own", { ...valid, type: "Webhook.test" }, STRUCTURED, 422, [{ pointer: "/type" }]],
  ["a subject", { ...valid, subject: "s".repeat(257) }, STRUCTURED, 422, [{ pointer: "/subject" }]],
  ["too long attributes", { ...valid, ext: "v".repeat(8192) }, STRUCTURED, 422, [{ pointer: "" }]],
  ["data that is too long", { ...valid, data: "v".repeat(262_143) }, STRUCTURED, 413, [{ pointer: "/data" }]],
  ["a batch", valid, BATCH, 422, [{ pointer: "" }]],
  ["JSON", "{", STRUCTURED, 400],
  ["a format", valid, { "content-type": "application/cloudevents+avro" }, 415],
  [
    "missing headers",
    "1",
    { "ce-id": "1" },
    422,
    [{ header: "ce-source" }, { header: "ce-type" }, { header: "ce-specversion" }],
  ],
  ["a header's text", "1", { ...BINARY, "ce-id": "%C0%A0" }, 422, [{ header: "ce-id" }]],
  ["a header's value", "1", BINARY, 422, [{ header: "ce-type" }]],
];

test("an error has a pointer into the body or the name of the header", async () => {
  const { publish } = await startWorld([]);
  const atTheLimits = { ...valid, id: "limits", subject: "s".repeat(256), data: "v".repeat(262_142) };
  expect((await publish(atTheLimits)).status).toBe(202);
  for (const [what, body, headers, status, errors] of INVALID) {
    const answer = await publish(body, headers);
    expect(answer.json, what).toMatchObject({ status, ...(errors !== undefined && { errors }) });
  }
  // the error of an event that is sent as plain JSON names its content type
  const one = await server.call("POST", "/api/v1/events", { ...valid, tenantid: "a" });
  const pointed = {
    pointer: "/specversion",
    message: expect.stringContaining("application/cloudevents+json"),
  };
  expect(one.json).toMatchObject({ status: 422, errors: [pointed] });
  const many = await server.call("POST", "/api/v1/events", [valid]);
  const inList = { pointer: "/0/specversion", message: expect.stringContaining("cloudevents-batch+json") };
  expect(many.json).toMatchObject({ status: 422, errors: [inList] });
});

test("the tenant of an event is that of the URL, the key, or the event itself", async () => {
  const { tenant, path, publish } = await startWorld([]);
  const publishAnywhere = (event: object, headers: Record<string, string> = {}) =>
    server.call("POST", "/api/v1/events", event, { ...STRUCTURED, ...headers });
  const tenantOf = async (id: string) => (await server.call("GET", `/api/v1/events/${id}`)).json.tenant;
  const unknown = await publishAnywhere(valid);
  expect(unknown).toMatchObject({ status: 422, json: { errors: [{ pointer: "/tenantid" }] } });
  const byEvent = await publishAnywhere({ ...valid, tenantid: tenant });
  expect(await tenantOf(byEvent.json.id)).toBe(tenant);
  const key = await server.keyHeaders(["events:publish"], tenant);
  const byKey = await publishAnywhere({ ...valid, id: "2", tenantid: "other" }, key);
  expect(await tenantOf(byKey.json.id)).toBe(tenant);
  const headers = { ...STRUCTURED, ...key };
  expect((await server.call("POST", "/api/v1/events?tenant=other", valid, headers)).status).toBe(403);
  expect((await publish(valid, headers)).status).toBe(202);
  const plain = await server.call("POST", path, { tenant, type: "a", data: 1 });
  expect(plain).toMatchObject({ status: 422, json: { errors: [{ parameter: "tenant" }] } });
});

test("events of the official library are accepted, and it can read deliveries", async () => {
  const { publish, receiver } = await startWorld(["cloudevents", "cloudevents-binary", "cloudevents-batch"]);
  const sent = {
    ...{ id: "sdk-1", source: "/sdk", type: "com.example.sdk", subject: "s1", comexample: "x" },
    ...{ time: "2026-01-02T03:04:05.678Z", data: { a: [1, "zwei"] } },
  };
  const event = new CloudEvent(sent);
  const send = async (message: Message, id: string) => {
    const answer = await publish(String(message.body), message.headers as Record<string, string>);
    expect(answer, answer.text).toMatchObject({ status: 202, json: { duplicate: id !== "sdk-1" } });
  };
  await send(HTTP.structured(event), "sdk-1");
  await send(HTTP.binary(event), "again");
  const got = await receivedAs(receiver, 3);
  for (const [format, { headers, body }] of got) {
    const read = HTTP.toEvent({ headers: headers as Record<string, string>, body: body.toString() });
    const [one] = (Array.isArray(read) ? read : [read]) as CloudEvent<unknown>[];
    expect(one?.validate(), format).toBe(true);
    expect(one?.toJSON(), format).toMatchObject(sent);
  }
});

test("data that is too long is rejected before it is parsed, in every mode", async () => {
  const { path } = await startWorld([]);
  // invalid JSON, so parsing it would give another error
  const long = `[${"x".repeat(256 * 1024)}]`;
  const half = `[${"x".repeat(128 * 1024)}]`;
  const event = JSON.stringify(valid).replace('{"id":1}', long);
  const own = { "content-type": "application/json" };
  const binary = { "content-type": "application/json", "ce-specversion": "1.0", "ce-type": "t" };
  const bodies: [string, string, Record<string, string>][] = [
    [path, event, STRUCTURED],
    [path, `[${JSON.stringify(valid)},${event}]`, BATCH],
    [path, long, { ...binary, "ce-id": "1", "ce-source": "/shop" }],
    ["/api/v1/events", `{"tenant":"acme","type":"t","data":${long}}`, own],
    ["/api/v1/events", `{"a":${half},"b":${half}}`, own],
    ["/api/v1/events", `[${long}]`, own],
  ];
  const answers = await Promise.all(
    bodies.map(([at, body, headers]) => server.call("POST", at, body, headers)),
  );
  expect(answers.map(({ status, json }) => [status, json.code, json.errors[0].pointer])).toEqual(
    ["/data", "/1/data", "/data", "/data", "/data", "/0/data"].map((at) => [413, "payload_too_large", at]),
  );
});

test("escaped text may be longer than its limit", async () => {
  const { publish } = await startWorld([]);
  const text = { ...valid, datacontenttype: "text/plain", data: "" };
  const escaped = (length: number) =>
    JSON.stringify(text).replace('"data":""', `"data":"${"\\u0061".repeat(length)}"`);
  expect((await publish(escaped(256 * 1024 - 2))).status).toBe(202);
  const refused = await publish(escaped(256 * 1024 - 1));
  expect([refused.status, refused.json.code]).toEqual([413, "payload_too_large"]);
});
