import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { createPosthorn } from "posthorn";
import { expect, onTestFinished, test } from "vitest";
import { queryOnce } from "../../../tests/support/database/own-postgres.ts";
import { listen } from "../../../tests/support/servers/http.ts";
import { adminKey, sharedServer, startServer } from "../../../tests/support/servers/start-server.ts";
import { createHandler } from "./api/handler.ts";
import { adminKeyDigest } from "./api/middleware/admin-key.ts";
import { OPERATORS_ONLY } from "./api/principal.ts";
import { Sink } from "./api/sink.ts";
import { createServer } from "./server.ts";

const sink = new Sink();
const server = sharedServer({ started: false, sink: { sink, readers: OPERATORS_ONLY } });

/** Longer than any test: the signal must come first. */
const NEVER_MS = 600_000;
const publishHead = `POST /api/v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${adminKey}\r\nContent-Type: application/json\r\n`;

/** A connection to a server, closed with the test. */
function connectTo({ url }: { readonly url: string }): Socket {
  const socket = connect(Number(new URL(url).port), "127.0.0.1").on("error", () => {});
  onTestFinished(() => void socket.destroy());
  return socket;
}

test("every request without a valid key gets the same 401, before its body is read", async () => {
  const bodies = new Set<string>();
  for (const authorization of [
    "",
    "Bearer",
    "Bearer x",
    `Bearer ${adminKey}x`,
    `Basic ${adminKey}`,
    `Bearer ${adminKey} x`,
  ]) {
    const answer = await server.call("GET", "/api/v1/events", undefined, {
      authorization,
      "x-request-id": "same",
    });
    expect(answer.status).toBe(401);
    expect(answer.headers.get("www-authenticate")).toBe('Bearer realm="posthorn"');
    bodies.add(answer.text);
  }
  expect(bodies.size).toBe(1);
  const unread = await server.call("POST", "/api/v1/events", "{", { authorization: "Bearer wrong" });
  expect(unread.status).toBe(401);
});

test("responses have a length and a request id, and must not be cached", async () => {
  const { headers, text } = await server.call("GET", "/healthz", undefined, { "x-request-id": "abc-123" });
  expect(headers.get("content-length")).toBe(String(text.length));
  expect(headers.get("x-request-id")).toBe("abc-123");
  expect(headers.get("cache-control")).toBe("no-store");
  const harmful = await server.call("GET", "/healthz", undefined, { "x-request-id": "a b\tc" });
  expect(harmful.headers.get("x-request-id")).toMatch(/^req_/);
});

const head = "GET /healthz HTTP/1.1\r\nHost: x\r\n";

test.each([
  ["no HTTP", "hello\r\n\r\n", 400, "malformed_request"],
  ["too long headers", `${head}X-Long: ${"x".repeat(17_000)}\r\n\r\n`, 431, "headers_too_large"],
  ["two hosts", `${head}host: y\r\n\r\n`, 400, "malformed_request"],
  [
    "two keys",
    `${head}Authorization: Bearer ${adminKey}\r\nAUTHORIZATION: Bearer x\r\n\r\n`,
    400,
    "malformed_request",
  ],
  [
    "two hosts in a published event",
    `${publishHead}Host: y\r\nContent-Length: 2\r\n\r\n{}`,
    400,
    "malformed_request",
  ],
  ["an unknown expectation", `${head}Expect: cake\r\n\r\n`, 417, "expectation_failed"],
])("a request with %s gets a problem document", async (_, sent, status, code) => {
  const socket = connectTo(server);
  socket.write(sent.replace(/\r\n\r\n/, "\r\nConnection: close\r\n\r\n"));
  const [top = "", body = ""] = (await text(socket)).split("\r\n\r\n");
  expect(top).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(top).toMatch(/content-type: application\/problem\+json/i);
  expect(JSON.parse(body)).toMatchObject({ status, code, request_id: expect.stringMatching(/^req_/) });
});

test("an unknown path returns 404, an unknown method 405 with Allow", async () => {
  const missing = await server.call("GET", "/api/v1/evnts?x=1");
  expect(missing.json).toMatchObject({
    status: 404,
    code: "not_found",
    instance: "/api/v1/evnts",
    detail: "There is nothing at this path. Did you mean /api/v1/events?",
  });
  const wrong = await server.call("DELETE", "/api/v1/events");
  expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "POST, GET, HEAD"]);
});

test("a server with pending migrations is not ready, and returns the reason", async () => {
  const server = await startServer({ started: false });
  expect((await server.call("GET", "/readyz")).json).toEqual({ status: "ready" });
  await queryOnce(server.connectionString, "drop schema posthorn cascade");
  const answer = await server.call("GET", "/readyz");
  expect(answer.status).toBe(503);
  expect(answer.json.reason).toMatch(/migrated/);
});

test("without a database the server is not ready and returns 503 with Retry-After", async () => {
  const hooks = createPosthorn({ database: "postgres://127.0.0.1:1/none" });
  onTestFinished(() => hooks.stop());
  const { call } = await startServer({ hooks });
  expect((await call("GET", "/healthz")).status).toBe(200);
  expect((await call("GET", "/readyz")).status).toBe(503);
  const response = await call("POST", "/api/v1/events", { tenant: "a", type: "b", data: 1 });
  expect([response.status, response.headers.get("retry-after")]).toEqual([503, "2"]);
  expect(response.json).toMatchObject({ code: "database_unavailable" });
});

test("without a configured key the handler accepts the one whose digest is in the database", async () => {
  const server = await startServer({ started: false, adminKey: undefined });
  expect((await server.call("GET", "/api/v1/events")).status).toBe(401);
  await server.hooks.meta.setOnce("admin_key_sha256", adminKeyDigest(adminKey));
  expect((await server.call("GET", "/api/v1/events")).status).toBe(200);
});

test("while it drains, the server responds, is not ready, and accepts no events", async () => {
  const { hooks } = await startServer();
  const server = createServer({ hooks, port: 0, adminKey, sink: { sink, readers: OPERATORS_ONLY } });
  onTestFinished(() => server.stop());
  const { url } = await server.start();
  const headers = { authorization: `Bearer ${adminKey}`, "content-type": "application/json" };
  await server.drain();
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  const ready = await fetch(`${url}/readyz`);
  expect([ready.status, ready.headers.get("connection")]).toEqual([503, "close"]);
  const body = '{"tenant":"a","type":"b","data":1}';
  const refused = await fetch(`${url}/api/v1/events`, { method: "POST", headers, body });
  expect([refused.status, refused.headers.get("retry-after"), refused.headers.get("connection")]).toEqual([
    503,
    "2",
    "close",
  ]);
  expect(await refused.json()).toMatchObject({ code: "shutting_down", status: 503 });
  expect((await fetch(`${url}/api/v1/events`, { headers })).status).toBe(200);
  expect((await fetch(`${url}/sink/x?delay_ms=60000`, { method: "POST" })).status).toBe(200);
  await hooks.stop();
  expect(await (await fetch(`${url}/api/v1/events`, { headers })).json()).toMatchObject({
    code: "shutting_down",
  });
  await server.stop();
  await expect(fetch(`${url}/healthz`)).rejects.toThrow();
});

test("a port in use gives a clear error", async () => {
  const port = Number(new URL(server.url).port);
  await expect(createServer({ hooks: server.hooks, port, adminKey }).start()).rejects.toThrow(
    `Port ${port} on 127.0.0.1 is in use.`,
  );
});

test("the server can be stopped before it is started, and twice", async () => {
  const second = createServer({ hooks: server.hooks, port: 0 });
  await second.stop();
  await second.stop();
});

test("behind a body parser it reports the error, or uses the raw bytes that the parser kept", async () => {
  const { hooks } = await startServer();
  const handler = createHandler(hooks, { adminKey });
  let keep = false;
  const url = await listen((request, response) => {
    const chunks: Buffer[] = [];
    request
      .on("data", (chunk) => chunks.push(chunk))
      .on("end", () => {
        const body = Buffer.concat(chunks);
        setImmediate(() => {
          Object.assign(request, keep ? { rawBody: body } : { body: JSON.parse(body.toString()) });
          handler(request, response);
        });
      });
  });
  const publish = () =>
    fetch(`${url}/api/v1/events`, {
      method: "POST",
      headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
      body: '{"tenant":"a","type":"b","data":1.0}',
    });
  expect(await (await publish()).json()).toMatchObject({ status: 500, code: "body_already_read" });
  keep = true;
  expect((await publish()).status).toBe(202);
});

test("an open request is finished before the server stops", async () => {
  const server = await startServer({ started: false, sink: { sink, readers: OPERATORS_ONLY } });
  const arrived = sink.next("slow", () => true, NEVER_MS);
  const answer = server.call("POST", "/sink/slow?delay_ms=60000&status=503", "x");
  await arrived;
  await server.stop();
  expect((await answer).status).toBe(503);
  await expect(server.call("GET", "/healthz")).rejects.toThrow();
});

test("draining waits for open requests, but not for a slow client", async () => {
  const second = createServer({ hooks: server.hooks, port: 0, adminKey });
  onTestFinished(() => second.stop({ graceMs: 0 }));
  const socket = connectTo(await second.start());
  socket.write(`${publishHead}Expect: 100-continue\r\nContent-Length: 100\r\n\r\n`);
  await once(socket, "data");
  const startedAt = performance.now();
  await second.drain({ graceMs: 200 });
  expect(performance.now() - startedAt).toBeGreaterThan(90);
});

test("a client that disconnects while sending its body does no harm", async () => {
  const socket = connectTo(server);
  socket.write(`${publishHead}Content-Length: 100\r\n\r\n{`);
  await once(socket, "connect");
  socket.destroy();
  expect((await server.call("GET", "/healthz")).status).toBe(200);
});

test("a body whose Content-Length is too large is rejected, and the connection is closed", async () => {
  const socket = connectTo(server);
  socket.write(`${publishHead}Content-Length: ${16 * 1024 * 1024 + 1}\r\n\r\n[`);
  let answer = "";
  socket.on("data", (data) => {
    answer += data;
  });
  await once(socket, "close");
  expect(answer).toMatch(/^HTTP\/1.1 413 .*\r\nConnection: close\r\n.*"code":"body_too_large"/s);
});

test.each([
  ["headers", "GET /healthz HTTP/1.1\r\nX-Slow: "],
  ["body", `${publishHead}Content-Length: 1000\r\n\r\n`],
])("a client that sends its %s too slowly is disconnected", async (_what, head) => {
  const socket = connectTo(
    await startServer({ started: false, headersTimeoutMs: 100, requestTimeoutMs: 200 }),
  );
  socket.write(head);
  const drip = setInterval(() => socket.write(" "), 20);
  onTestFinished(() => clearInterval(drip));
  await once(socket.resume(), "close");
});

test("the sink returns the requested status and lists requests without credentials", async () => {
  const answer = await server.call("PUT", "/sink/a?status=418&body=teapot&delay_ms=1", '{"x":1}', {
    cookie: "session=s3cret",
  });
  expect([answer.status, answer.text]).toEqual([418, "teapot"]);
  expect((await server.call("POST", "/sink/a?status=204", "x".repeat(1_000_000))).status).toBe(204);
  const { json, text } = await server.call("GET", "/sink/a/requests");
  expect(json.data).toMatchObject([
    { method: "POST", truncated: true },
    { method: "PUT", body: '{"x":1}', headers: { authorization: "Bearer …", cookie: "…" } },
  ]);
  expect(json.data[0].body.length).toBe(256 * 1024);
  expect(text).not.toContain("s3cret");
  expect((await fetch(`${server.url}/sink/a/requests`)).status).toBe(401);
  const withoutSink = createServer({ hooks: server.hooks, port: 0, adminKey });
  onTestFinished(() => withoutSink.stop());
  const { url } = await withoutSink.start();
  expect((await fetch(`${url}/sink/a`, { method: "POST" })).status).toBe(404);
});

test("the sink rejects invalid parameters, and unknown ones with a suggestion", async () => {
  for (const query of ["status=99", "status=600", "delay_ms=60001", "delay_ms=x"])
    expect((await server.call("POST", `/sink/b?${query}`)).status).toBe(422);
  expect((await server.call("POST", "/sink/b?statu=500", "{}")).json).toMatchObject({
    code: "invalid_parameter",
    errors: [{ parameter: "statu", message: '"statu" is not a parameter here. Did you mean status?' }],
  });
  expect((await server.call("GET", "/sink/b/requests?limit=1")).json).toMatchObject({
    status: 422,
    detail: '"limit" is not a parameter here. This route has no parameters.',
  });
});
