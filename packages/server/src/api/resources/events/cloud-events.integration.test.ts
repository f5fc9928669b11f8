// POST /api/v1/events with CloudEvents in the three modes, by hand and by the official library, and what goes out again.
import {
  type Decoded,
  decodeBatch,
  decodeBinary,
  decodeStructured,
  encodeBatch,
  encodeBinary,
  encodeStructured,
  type CloudEvent as OurEvent,
} from "@posthorn/wire";
import { CloudEvent, HTTP, type Message } from "cloudevents";
import fc from "fast-check";
import { type ScriptedReceiver, startScriptedReceiver } from "posthorn/testing";
import { expect, onTestFinished, test } from "vitest";
import { anyCloudEvent, essence } from "../../../../../../tests/support/cloud-events.ts";
import { eventually } from "../../../../../../tests/support/eventually.ts";
import { adminKey, startServer, type TestServer } from "../../../../../../tests/support/start-server.ts";

const STRUCTURED = { "content-type": "application/cloudevents+json; charset=utf-8" };
const BATCH = { "content-type": "application/cloudevents-batch+json" };
const valid = { specversion: "1.0", id: "1", source: "/shop", type: "order.paid", data: { id: 1 } };
const PATH = "/api/v1/events?tenant=acme";
const FORMATS = [
  "envelope",
  "data",
  "cloudevents",
  "cloudevents-binary",
  "cloudevents-thin",
  "cloudevents-batch",
];

/** An endpoint for each format, all of one receiver, each at a path of its own. */
async function startWorld(formats: readonly string[] = FORMATS) {
  const server = await startServer();
  const receiver = await startScriptedReceiver();
  onTestFinished(() => receiver.close());
  await server.call("PUT", "/api/v1/tenants/acme");
  for (const format of formats) {
    const made = await server.call("POST", "/api/v1/tenants/acme/endpoints", {
      url: `${receiver.url}/${format}`,
      events: ["*"],
      format,
      ...(format === "cloudevents-batch" && { batch: { max_delay_ms: 10 } }),
    });
    expect(made.status, made.text).toBe(201);
  }
  return { server, receiver };
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

test("a structured event goes out in every format, and loses nothing but what the format has no place for", async () => {
  const { server, receiver } = await startWorld();
  const data = '{"b":1.0,"a":12345678901234567890}';
  const answer = await server.call(
    "POST",
    PATH,
    `${JSON.stringify(ORDER).slice(0, -1)},"data":${data}}`,
    STRUCTURED,
  );
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

test("a trace of the event's own goes on with its deliveries, before that of the request", async () => {
  const { server, receiver } = await startWorld(["cloudevents"]);
  const trace = (digit: string) => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`;
  const headers = { ...STRUCTURED, traceparent: trace("2") };
  await server.call("POST", PATH, { ...valid, traceparent: trace("1") }, headers);
  await server.call("POST", PATH, { ...valid, id: "2" }, headers);
  const requests = await receiver.received(2);
  const traces = requests.map((request) => [
    request.headers.traceparent,
    decoded(request).extensions.traceparent,
  ]);
  expect(traces.toSorted()).toEqual([Array(2).fill(trace("1")), Array(2).fill(trace("2"))]);
});

test("binary data, text and no data at all come out as they came in", async () => {
  const { server, receiver } = await startWorld(["cloudevents-binary", "data"]);
  const headers = (id: string, contentType: string) => ({
    "ce-specversion": "1.0",
    "ce-id": id,
    "ce-source": "/shop",
    "ce-type": "order.paid",
    "ce-comexample": "Euro%20%E2%82%AC%20%F0%9F%98%80",
    "content-type": contentType,
  });
  const png = Buffer.from([0x89, 0x50, 0x00, 0xff]);
  for (const [id, type, body] of [
    ["1", "image/png", png],
    ["2", "text/plain; charset=utf-8", Buffer.from("häuser")],
    ["3", "application/json", Buffer.alloc(0)],
  ] as const) {
    const answer = await server.call("POST", PATH, body, headers(id, type));
    expect(answer, answer.text).toMatchObject({ status: 202 });
    const got = await receivedAs(receiver, Number(id) * 2);
    const request = got.get("cloudevents-binary") as Got;
    expect(request.headers).toMatchObject(headers(id, type));
    expect(request.body).toEqual(body);
    expect(got.get("data")?.body).toEqual(body);
  }
});

test("source and id are the idempotency key: the same event again makes nothing, and other content under it is refused", async () => {
  const { server } = await startWorld([]);
  const first = await server.call("POST", PATH, valid, STRUCTURED);
  const again = await server.call("POST", PATH, '{"id":1}', {
    "ce-specversion": "1.0",
    "ce-id": "1",
    "ce-source": "/shop",
    "ce-type": "order.paid",
  });
  expect(again.json).toMatchObject({ id: first.json.id, duplicate: true });
  expect(again.headers.get("idempotency-replayed")).toBe("true");
  const elsewhere = await server.call("POST", PATH, { ...valid, source: "/other" }, STRUCTURED);
  expect(elsewhere.json).toMatchObject({ duplicate: false });
  const other = await server.call("POST", PATH, { ...valid, data: 2 }, STRUCTURED);
  expect(other).toMatchObject({ status: 422, json: { code: "idempotency_conflict" } });
  expect(other.json.detail).toContain(
    `The source "/shop" and id "1" are those of another event (${first.json.id})`,
  );

  // the same letters, but text, and bytes
  const { data: _, ...without } = { ...valid, id: "letters", datacontenttype: "text/plain" };
  const text = await server.call("POST", PATH, { ...without, data: "QUJD" }, STRUCTURED);
  expect(text.json).toMatchObject({ duplicate: false });
  const bytes = await server.call("POST", PATH, { ...without, data_base64: "QUJD" }, STRUCTURED);
  expect(bytes).toMatchObject({ status: 422, json: { code: "idempotency_conflict" } });

  const long = { ...valid, id: "x".repeat(300) };
  const ids = [
    await server.call("POST", PATH, long, STRUCTURED),
    await server.call("POST", PATH, long, STRUCTURED),
  ];
  expect(ids.map(({ json }) => json.duplicate)).toEqual([false, true]);
  expect(await server.call("POST", PATH, valid, { ...STRUCTURED, "idempotency-key": "k" })).toMatchObject({
    status: 422,
    json: { errors: [{ header: "idempotency-key" }] },
  });
});

test("a batch is published in order with an answer for each, may be empty, and is refused whole for one wrong member", async () => {
  const { server } = await startWorld([]);
  const members = ["1", "2", "3"].map((id) => ({ ...valid, id, subject: "s" }));
  const answer = await server.call("POST", PATH, members, BATCH);
  expect(answer.json.map(({ sequence }: { sequence: number }) => sequence)).toEqual([1, 2, 3]);
  expect(await server.call("POST", PATH, [], BATCH)).toMatchObject({ status: 202, json: [] });
  const wrong = await server.call(
    "POST",
    PATH,
    [{ ...valid, id: "4" }, { ...valid, time: "yesterday" }, 5],
    BATCH,
  );
  expect(wrong).toMatchObject({
    status: 422,
    json: { code: "invalid_body", errors: [{ pointer: "/1/time" }, { pointer: "/2" }] },
  });
  const full = (count: number) => Array.from({ length: count }, (_, at) => ({ ...valid, id: `n${at}` }));
  expect((await server.call("POST", PATH, full(501), BATCH)).status).toBe(422);
  expect((await server.call("POST", PATH, full(500), BATCH)).json).toHaveLength(500);
});

const WRONG: [
  what: string,
  body: unknown,
  headers: Record<string, string>,
  status: number,
  errors: unknown,
][] = [
  ["a wrong attribute", { ...valid, source: "" }, STRUCTURED, 422, [{ pointer: "/source" }]],
  ["a type of Posthorn's own", { ...valid, type: "Webhook.test" }, STRUCTURED, 422, [{ pointer: "/type" }]],
  [
    "a subject past the limit",
    { ...valid, subject: "s".repeat(257) },
    STRUCTURED,
    422,
    [{ pointer: "/subject" }],
  ],
  ["attributes past the limit", { ...valid, ext: "v".repeat(8192) }, STRUCTURED, 422, [{ pointer: "" }]],
  ["data past the limit", { ...valid, data: "v".repeat(262_143) }, STRUCTURED, 413, [{ pointer: "/data" }]],
  ["a batch that is none", valid, BATCH, 422, [{ pointer: "" }]],
  ["no JSON", "{", STRUCTURED, 400, undefined],
  ["another format", valid, { "content-type": "application/cloudevents+avro" }, 415, undefined],
  [
    "a header that is missing",
    "1",
    { "ce-id": "1" },
    422,
    [{ header: "ce-source" }, { header: "ce-type" }, { header: "ce-specversion" }],
  ],
  [
    "a header that is wrong",
    "1",
    { "ce-specversion": "1.0", "ce-id": "%C0%A0", "ce-source": "/a", "ce-type": "webhook.x" },
    422,
    [{ header: "ce-id" }],
  ],
  [
    "a header we cannot take",
    "1",
    { "ce-specversion": "1.0", "ce-id": "1", "ce-source": "/a", "ce-type": "webhook.x" },
    422,
    [{ header: "ce-type" }],
  ],
];

test("whatever is wrong is pointed at, in the body or by the header's name", async () => {
  const { server } = await startWorld([]);
  const atTheLimits = { ...valid, id: "limits", subject: "s".repeat(256), data: "v".repeat(262_142) };
  expect((await server.call("POST", PATH, atTheLimits, STRUCTURED)).status).toBe(202);
  for (const [what, body, headers, status, errors] of WRONG) {
    const answer = await server.call("POST", PATH, body, headers);
    expect(answer.json, what).toMatchObject({ status, ...(errors !== undefined && { errors }) });
  }
  // and one that is sent as plain JSON is told its content type
  const one = await server.call("POST", "/api/v1/events", { ...valid, tenantid: "acme" });
  const pointed = {
    pointer: "/specversion",
    message: expect.stringContaining("application/cloudevents+json"),
  };
  expect(one.json).toMatchObject({ status: 422, errors: [pointed] });
  const many = await server.call("POST", "/api/v1/events", [valid]);
  const inList = { pointer: "/0/specversion", message: expect.stringContaining("cloudevents-batch+json") };
  expect(many.json).toMatchObject({ status: 422, errors: [inList] });
});

test("whose it is says the URL, the key, or the event itself", async () => {
  const { server } = await startWorld([]);
  const nobody = await server.call("POST", "/api/v1/events", valid, STRUCTURED);
  expect(nobody).toMatchObject({ status: 422, json: { errors: [{ pointer: "/tenantid" }] } });
  const itself = await server.call("POST", "/api/v1/events", { ...valid, tenantid: "acme" }, STRUCTURED);
  expect(await tenantOf(server, itself.json.id)).toBe("acme");
  const made = await server.call("POST", "/api/v1/keys", {
    name: "k",
    tenant: "acme",
    scopes: ["events:publish"],
  });
  const key = { authorization: `Bearer ${made.json.key}` };
  const byKey = await server.call(
    "POST",
    "/api/v1/events",
    { ...valid, id: "2", tenantid: "other" },
    { ...STRUCTURED, ...key },
  );
  expect(await tenantOf(server, byKey.json.id)).toBe("acme");
  const others = await server.call(
    "POST",
    "/api/v1/events?tenant=other",
    { ...valid, id: "3" },
    { ...STRUCTURED, ...key },
  );
  expect(others.status).toBe(403);
  const own = await server.call("POST", PATH, { tenant: "acme", type: "a", data: 1 });
  expect(own).toMatchObject({ status: 422, json: { errors: [{ parameter: "tenant" }] } });
});

async function tenantOf(server: TestServer, id: string): Promise<string> {
  return (await server.call("GET", `/api/v1/events/${id}`)).json.tenant;
}

test("whatever comes in, in any mode, goes out in any mode as the same event", async () => {
  const { server, receiver } = await startWorld(["cloudevents", "cloudevents-binary", "cloudevents-batch"]);
  // every request of a test has a content type
  const isSayable = ({ data, datacontenttype }: OurEvent) =>
    data.kind === "json" || datacontenttype !== undefined;
  const events = fc.sample(anyCloudEvent.filter(isSayable), { numRuns: 24, seed: 7 }).map((event, n) => ({
    ...event,
    id: `${n} ${event.id}`,
  }));
  for (const [n, event] of events.entries()) {
    const { headers, body } = encodeBinary(event);
    const structured = encodeStructured(event);
    const answer =
      n % 3 === 0
        ? await server.call("POST", PATH, Buffer.from(body), headers)
        : n % 3 === 1
          ? await server.call("POST", PATH, structured, STRUCTURED)
          : await server.call("POST", PATH, encodeBatch([structured]), BATCH);
    expect(answer.status, answer.text).toBe(202);
  }
  await eventually(
    "every event arrived in every format",
    () => receivedEvents(receiver).length === 3 * events.length,
  );
  const got = receivedEvents(receiver);
  for (const event of events) {
    const same = got.filter(({ id }) => id === event.id);
    expect(same.map(essence)).toEqual(Array(3).fill(essence(event)));
  }
});

/** Batches taken apart. */
function receivedEvents({ requests }: ScriptedReceiver): OurEvent[] {
  return requests.flatMap((request) => {
    if (request.path !== "/cloudevents-batch") return [decoded(request)];
    const batch = decodeBatch(request.body);
    return batch.ok ? batch.value.map(({ event }) => event) : [];
  });
}

test("an event's page names its batch, the batch's page its events, and one of them can be sent again", async () => {
  const { server, receiver } = await startWorld(["cloudevents-batch"]);
  const { json } = await server.call("POST", PATH, valid, STRUCTURED);
  await receiver.received(1);
  const detail = await server.call("GET", `/api/v1/events/${json.id}`);
  const [batch] = detail.json.batches;
  expect(detail.json.deliveries).toMatchObject([{ id: batch.delivery_id, event_type: "webhook.batch" }]);
  const delivery = await server.call("GET", `/api/v1/deliveries/${batch.delivery_id}`);
  expect(delivery.json).toMatchObject({ event_id: batch.event_id, members: [json.id] });
  const other = await server.call("GET", `/api/v1/events/${batch.event_id}`);
  expect(other.json).toMatchObject({ type: "webhook.batch", data: [{ id: "1", source: "/shop" }] });
  const again = await server.call("POST", `/api/v1/events/${json.id}/resend`, {
    endpoint: batch.endpoint_id,
  });
  expect(again).toMatchObject({ status: 202, json: { delivery_id: null } });
  const [first, second] = await receiver.received(2);
  expect(second?.headers["webhook-id"]).not.toBe(first?.headers["webhook-id"]);
  const missing = await server.call("POST", `/api/v1/events/${json.id}/resend`, {
    endpoint: "ep_0197a3c2-7d1e-7c43-9a51-2f6f6f1b8e10",
  });
  expect(missing).toMatchObject({ status: 404, json: { code: "endpoint_not_found" } });
});

test("what the official library sends is taken, and what is sent the official library reads", async () => {
  const { server, receiver } = await startWorld(["cloudevents", "cloudevents-binary", "cloudevents-batch"]);
  const event = new CloudEvent({
    id: "sdk-1",
    source: "/sdk",
    type: "com.example.sdk",
    subject: "s1",
    time: "2026-01-02T03:04:05.678Z",
    data: { a: [1, "zwei"] },
    comexample: "x",
  });
  const send = async (message: Message, id: string) => {
    const answer = await server.call(
      "POST",
      PATH,
      String(message.body),
      message.headers as Record<string, string>,
    );
    expect(answer, answer.text).toMatchObject({ status: 202, json: { duplicate: id !== "sdk-1" } });
  };
  await send(HTTP.structured(event), "sdk-1");
  await send(HTTP.binary(event), "again");
  const got = await receivedAs(receiver, 3);
  for (const [format, { headers, body }] of got) {
    const read = HTTP.toEvent({ headers: headers as Record<string, string>, body: body.toString() });
    const [one] = (Array.isArray(read) ? read : [read]) as CloudEvent<unknown>[];
    expect(one?.validate(), format).toBe(true);
    expect(one?.toJSON(), format).toMatchObject({
      id: "sdk-1",
      source: "/sdk",
      type: "com.example.sdk",
      subject: "s1",
      time: "2026-01-02T03:04:05.678Z",
      comexample: "x",
      data: { a: [1, "zwei"] },
    });
  }
});

test("data that is too long is not even parsed, in whatever mode", async () => {
  const server = await startServer();
  // no JSON: whoever parsed it would say so
  const long = `[${"x".repeat(256 * 1024)}]`;
  const half = `[${"x".repeat(128 * 1024)}]`;
  const event = JSON.stringify(valid).replace('{"id":1}', long);
  const own = { "content-type": "application/json" };
  const binary = { "content-type": "application/json", "ce-specversion": "1.0", "ce-type": "t" };
  const bodies: [string, string, Record<string, string>][] = [
    [PATH, event, STRUCTURED],
    [PATH, `[${JSON.stringify(valid)},${event}]`, BATCH],
    [PATH, long, { ...binary, "ce-id": "1", "ce-source": "/shop" }],
    ["/api/v1/events", `{"tenant":"acme","type":"t","data":${long}}`, own],
    ["/api/v1/events", `{"a":${half},"b":${half}}`, own],
    ["/api/v1/events", `[${long}]`, own],
  ];
  const answers = await Promise.all(
    bodies.map(([path, body, headers]) => server.call("POST", path, body, headers)),
  );
  expect(answers.map(({ status, json }) => [status, json.code, json.errors[0].pointer])).toEqual([
    [413, "payload_too_large", "/data"],
    [413, "payload_too_large", "/1/data"],
    [413, "payload_too_large", "/data"],
    [413, "payload_too_large", "/data"],
    [413, "payload_too_large", "/data"],
    [413, "payload_too_large", "/0/data"],
  ]);
});

test("text may be written longer than it is kept", async () => {
  const server = await startServer();
  const text = { ...valid, datacontenttype: "text/plain", data: "" };
  const escaped = (length: number) =>
    JSON.stringify(text).replace('"data":""', `"data":"${"\\u0061".repeat(length)}"`);
  expect((await server.call("POST", PATH, escaped(256 * 1024 - 2), STRUCTURED)).status).toBe(202);
  const refused = await server.call("POST", PATH, escaped(256 * 1024 - 1), STRUCTURED);
  expect([refused.status, refused.json.code]).toEqual([413, "payload_too_large"]);
});
