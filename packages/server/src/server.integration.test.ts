import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import pg from "pg";
import { createPosthorn } from "posthorn";
import { expect, onTestFinished, test } from "vitest";
import { adminKey, startServer } from "../../../tests/support/start-server.ts";
import { createHandler } from "./api/handler.ts";
import { OPERATORS_ONLY } from "./api/principal.ts";
import { Sink } from "./api/sink.ts";
import { createServer } from "./server.ts";

test("every request without a valid key gets the same 401", async () => {
  const server = await startServer({ started: false });
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
});

test("the key is checked before the body is read", async () => {
  const server = await startServer({ started: false });
  const answer = await server.call("POST", "/api/v1/events", "{", { authorization: "Bearer wrong" });
  expect(answer.status).toBe(401);
});

test("every route of the API needs a key", async () => {
  const server = await startServer({ started: false });
  const routes = [
    "POST events",
    "GET events",
    "GET events/x",
    "GET tenants",
    "PUT tenants/x",
    "GET tenants/x",
    "DELETE tenants/x",
    "POST tenants/x/endpoints",
    "GET tenants/x/endpoints",
    "GET tenants/x/endpoints/y",
    "PATCH tenants/x/endpoints/y",
    "DELETE tenants/x/endpoints/y",
    "POST tenants/x/endpoints/y/test",
    "POST tenants/x/endpoints/y/rotate-secret",
    "GET tenants/x/endpoints/y/deliveries",
    "GET tenants/x/deliveries",
    "GET deliveries",
    "GET deliveries/x",
    "POST deliveries/x/retry",
  ];
  for (const route of routes) {
    const [method = "", path = ""] = route.split(" ");
    const response = await fetch(`${server.url}/api/v1/${path}`, { method });
    expect([route, response.status]).toEqual([route, 401]);
  }
});

test("responses have a length and a request id, and must not be cached", async () => {
  const server = await startServer({ started: false });
  const { headers, text } = await server.call("GET", "/healthz", undefined, { "x-request-id": "abc-123" });
  expect(headers.get("content-length")).toBe(String(text.length));
  expect(headers.get("x-request-id")).toBe("abc-123");
  expect(headers.get("cache-control")).toBe("no-store");
  const harmful = await server.call("GET", "/healthz", undefined, { "x-request-id": "a b\tc" });
  expect(harmful.headers.get("x-request-id")).toMatch(/^req_/);
});

test("HEAD returns the same as GET, without the body", async () => {
  const server = await startServer({ started: false });
  const [get, head] = [await server.call("GET", "/"), await server.call("HEAD", "/")];
  expect([head.status, head.text]).toEqual([200, ""]);
  expect(head.headers.get("content-length")).toBe(get.headers.get("content-length"));
});

test("an unknown path returns 404, an unknown method 405 with Allow", async () => {
  const server = await startServer({ started: false });
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
  const client = new pg.Client({ connectionString: server.connectionString });
  await client.connect();
  await client.query("drop schema posthorn cascade");
  await client.end();
  const answer = await server.call("GET", "/readyz");
  expect(answer.status).toBe(503);
  expect(answer.json.reason).toMatch(/migrated/);
});

test("without a database the server is not ready and returns 503 with Retry-After", async () => {
  const hooks = createPosthorn({ database: "postgres://127.0.0.1:1/none" });
  const server = createServer({ hooks, port: 0, adminKey });
  const { url } = await server.start();
  onTestFinished(async () => {
    await server.stop();
    await hooks.stop();
  });
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  expect((await fetch(`${url}/readyz`)).status).toBe(503);
  const response = await fetch(`${url}/api/v1/events`, {
    method: "POST",
    headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
    body: '{"tenant":"a","type":"b","data":1}',
  });
  expect([response.status, response.headers.get("retry-after")]).toEqual([503, "2"]);
  expect(await response.json()).toMatchObject({ code: "database_unavailable" });
});

test("without a configured key the handler accepts the one whose digest is in the database", async () => {
  const server = await startServer({ started: false, adminKey: undefined });
  expect((await server.call("GET", "/api/v1/events")).status).toBe(401);
  const { adminKeyDigest } = await import("./api/middleware/credentials.ts");
  await server.hooks.meta.setOnce("admin_key_sha256", adminKeyDigest(adminKey));
  expect((await server.call("GET", "/api/v1/events")).status).toBe(200);
});

test("an open request is finished before the server stops", async () => {
  const sink = new Sink();
  const server = await startServer({ sink: { sink, readers: OPERATORS_ONLY } });
  const arrived = sink.next("slow", () => true, 5_000);
  const answer = server.call("POST", "/sink/slow?delay_ms=60000&status=503", "x");
  await arrived;
  await server.stop();
  expect((await answer).status).toBe(503);
  await expect(server.call("GET", "/healthz")).rejects.toThrow();
});

test("while it drains, the server responds, is not ready, and accepts no events", async () => {
  const { hooks } = await startServer();
  const server = createServer({
    hooks,
    port: 0,
    adminKey,
    sink: { sink: new Sink(), readers: OPERATORS_ONLY },
  });
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

test("draining waits for open requests, but not for a slow client", async () => {
  const { hooks } = await startServer({ started: false });
  const server = createServer({ hooks, port: 0, adminKey });
  onTestFinished(() => server.stop({ graceMs: 0 }));
  const { url } = await server.start();
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  const head = `POST /api/v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${adminKey}\r\n`;
  const told = new Promise((resolve) => socket.once("data", resolve));
  socket.write(
    `${head}Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\n`,
  );
  await told;
  const startedAt = performance.now();
  await server.drain({ graceMs: 200 });
  expect(performance.now() - startedAt).toBeGreaterThan(90);
});

test("a port in use gives a clear error", async () => {
  const server = await startServer({ started: false });
  const port = Number(new URL(server.url).port);
  await expect(createServer({ hooks: server.hooks, port, adminKey }).start()).rejects.toThrow(
    `Port ${port} on 127.0.0.1 is in use.`,
  );
});

test("the server can be stopped before it is started, and twice", async () => {
  const { hooks } = await startServer({ started: false });
  const server = createServer({ hooks, port: 0 });
  await server.stop();
  await server.stop();
});

test("a client that disconnects while sending its body does no harm", async () => {
  const server = await startServer({ started: false });
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  socket.write(
    `POST /api/v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${adminKey}\r\n` +
      "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
  );
  await new Promise((resolve) => socket.once("connect", resolve));
  socket.destroy();
  expect((await server.call("GET", "/healthz")).status).toBe(200);
});

test("mounted at a path, it handles its own routes only", async () => {
  const { hooks } = await startServer({ started: false });
  const handler = createHandler(hooks, { adminKey });
  // What app.use("/webhooks", handler) does in Express and its kin.
  const app = createHttpServer((request, response) => {
    const originalUrl = request.url ?? "";
    if (!originalUrl.startsWith("/webhooks/")) return void response.end("the application");
    Object.assign(request, { originalUrl, baseUrl: "/webhooks", url: originalUrl.slice("/webhooks".length) });
    handler(request, response, () => response.end("next"));
  });
  await new Promise<void>((resolve) => app.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void app.close());
  const url = `http://127.0.0.1:${(app.address() as AddressInfo).port}`;
  const headers = { authorization: `Bearer ${adminKey}` };
  expect((await fetch(`${url}/webhooks/api/v1/events`, { headers })).status).toBe(200);
  expect(await (await fetch(`${url}/webhooks/api/v1/events`)).json()).toMatchObject({
    instance: "/webhooks/api/v1/events",
  });
  expect(await (await fetch(`${url}/webhooks/elsewhere`)).text()).toBe("next");
  expect(await (await fetch(`${url}/other`)).text()).toBe("the application");
});

test("behind a body parser it reports the error, or uses the raw bytes that the parser kept", async () => {
  const { hooks } = await startServer({ started: true });
  const handler = createHandler(hooks, { adminKey });
  let keep = false;
  const app = createHttpServer((request, response) => {
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
  await new Promise<void>((resolve) => app.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void app.close());
  const publish = () =>
    fetch(`http://127.0.0.1:${(app.address() as AddressInfo).port}/api/v1/events`, {
      method: "POST",
      headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
      body: '{"tenant":"a","type":"b","data":1.0}',
    });
  expect(await (await publish()).json()).toMatchObject({ status: 500, code: "body_already_read" });
  keep = true;
  expect((await publish()).status).toBe(202);
});

test("the sink returns the requested status and lists its requests", async () => {
  const server = await startServer({ started: false, sink: { sink: new Sink(), readers: "public" } });
  const answer = await server.call("PUT", "/sink/a?status=418&body=teapot&delay_ms=1", '{"x":1}', {
    "x-test": "1",
  });
  expect([answer.status, answer.text]).toEqual([418, "teapot"]);
  expect((await server.call("POST", "/sink/a?status=204")).status).toBe(204);
  const listed = await (await fetch(`${server.url}/sink/a/requests`)).json();
  expect(listed).toMatchObject({
    data: [
      { method: "POST" },
      { method: "PUT", body: '{"x":1}', headers: { "x-test": "1" }, received_at: expect.any(String) },
    ],
  });
  for (const query of ["status=99", "status=600", "delay_ms=60001", "delay_ms=x"]) {
    expect((await server.call("POST", `/sink/a?${query}`)).status).toBe(422);
  }
});

test("the sink rejects unknown parameters with a suggestion", async () => {
  const server = await startServer({ started: false, sink: { sink: new Sink(), readers: "public" } });
  const wrong = await server.call("POST", "/sink/a?statu=500", "{}");
  expect(wrong.json).toMatchObject({
    code: "invalid_parameter",
    errors: [{ parameter: "statu", message: '"statu" is not a parameter here. Did you mean status?' }],
  });
  const listed = await server.call("GET", "/sink/a/requests?limit=1");
  expect([listed.status, listed.json.detail]).toEqual([
    422,
    '"limit" is not a parameter here. This route has no parameters.',
  ]);
});

test("the sink does not store credentials", async () => {
  const server = await startServer({ started: false, sink: { sink: new Sink(), readers: "public" } });
  await server.call("POST", "/sink/a", "{}", { authorization: "Bearer s3cret", cookie: "session=s3cret" });
  const { text, json } = await server.call("GET", "/sink/a/requests");
  expect(json.data[0].headers).toMatchObject({ authorization: "Bearer …", cookie: "…" });
  expect(text).not.toContain("s3cret");
});

test("the sink stores at most 256 KB of a body", async () => {
  const server = await startServer({ started: false, sink: { sink: new Sink(), readers: OPERATORS_ONLY } });
  expect((await server.call("POST", "/sink/big", "x".repeat(1_000_000))).status).toBe(200);
  const [request] = (await server.call("GET", "/sink/big/requests")).json.data;
  expect([request.body.length, request.truncated]).toEqual([256 * 1024, true]);
  expect((await fetch(`${server.url}/sink/big/requests`)).status).toBe(401);
});

test("a disabled sink returns 404", async () => {
  const server = await startServer({ started: false });
  expect((await server.call("POST", "/sink/x", "{}")).status).toBe(404);
});

test("a process without an API serves only its health", async () => {
  const server = await startServer({ started: false, routes: "health" });
  expect((await server.call("GET", "/readyz")).status).toBe(200);
  const missing = await server.call("GET", "/api/v1/events");
  expect([missing.status, missing.json.detail]).toEqual([404, expect.stringContaining("runs as a worker")]);
});

test("a client that sends its headers too slowly is disconnected", async () => {
  const server = await startServer({ started: false, headersTimeoutMs: 100, requestTimeoutMs: 200 });
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  socket.write("GET /healthz HTTP/1.1\r\nX-Slow: ");
  const drip = setInterval(() => socket.write("x"), 20);
  onTestFinished(() => {
    clearInterval(drip);
    socket.destroy();
  });
  const answer = await new Promise<string>((resolve) => socket.once("data", (data) => resolve(String(data))));
  expect(answer).toMatch(/^HTTP\/1.1 408/);
});

test("a body with a too large Content-Length is rejected, and the connection is closed", async () => {
  const server = await startServer({ started: false });
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  const head = `POST /api/v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${adminKey}\r\n`;
  socket.write(`${head}Content-Type: application/json\r\nContent-Length: ${16 * 1024 * 1024 + 1}\r\n\r\n[`);
  let answer = "";
  socket.on("data", (data) => {
    answer += data;
  });
  await new Promise((resolve) => socket.on("error", () => {}).once("close", resolve));
  expect(answer).toMatch(/^HTTP\/1.1 413 .*\r\nConnection: close\r\n.*"code":"body_too_large"/s);
});

test("a client that sends its body too slowly is disconnected", async () => {
  const server = await startServer({ started: false, headersTimeoutMs: 100, requestTimeoutMs: 200 });
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  socket.write(
    `POST /api/v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${adminKey}\r\n` +
      "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n",
  );
  const drip = setInterval(() => socket.write(" "), 20);
  onTestFinished(() => clearInterval(drip));
  await new Promise((resolve) =>
    socket
      .on("error", () => {})
      .once("close", resolve)
      .resume(),
  );
});
