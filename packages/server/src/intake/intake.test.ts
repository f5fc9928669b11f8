import { channel } from "node:diagnostics_channel";
import { once } from "node:events";
import { createServer, IncomingMessage, type RequestListener, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { createPosthorn, type Posthorn } from "posthorn";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { gate } from "../../../../tests/support/gate.ts";
import { createHandler } from "../api/handler.ts";
import { sendReply } from "../api/reply.ts";
import { createServer as createPosthornServer } from "../server.ts";
import { Intake } from "./intake.ts";
import { MAX_PLAIN_BODY_BYTES, MAX_PLAIN_HEAD_BYTES } from "./plain-head.ts";

const adminKey = "test-admin-key-of-more-than-32-characters";
const unreachable = createPosthorn({ database: "postgres://127.0.0.1:1/none" });
/** Accepts events without a database. The id is the length of the data. */
const accepting = {
  ...unreachable,
  publish: async ({ rawData }: { rawData: { bytes: Uint8Array } }) => result(rawData.bytes.length),
  publishMany: async (inputs: readonly unknown[]) =>
    inputs.map((_input, index) => ({ ok: true, result: result(index) })),
} as unknown as Posthorn;

function result(id: number) {
  return { id: `evt_${id}`, sequence: null, duplicate: false, deliveries: 1 };
}

interface TestServer {
  readonly server: Server;
  readonly port: number;
  readonly sockets: Socket[];
  /** For each request, whether it was read without node:http. */
  readonly arePlain: boolean[];
}

async function startServer(hasIntake: boolean, handle = createHandler(accepting, { adminKey })) {
  const arePlain: boolean[] = [];
  const listener: RequestListener = (request, response) => {
    arePlain.push(!(request instanceof IncomingMessage));
    handle(request, response);
  };
  const server = createServer({ keepAliveTimeout: 65_000, noDelay: true }, listener);
  if (hasIntake) new Intake(server, listener);
  const sockets: Socket[] = [];
  server.prependListener("connection", (socket) => sockets.push(socket));
  await once(server.listen(0, "127.0.0.1"), "listening");
  return { server, port: (server.address() as AddressInfo).port, sockets, arePlain };
}

let withIntake: TestServer;
let withoutIntake: TestServer;
beforeAll(async () => {
  [withIntake, withoutIntake] = await Promise.all([startServer(true), startServer(false)]);
  return async () => {
    for (const { server, sockets } of [withIntake, withoutIntake]) {
      server.close();
      for (const socket of sockets) socket.destroy();
    }
    await unreachable.stop();
  };
});

/**
 * Sends each part after the server has read the one before. Returns what the server sent until all responses arrived or
 * it closed the connection.
 */
async function exchange(
  { port, sockets }: TestServer,
  parts: readonly (string | Buffer)[],
  { responses = 1, hasEnd = false, onSent = () => {} } = {},
): Promise<string> {
  const earlier = sockets.length;
  const client = connect(port, "127.0.0.1")
    .setNoDelay()
    .on("error", () => {});
  let text = "";
  client.on("data", (chunk) => {
    text += chunk.toString();
  });
  await once(client, "connect");
  // an earlier connection may have had the same port
  const isOurs = (socket: Socket, index: number): boolean =>
    index >= earlier && socket.remotePort === client.localPort;
  while (!sockets.some(isOurs)) await setImmediate();
  const socket = sockets.find(isOurs) as Socket;
  let sent = 0;
  for (const part of parts) {
    client.write(part);
    sent += Buffer.byteLength(part);
    while (socket.bytesRead < sent && !socket.destroyed && !client.closed) await setImmediate();
  }
  onSent();
  if (hasEnd) client.end();
  while (!client.closed && responsesIn(text) < responses) await setImmediate();
  client.destroy();
  return text.replace(/^Date: .*$/gm, "Date: now");
}

/** The number of complete responses, all of which have a length. */
function responsesIn(text: string): number {
  let count = 0;
  for (let rest = Buffer.from(text); ; count += 1) {
    const headEnd = rest.indexOf("\r\n\r\n");
    const [, length] = /^content-length: (\d+)/im.exec(rest.toString("latin1", 0, headEnd)) ?? [];
    const end = headEnd + 4 + Number(length);
    if (headEnd === -1 || length === undefined || rest.length < end) return count;
    rest = rest.subarray(end);
  }
}

const start = "POST /api/v1/events HTTP/1.1\r\n";
const host = "Host: x\r\n";
/** A generated id has no fixed length. */
const requestId = "X-Request-Id: 7\r\n";
const authorization = `Authorization: Bearer ${adminKey}\r\n`;
const json = "Content-Type: application/json\r\n";
const event = '{"tenant":"a","type":"b.c","data":{"x":1.0}}';
const length = `Content-Length: ${event.length}\r\n`;
const head = start + host + requestId + authorization + json;
const request = `${head}${length}\r\n${event}`;

function withHeader(line: string): string {
  return `${head}${length}${line}\r\n\r\n${event}`;
}

function withBody(body: string): string {
  return `${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** A plain request whose head or body has this many bytes. */
function withHeadOf(bytes: number): string {
  const known = head.length + length.length + "User-Agent: \r\n\r\n".length;
  return withHeader(`User-Agent: ${"x".repeat(bytes - known)}`);
}

function withBodyOf(bytes: number): string {
  return withBody(`${event}${" ".repeat(bytes - event.length)}`);
}

const batch = (count: number): string => `[${Array.from({ length: count }, () => event).join(",")}]`;

describe.each<[string, [string, string | Buffer][]]>([
  [
    "without node:http",
    [
      ["an event", request],
      ["headers in lower case", request.toLowerCase().replace("post", "POST").replace("http/", "HTTP/")],
      ["keep-alive", withHeader("Connection: Keep-Alive")],
      ["an idempotency key", withHeader("Idempotency-Key: k")],
      ["a charset", request.replace("/json", "/json; charset=utf-8")],
      ["a batch", withBody(batch(50))],
      ["a batch whose response is large", withBody(batch(300))],
      ["a wrong key", request.replace("test-admin", "none")],
      ["malformed JSON", withBody('{"tenant":"é')],
      ["an event with mistakes", withBody('{"tenant":1,"datum":2}')],
      [
        "bytes that are not UTF-8",
        Buffer.concat([Buffer.from(`${head}Content-Length: 2\r\n\r\n`), Buffer.of(0xc3, 0x28)]),
      ],
      ["the largest head", withHeadOf(MAX_PLAIN_HEAD_BYTES)],
      ["the largest body", withBodyOf(MAX_PLAIN_BODY_BYTES)],
    ],
  ],
  [
    "by node:http",
    [
      ["a head one byte larger", withHeadOf(MAX_PLAIN_HEAD_BYTES + 1)],
      ["a body one byte larger", withBodyOf(MAX_PLAIN_BODY_BYTES + 1)],
      ["a head that is too large", withHeadOf(17 * 1024)],
      ["a body that is too large", `${head}Content-Length: 16777217\r\n\r\n{`],
      ["another path", request.replace("events", "eventz")],
      ["a query", request.replace("events", "events?tenant=a")],
      ["an absolute URL", request.replace("/api", "http://x/api")],
      ["another method", `GET /api/v1/nothing HTTP/1.1\r\n${host}${requestId}\r\n`],
      ["a method in lower case", request.replace("POST", "post")],
      ["HTTP/1.0", request.replace("HTTP/1.1", "HTTP/1.0")],
      ["HTTP/2.0", request.replace("HTTP/1.1", "HTTP/2.0")],
      ["an empty line before it", `\r\n${request}`],
      ["line feeds only", request.replaceAll("\r\n", "\n")],
      ["a bare line feed", request.replace("Host: x\r\n", "Host: x\n")],
      ["a bare carriage return", withHeader("Accept: a\rb")],
      ["a folded header", withHeader("Accept: a\r\n b")],
      ["a header without a space", withHeader("Accept:a")],
      ["a header with two spaces", withHeader("Accept:  a")],
      ["a space before the colon", withHeader("Accept : a")],
      ["a space at the end of a header", withHeader("Accept: a ")],
      ["an empty header", withHeader("Accept: ")],
      ["a header without a colon", withHeader("Accept")],
      ["a header without a name", withHeader(": a")],
      ["a tab in a header", withHeader("Accept: a\tb")],
      ["a NUL in a header", withHeader("Accept: a\0b")],
      ["a header that is not ASCII", withHeader("Accept: é")],
      ["an unknown header", withHeader("X-Unknown: 1")],
      ["a prototype as a header", withHeader("__proto__: 1")],
      ["a constructor as a header", withHeader("constructor: 1")],
      ["a cookie", withHeader("Cookie: a=b")],
      ["no host", request.replace(host, "")],
      ["two hosts", withHeader("Host: y")],
      ["no key", request.replace(authorization, "")],
      ["two keys", withHeader("authorization: Bearer x")],
      ["no length", request.replace(length, "")],
      ["a length of 0", `${head}Content-Length: 0\r\n\r\n`],
      ["two lengths", withHeader(length.trim())],
      ["two different lengths", withHeader("Content-Length: 5")],
      ["a list of lengths", request.replace(/Length: (\d+)/, "Length: $1, $1")],
      ["a length with a zero", request.replace("Length: ", "Length: 0")],
      ["a length with a sign", request.replace("Length: ", "Length: +")],
      ["a hexadecimal length", request.replace(/Length: \d+/, "Length: 0x2c")],
      ["a negative length", request.replace("Length: ", "Length: -")],
      ["an endless length", request.replace("Length: ", "Length: 99999999999999999999")],
      ["chunks", `${head}Transfer-Encoding: chunked\r\n\r\n2c\r\n${event}\r\n0\r\n\r\n`],
      ["chunks and a length", withHeader("Transfer-Encoding: chunked")],
      ["an unknown encoding", withHeader("Transfer-Encoding: identity")],
      ["compression", withHeader("Content-Encoding: gzip")],
      ["an unknown expectation", withHeader("Expect: nothing\r\nConnection: close")],
      ["an expectation", withHeader("Expect: 100-continue\r\nConnection: close")],
      ["an upgrade", withHeader("Connection: Upgrade\r\nUpgrade: h2c")],
      ["the end of the connection", withHeader("Connection: close")],
      ["two connection options", withHeader("Connection: keep-alive, TE")],
      ["another content type", request.replace("application/json", "text/plain")],
      ["no content type", request.replace(json, "")],
      ["a CloudEvent", request.replace("/json", "/cloudevents+json")],
      ["a binary CloudEvent", withHeader("ce-id: 1")],
      ["TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
    ],
  ],
])("read %s", (reader, requests) => {
  test.each(requests)("%s gets the response of node:http", async (_what, bytes) => {
    withIntake.arePlain.length = 0;
    const actual = await exchange(withIntake, [bytes]);
    expect(actual).toBe(await exchange(withoutIntake, [bytes]));
    expect(actual).not.toBe("");
    if (reader === "by node:http") expect(withIntake.arePlain).not.toContain(true);
    else expect(withIntake.arePlain).toEqual([true]);
  });
});

test.each([
  ["the same again", request],
  ["another request", `GET /healthz HTTP/1.1\r\n${host}${requestId}\r\n`],
  ["garbage", "\0garbage"],
])("a request followed by %s in one write gets the responses of node:http", async (_what, more) => {
  withIntake.arePlain.length = 0;
  const actual = await exchange(withIntake, [request + more], { responses: 2 });
  expect(actual).toBe(await exchange(withoutIntake, [request + more], { responses: 2 }));
  expect(withIntake.arePlain).not.toContain(true);
});

test("a request may be split anywhere", async () => {
  const expected = await exchange(withoutIntake, [request]);
  const bodyStart = request.length - event.length;
  for (let at = 1; at < request.length; at += 1) {
    withIntake.arePlain.length = 0;
    const parts = [request.slice(0, at), request.slice(at)];
    expect([at, await exchange(withIntake, parts)]).toEqual([at, expected]);
    // a head that arrives in parts is read by node:http
    expect([at, ...withIntake.arePlain]).toEqual([at, at >= bodyStart]);
  }
});

test("a body may arrive byte by byte", async () => {
  const bodyStart = request.length - event.length;
  const parts = [request.slice(0, bodyStart), ...event];
  expect(await exchange(withIntake, parts)).toBe(await exchange(withoutIntake, [request]));
});

test.each([
  ["with its body", request],
  ["within its body", request.slice(0, -1)],
  ["within its head", head],
  ["before it", ""],
])("a client that ends a request %s gets the response of node:http", async (_where, bytes) => {
  const parts = bytes === "" ? [] : [bytes];
  expect(await exchange(withIntake, parts, { hasEnd: true })).toBe(
    await exchange(withoutIntake, parts, { hasEnd: true }),
  );
});

/** A server whose publishes wait until the gate is opened, and a client that has sent a request. */
async function startPending() {
  const { opened, open } = gate();
  const arrived = gate();
  const publish = async () => {
    arrived.open();
    await opened;
    return result(1);
  };
  const hooks = { ...accepting, publish } as unknown as Posthorn;
  const service = createPosthornServer({ hooks, port: 0, adminKey });
  onTestFinished(() => service.stop({ graceMs: 0 }));
  const client = await connectTo(Number(new URL((await service.start()).url).port));
  client.write(request);
  await arrived.opened;
  return { service, client, open };
}

async function connectTo(port: number): Promise<Socket> {
  const client = connect(port, "127.0.0.1").on("error", () => {});
  onTestFinished(() => void client.destroy());
  await once(client, "connect");
  return client;
}

async function nextText(client: Socket): Promise<string> {
  const [chunk] = (await once(client, "data")) as [Buffer];
  return chunk.toString();
}

async function untilClosed(client: Socket): Promise<string> {
  let text = "";
  client.on("data", (chunk) => {
    text += chunk.toString();
  });
  await once(client, "close");
  return text;
}

test("requests that arrive before the response are read by node:http after it", async () => {
  const { opened, open } = gate();
  const publish = () => opened.then(() => result(1));
  const handle = createHandler({ ...accepting, publish } as unknown as Posthorn, { adminKey });
  const started = await startServer(true, handle);
  onTestFinished(() => void started.server.close());
  const others = `${request}GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
  const text = await exchange(started, [request, others], { responses: 3, onSent: open });
  expect([...text.matchAll(/HTTP\/1.1 (\d+)/g)].map(([, status]) => status)).toEqual(["202", "202", "200"]);
  expect(started.arePlain).toEqual([true, false, false]);
});

test("a request in progress is finished before the server stops, and its connection is closed", async () => {
  const { service, client, open } = await startPending();
  const stopped = service.stop();
  open();
  expect(await untilClosed(client)).toMatch(/^HTTP\/1.1 202 .*\r\nConnection: close\r\n.*"id":"evt_1"/s);
  await stopped;
});

test("a first request that arrives while the server stops gets a response", async () => {
  const { service, client, open } = await startPending();
  const port = client.remotePort as number;
  const late = await connectTo(port);
  // connections are accepted in their order
  const next = await connectTo(port);
  next.write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
  await nextText(next);
  const stopped = service.stop();
  late.write(request);
  expect(await untilClosed(late)).toMatch(/^HTTP\/1.1 503 .*"code":"shutting_down"/s);
  open();
  await stopped;
});

test("a server that stops closes idle connections, and busy ones after the grace period", async () => {
  const { service, client, open } = await startPending();
  open();
  expect(await nextText(client)).toMatch(
    /^HTTP\/1.1 202 .*\r\nConnection: keep-alive\r\nKeep-Alive: timeout=65\r\n/s,
  );
  await service.stop();
  const busy = await startPending();
  await busy.service.stop({ graceMs: 1 });
  expect(await untilClosed(busy.client)).toBe("");
});

test("a server does not wait for a request whose client has disconnected", async () => {
  const { service, client } = await startPending();
  client.destroy();
  await service.drain();
});

test("a client that sends no request is disconnected", async () => {
  const { server, port } = await startServer(true);
  server.headersTimeout = 20;
  expect(await untilClosed(await connectTo(port))).toMatch(/^HTTP\/1.1 408 /);
  server.close();
});

test("a client that sends no further request is disconnected", async () => {
  const { server, port } = await startServer(true);
  server.keepAliveTimeout = 20;
  const client = await connectTo(port);
  client.write(request);
  expect(await untilClosed(client)).toMatch(/^HTTP\/1.1 202 /);
  server.close();
});

test("a request whose body does not arrive is passed to node:http, which checks the key first", async () => {
  const { server, port, arePlain } = await startServer(true);
  onTestFinished(() => void server.close());
  server.headersTimeout = 20;
  const client = await connectTo(port);
  client.write(request.replace("test-admin", "none").slice(0, -1));
  expect(await nextText(client)).toMatch(/^HTTP\/1.1 401 /);
  expect(arePlain).toEqual([false]);
});

type See = (message: unknown) => void;

function subscribe(name: string, see: See): void {
  channel(name).subscribe(see);
  onTestFinished(() => void channel(name).unsubscribe(see));
}

test.each<[string, (server: Server, see: See) => void]>([
  ["subscribes to started requests", (_server, see) => subscribe("http.server.request.start", see)],
  ["subscribes to finished responses", (_server, see) => subscribe("http.server.response.finish", see)],
  ["adds a request listener", (server, see) => server.on("request", see)],
  [
    "wraps the request listener",
    (server, see) => {
      const [listener] = server.listeners("request") as [RequestListener];
      server.removeListener("request", listener).on("request", (request, response) => {
        see(request);
        listener(request, response);
      });
    },
  ],
  [
    "patches emit",
    (server, see) => {
      const emit = server.emit as (...event: unknown[]) => boolean;
      server.emit = (...event: unknown[]) => {
        if (event[0] === "request") see(event[1]);
        return emit.apply(server, event);
      };
    },
  ],
])("a tracing tool that %s sees all requests", async (_how, instrument) => {
  const started = await startServer(true);
  onTestFinished(() => void started.server.close());
  const seen: unknown[] = [];
  instrument(started.server, (message) => void seen.push(message));
  await exchange(started, [request]);
  expect(seen).toHaveLength(1);
});

/** A server that sends a body larger than the buffers of the connection to a client that does not read yet. */
async function startUnread(timeoutMs: number) {
  const body = "é".repeat(8 * 1024 * 1024);
  const { server, port, sockets } = await startServer(true, (_request, response) =>
    sendReply(response, { status: 200, body }, "req_1", timeoutMs),
  );
  onTestFinished(() => void server.close());
  const client = (await connectTo(port)).pause();
  client.write(request);
  while (!sockets[0]?.writableLength) await setImmediate();
  return { client, socket: sockets[0], bodyBytes: Buffer.byteLength(body) };
}

test("a client that reads slowly gets the whole response", async () => {
  const { client, bodyBytes } = await startUnread(60_000);
  let bytes = 0;
  client.on("data", (chunk) => {
    bytes += chunk.length;
  });
  client.resume();
  while (bytes < bodyBytes) await setImmediate();
  client.write(request);
  await once(client, "data");
});

test("a client that does not read its response is disconnected", async () => {
  const { socket } = await startUnread(20);
  await once(socket, "close");
});
