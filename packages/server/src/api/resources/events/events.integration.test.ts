// Publishing and listing events over HTTP, with the limits of requests: each at the limit, and one past it.
import { expect, test } from "vitest";
import { startReceiver } from "../../../../../../tests/support/servers/start-receiver.ts";
import { adminKey, sharedServer } from "../../../../../../tests/support/servers/start-server.ts";

const server = sharedServer();
const EVENTS = "/api/v1/events";

/** A new tenant, an event for it, and the tenant's published events. */
async function withTenant() {
  const tenant = await server.newTenant();
  return {
    server,
    tenant,
    event: { tenant, type: "order.paid", data: { id: 1 } },
    publish: (body: unknown, headers?: Record<string, string>) => server.call("POST", EVENTS, body, headers),
    list: async (query = "") => (await server.call("GET", `${EVENTS}?tenant=${tenant}${query}`)).json,
  };
}

test("an event is accepted when it is durable, and delivered byte for byte with the request's trace", async () => {
  const { server, tenant, event, publish } = await withTenant();
  const receiver = await startReceiver();
  await server.newEndpoint({ url: `${receiver.url}/in`, format: "data" }, tenant);
  const data = '{"b":1.0, "a":12345678901234567890,"a":2,"nul":"\\u0000"}';
  const traceparent = "00-11111111111111111111111111111111-2222222222222222-01";
  const answer = await publish(`{"tenant":"${tenant}","data":${data},"type":"order.paid"}`, { traceparent });
  expect([answer.status, answer.json]).toEqual([
    202,
    { id: expect.stringMatching(/^evt_/), sequence: null, duplicate: false, deliveries: 1 },
  ]);
  const [request] = await receiver.received(1);
  expect([request?.body.toString(), request?.headers.traceparent]).toEqual([data, traceparent]);
  const detail = await server.call("GET", `${EVENTS}/${answer.json.id}`);
  expect(detail.text).toContain(`"data":${data}`);
  expect(detail.json.deliveries).toHaveLength(1);
  await publish([event], { traceparent });
  await receiver.received(2);
  await publish(event, { traceparent: "00-wrong" });
  await receiver.received(3);
  await server.call("PUT", `/api/v1/tenants/${tenant}/members/traced`, { role: "member" });
  await publish({ user: "traced", type: "user.invited", data: 1 }, { traceparent });
  await receiver.received(4);
  expect(receiver.requests.slice(1).map(({ headers }) => headers.traceparent)).toEqual([
    traceparent,
    undefined,
    traceparent,
  ]);
});

test("listed events have their outcome, and no data on request", async () => {
  const { tenant, event, publish, list } = await withTenant();
  const receiver = await startReceiver();
  await server.newEndpoint({ url: `${receiver.url}/in`, events: ["order.*"] }, tenant);
  await publish([event, { ...event, type: "other.type" }]);
  const counts = { delivered: 0, failed: 0, dead: 0, waiting: 0 };
  await expect
    .poll(async () => (await list("&data=omit")).data)
    .toMatchObject([
      { type: "other.type", outcome: { ...counts, state: "unmatched", deliveries: 0 } },
      { type: "order.paid", outcome: { ...counts, state: "delivered", deliveries: 1, delivered: 1 } },
    ]);
  const hasData = async (query: string) => (await list(query)).data.map((one: object) => "data" in one);
  expect([await hasData("&data=omit"), await hasData("")]).toEqual([
    [false, false],
    [true, true],
  ]);
});

test("an idempotency key, in the header or the body, returns the first event, and is refused for other content", async () => {
  const { event, publish } = await withTenant();
  const first = await publish({ ...event, idempotency_key: "k1" });
  const second = await publish(event, { "idempotency-key": "k1" });
  const quoted = await publish(event, { "idempotency-key": '"k1"' });
  expect([second.json.id, quoted.json.id]).toEqual([first.json.id, first.json.id]);
  expect(second.json.duplicate).toBe(true);
  expect([first, second].map(({ headers }) => headers.get("idempotency-replayed"))).toEqual([null, "true"]);
  const other = { ...event, data: 2, idempotency_key: "k1" };
  expect((await publish(other)).json).toMatchObject({ status: 422, code: "idempotency_conflict" });
  expect((await publish([event, other])).json).toMatchObject({
    code: "idempotency_conflict",
    results: [{ duplicate: false }, null],
    errors: [{ pointer: "/1" }],
  });
  const both = await publish({ ...event, idempotency_key: "a" }, { "idempotency-key": "b" });
  expect([both.status, both.json.errors[0].pointer]).toEqual([422, "/idempotency_key"]);
});

test("up to 500 events are published at once in order, and none if one is invalid", async () => {
  const { server, event, publish, list } = await withTenant();
  const events = [
    event,
    { ...event, type: "Not A Type" },
    { ...event, tenant: "" },
    { ...event, subject: "" },
    { ...event, type: "webhook.endpoint.disabled" },
  ];
  const invalid = await publish(events);
  expect([invalid.status, invalid.json.code]).toEqual([422, "invalid_event"]);
  expect(invalid.json.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
    "/1/type",
    "/2/tenant",
    "/3/subject",
    "/4/type",
  ]);
  const many = (count: number) => Array.from({ length: count }, (_, n) => ({ ...event, data: n }));
  expect((await publish(many(501))).json).toMatchObject({
    status: 422,
    code: "invalid_body",
    errors: [{ message: "The array has 501 events. Send at most 500 at once." }],
  });
  expect((await list()).data).toEqual([]);
  const all = await publish(many(500));
  expect([all.status, all.json.length]).toEqual([202, 500]);
  expect((await server.call("GET", `${EVENTS}/${all.json[499].id}`)).json.data).toBe(499);
  const page = await list("&limit=250");
  expect([page.data.length, page.next_cursor]).toEqual([250, expect.any(String)]);
});

test("data has at most 256 KB and 64 levels", async () => {
  const { tenant, event, publish } = await withTenant();
  const ofSize = (bytes: number) => ({ ...event, data: "x".repeat(bytes - 2) });
  expect((await publish(ofSize(256 * 1024))).status).toBe(202);
  expect((await publish([event, ofSize(256 * 1024 + 1)])).json).toMatchObject({
    status: 413,
    code: "payload_too_large",
    errors: [{ pointer: "/1/data" }],
  });
  const nested = (depth: number) =>
    publish(`{"tenant":"${tenant}","type":"a","data":${"[".repeat(depth)}${"]".repeat(depth)}}`);
  expect([(await nested(64)).status, (await nested(65)).status]).toEqual([202, 422]);
});

test("settings have at most 256 KB, and a body without a length 16 MB", async () => {
  const { server, tenant } = await withTenant();
  const put = (bytes: number) =>
    server.call("PUT", `/api/v1/tenants/${tenant}`, '{"name":"Acme"}'.padEnd(bytes));
  expect((await put(256 * 1024)).status).toBe(200);
  expect((await put(256 * 1024 + 1)).json).toMatchObject({ status: 413, code: "body_too_large" });
  const chunked = await fetch(server.url + EVENTS, {
    method: "POST",
    headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
    body: new Blob([`[${" ".repeat(16 * 1024 * 1024)}]`]).stream(),
    duplex: "half",
  } as RequestInit);
  expect(chunked.status).toBe(413);
});

test("only the first 20 of thousands of errors are reported, briefly", async () => {
  const { server, tenant, event, publish } = await withTenant();
  const names = Array.from({ length: 10_000 }, (_, n) => `unknown_${n}`);
  const unknown = Object.fromEntries(names.map((name) => [name, 1]));
  const path = `/api/v1/tenants/${tenant}`;
  const answers = [
    await server.call("PUT", path, unknown),
    await server.call("PUT", path, { ["x".repeat(200_000)]: 1 }),
    await server.call("POST", "/api/v1/keys", { name: "all", scopes: Array(50_000).fill(1) }),
    await server.call("GET", `${EVENTS}?${names.slice(0, 1_000).join("&")}`),
    await publish(unknown),
    await publish(Array(500).fill({ ...event, wrong: 1 })),
  ];
  for (const { status, text, json } of answers) {
    expect([status, text.length < 8_000]).toEqual([422, true]);
    expect(json.errors.length).toBeLessThanOrEqual(20);
  }
  expect(answers[0]?.json.detail).toMatch(/ And more; see errors\.$/);
});

test.each([
  ["not JSON", "{", {}, 400, "malformed_json"],
  ["not UTF-8", new Uint8Array([0x7b, 0xff, 0x7d]), {}, 400, "invalid_utf8"],
  ["empty", "", {}, 400, "malformed_json"],
  ["another type", "{}", { "content-type": "text/plain" }, 415, "unsupported_media_type"],
  [
    "another charset",
    "{}",
    { "content-type": "application/json; charset=latin1" },
    415,
    "unsupported_media_type",
  ],
  ["compressed", "{}", { "content-encoding": "gzip" }, 415, "unsupported_media_type"],
  ["an unknown field", '{"tenant":"a","type":"b","data":1,"datas":2}', {}, 422, "invalid_body"],
])("a body that is %s is refused", async (_, body, headers, status, code) => {
  const answer = await server.call("POST", EVENTS, body, headers);
  expect([answer.status, answer.json.code]).toEqual([status, code]);
});

test.each([
  "limit=0",
  "limit=251",
  "limit=x",
  "tenannt=a",
  "created_after=yesterday",
  "created_after=2026-02-30T00:00:00Z",
  "created_before=2026-04-31",
  "tenant=a&tenant=b",
  "cursor=x",
])("a list with ?%s is rejected", async (query) => {
  const answer = await server.call("GET", `${EVENTS}?${query}`);
  expect([answer.status, answer.json.errors]).toEqual([
    422,
    [{ parameter: expect.any(String), message: expect.any(String) }],
  ]);
  expect(answer.json.detail).not.toMatch(/[a-z][A-Z]/);
});
