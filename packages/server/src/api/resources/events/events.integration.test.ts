import { once } from "node:events";
import { connect } from "node:net";
import pg from "pg";
import { startScriptedReceiver } from "posthorn/testing";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../../../../../../tests/support/eventually.ts";
import { adminKey, startServer, type TestServer } from "../../../../../../tests/support/start-server.ts";

async function countEvents({ connectionString }: TestServer): Promise<number> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    const { rows } = await client.query<{ count: number }>(
      "select count(*)::int as count from posthorn.events",
    );
    return rows[0]?.count ?? 0;
  } finally {
    await client.end();
  }
}

const event = { tenant: "acme", type: "order.paid", data: { id: 1 } };

test("an event is accepted when it is durable, and delivered byte for byte", async () => {
  const server = await startServer();
  const receiver = await startScriptedReceiver();
  onTestFinished(() => receiver.close());
  await server.call("PUT", "/api/v1/tenants/acme");
  await server.call("POST", "/api/v1/tenants/acme/endpoints", {
    url: `${receiver.url}/in`,
    events: ["*"],
    format: "data",
  });
  const data = '{"b":1.0, "a":12345678901234567890,"a":2,"nul":"\\u0000"}';
  const answer = await server.call(
    "POST",
    "/api/v1/events",
    `{"tenant":"acme","data":${data},"type":"order.paid"}`,
  );
  expect(answer.status).toBe(202);
  expect(answer.json).toEqual({
    id: expect.stringMatching(/^evt_/),
    sequence: null,
    duplicate: false,
    deliveries: 1,
  });
  const [request] = await receiver.received(1);
  expect(request?.body.toString()).toBe(data);
  const detail = await server.call("GET", `/api/v1/events/${answer.json.id}`);
  expect(detail.text).toContain(`"data":${data}`);
  expect(detail.json.deliveries).toHaveLength(1);
});

test("the same idempotency key gives the first event, whether in the header or the body", async () => {
  const server = await startServer();
  const first = await server.call("POST", "/api/v1/events", { ...event, idempotency_key: "k1" });
  const second = await server.call("POST", "/api/v1/events", event, { "idempotency-key": "k1" });
  const quoted = await server.call("POST", "/api/v1/events", event, { "idempotency-key": '"k1"' });
  expect([second.json.id, quoted.json.id]).toEqual([first.json.id, first.json.id]);
  expect(second.json.duplicate).toBe(true);
  expect([first, second].map(({ headers }) => headers.get("idempotency-replayed"))).toEqual([null, "true"]);
});

test("an idempotency key for other content, or two different keys, are refused", async () => {
  const server = await startServer();
  await server.call("POST", "/api/v1/events", event, { "idempotency-key": "k1" });
  const other = await server.call(
    "POST",
    "/api/v1/events",
    { ...event, data: 2 },
    { "idempotency-key": "k1" },
  );
  expect([other.status, other.json.code]).toEqual([422, "idempotency_conflict"]);
  const both = await server.call(
    "POST",
    "/api/v1/events",
    { ...event, idempotency_key: "a" },
    { "idempotency-key": "b" },
  );
  expect([both.status, both.json.errors[0].pointer]).toEqual([422, "/idempotency_key"]);
});

test("an array is published in order, with a result for each", async () => {
  const server = await startServer();
  const events = Array.from({ length: 500 }, (_, n) => ({ ...event, data: n }));
  const answer = await server.call("POST", "/api/v1/events", events);
  expect(answer.status).toBe(202);
  expect(answer.json).toHaveLength(500);
  const last = await server.call("GET", `/api/v1/events/${answer.json[499].id}`);
  expect(last.json.data).toBe(499);
});

test("one wrong event in an array, and none of it is published", async () => {
  const server = await startServer();
  const events = [
    event,
    { ...event, type: "Not A Type" },
    event,
    { ...event, tenant: "" },
    { ...event, subject: "" },
  ];
  const answer = await server.call("POST", "/api/v1/events", events);
  expect([answer.status, answer.json.code]).toEqual([422, "invalid_event"]);
  expect(answer.json.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
    "/1/type",
    "/3/tenant",
    "/4/subject",
  ]);
  expect(await countEvents(server)).toBe(0);
});

test("an array with a key used before says which of its events were published all the same", async () => {
  const server = await startServer();
  await server.call("POST", "/api/v1/events", { ...event, idempotency_key: "k" });
  const answer = await server.call("POST", "/api/v1/events", [
    event,
    { ...event, data: 2, idempotency_key: "k" },
  ]);
  expect([answer.status, answer.json.code]).toEqual([422, "idempotency_conflict"]);
  expect(answer.json.results).toEqual([expect.objectContaining({ duplicate: false }), null]);
  expect(answer.json.errors).toEqual([expect.objectContaining({ pointer: "/1" })]);
});

test("data of 256 KB fits, a byte more does not", async () => {
  const server = await startServer();
  const ofSize = (bytes: number): object => ({ ...event, data: "x".repeat(bytes - 2) });
  expect((await server.call("POST", "/api/v1/events", ofSize(256 * 1024))).status).toBe(202);
  const refused = await server.call("POST", "/api/v1/events", ofSize(256 * 1024 + 1));
  expect([refused.status, refused.json.code]).toEqual([413, "payload_too_large"]);
  expect(refused.json.errors).toEqual([expect.objectContaining({ pointer: "/data" })]);
  const many = await server.call("POST", "/api/v1/events", [event, ofSize(256 * 1024 + 1)]);
  expect([many.status, many.json.errors[0].pointer]).toEqual([413, "/1/data"]);
});

test("a body past 16 MB is refused without being read, with and without a length", async () => {
  const server = await startServer();
  const body = `[${`${JSON.stringify({ ...event, data: "x".repeat(200_000) })},`.repeat(90)}1]`;
  const refused = await server.call("POST", "/api/v1/events", body);
  expect([refused.status, refused.json.code]).toEqual([413, "body_too_large"]);
  const chunked = await fetch(`${server.url}/api/v1/events`, {
    method: "POST",
    headers: {
      authorization: "Bearer test-admin-key-of-more-than-32-characters",
      "content-type": "application/json",
    },
    body: new Blob([body]).stream(),
    duplex: "half",
  } as RequestInit);
  expect(chunked.status).toBe(413);
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
  [
    "too deep",
    `{"tenant":"a","type":"b","data":${"[".repeat(65)}${"]".repeat(65)}}`,
    {},
    422,
    "invalid_body",
  ],
])("a body that is %s is refused", async (_, body, headers, status, code) => {
  const server = await startServer({ started: false });
  const answer = await server.call("POST", "/api/v1/events", body, headers);
  expect([answer.status, answer.json.code]).toEqual([status, code]);
});

test("events are listed newest first, page by page, and filtered", async () => {
  const server = await startServer();
  for (const type of ["a", "b", "c"]) await server.call("POST", "/api/v1/events", { ...event, type });
  const first = await server.call("GET", "/api/v1/events?tenant=acme&limit=2");
  expect(first.json.data.map(({ type }: { type: string }) => type)).toEqual(["c", "b"]);
  const second = await server.call(
    "GET",
    `/api/v1/events?tenant=acme&limit=2&cursor=${first.json.next_cursor}`,
  );
  expect([second.json.data[0].type, second.json.next_cursor]).toEqual(["a", null]);
  const filtered = await server.call("GET", "/api/v1/events?type=b&created_after=2020-01-01T00:00:00Z");
  expect(filtered.json.data).toHaveLength(1);
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
  const server = await startServer({ started: false });
  const answer = await server.call("GET", `/api/v1/events?${query}`);
  expect([answer.status, answer.json.errors]).toEqual([
    422,
    [{ parameter: expect.any(String), message: expect.any(String) }],
  ]);
  expect(answer.json.detail).not.toMatch(/[a-z][A-Z]/);
});

/** To send 15 MB takes a busy machine more than the second that is waited for otherwise. */

test("large bodies past what memory allows are refused before they are read, and small ones go on", async () => {
  const server = await startServer();
  const { hostname, port } = new URL(server.url);
  const size = 15 * 1024 * 1024;
  const head = `POST /api/v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${adminKey}\r\nContent-Type: application/json\r\nContent-Length: ${size}\r\n\r\n`;
  const unfinished = await Promise.all(
    [1, 2, 3].map(async () => {
      const socket = connect(Number(port), hostname);
      onTestFinished(() => void socket.destroy());
      socket.write(`${head}[`);
      await once(socket, "connect");
      return socket;
    }),
  );
  const refused = await eventually("a large body is refused", async () => {
    const answer = await server.call("POST", "/api/v1/events", `[${" ".repeat(size)}]`).catch(() => null);
    return answer?.status === 503 && answer;
  });
  expect(refused.json).toMatchObject({ code: "overloaded", status: 503 });
  expect((await server.call("POST", "/api/v1/events", event)).status).toBe(202);

  for (const socket of unfinished) socket.destroy();
  await eventually("a large body is read", async () => {
    const answer = await server.call("POST", "/api/v1/events", `[${" ".repeat(size)}]`).catch(() => null);
    return answer?.status === 422; // read, and empty
  });
});
