import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import type { AttemptOutcome, PreparedRequest } from "../model.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "../testing/scripted-receiver.ts";
import { createDispatcher, type Dispatcher, type DispatcherOptions } from "./dispatcher.ts";
import { parseAddressPolicy } from "./guard/guard-address.ts";

const LOOPBACK = parseAddressPolicy({ allowHttp: true, allowedCidrs: ["127.0.0.0/8"] });
/** The deadline of requests that no answer ends. All others have one that no busy machine misses. */
const DEADLINE_MS = 150;
const hopeless = { timeoutMs: DEADLINE_MS };

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(cleanups.splice(0).map((cleanup) => cleanup()));
});

function dispatcher(options: Partial<DispatcherOptions> = {}): Dispatcher {
  const created = createDispatcher({ policy: LOOPBACK, ...options });
  cleanups.push(() => created.close());
  return created;
}

async function receiver(): Promise<ScriptedReceiver> {
  const started = await startScriptedReceiver();
  cleanups.push(() => started.close());
  return started;
}

/** A server that does what it likes with each connection once the request has arrived. */
async function rawServer(onRequest: (socket: Socket, nth: number) => void): Promise<string> {
  const sockets = new Set<Socket>();
  let requests = 0;
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("data", () => onRequest(socket, ++requests));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  cleanups.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

function answering(text: string): Promise<string> {
  return rawServer((socket) => socket.write(text));
}

function request(url: string, overrides: Partial<PreparedRequest> = {}): PreparedRequest {
  return {
    tenant: "acme",
    url,
    headers: { "content-type": "application/json" },
    body: Buffer.from('{"a":1}'),
    timeoutMs: 60_000,
    ...overrides,
  };
}

function createGate(): { opened: Promise<void>; open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

async function send(url: string, overrides: Partial<PreparedRequest> = {}): Promise<AttemptOutcome> {
  const sender = dispatcher();
  const outcome = await sender.send(request(url, overrides));
  expect(sender.inFlight).toBe(0);
  return outcome;
}

describe("a well-behaved receiver", () => {
  it("gets exactly the bytes and headers, and asks for no compression", async () => {
    const server = await receiver();
    const body = Buffer.from([0, 255, 10, 13, 0xc3, 0xa9]);
    await send(`${server.url}/hook?x=1`, {
      headers: { "X-Webhook-Id": "evt_1", "Accept-Encoding": "gzip" },
      body,
    });
    const [received] = server.requests;
    expect(received).toMatchObject({
      method: "POST",
      url: "/hook?x=1",
      headers: { "x-webhook-id": "evt_1", "accept-encoding": "identity", "content-length": "6" },
    });
    expect(received?.headers.host).toBe(`127.0.0.1:${server.port}`);
    expect(received?.body).toEqual(body);
  });

  it("has its status, first kilobyte and Retry-After recorded", async () => {
    const server = await receiver();
    server.answer("/", { status: 503, headers: { "retry-after": "7" }, body: "b".repeat(5_000) });
    expect(await send(server.url)).toMatchObject({ kind: "answered", statusCode: 503, retryAfter: "7" });
    const outcome = await send(server.url);
    expect(outcome.kind === "answered" && Buffer.from(outcome.responseBody).toString()).toBe(
      "b".repeat(1_024),
    );
  });

  it("is sent an empty body as an empty body", async () => {
    const server = await receiver();
    expect(await send(server.url, { body: new Uint8Array(0) })).toMatchObject({ statusCode: 200 });
    expect(server.requests[0]?.headers["content-length"]).toBe("0");
  });

  it("keeps its connection between requests, also after a body of 60 KB", async () => {
    const server = await receiver();
    server.answer("/", { body: "x".repeat(60_000) });
    const sender = dispatcher();
    for (let i = 0; i < 3; i += 1) {
      await sender.send(request(server.url));
      // undici takes a connection back one turn of the event loop after its answer.
      await new Promise(setImmediate);
    }
    expect(server.connections).toBe(1);
  });

  it("may answer with any status, and the status is all that counts", async () => {
    for (const status of [200, 204, 299, 301, 400, 404, 410, 429, 500, 599]) {
      const server = await answering(
        `HTTP/1.1 ${status} X\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`,
      );
      expect(await send(server), String(status)).toMatchObject({ kind: "answered", statusCode: status });
    }
  });
});

describe("the phases of an attempt", () => {
  const sum = ({ phases }: AttemptOutcome) =>
    (phases.connectMs ?? 0) + (phases.tlsMs ?? 0) + (phases.firstByteMs ?? 0);

  it("tell a new connection from one that was open already", async () => {
    const server = await receiver();
    const sender = dispatcher();
    const first = await sender.send(request(server.url));
    await new Promise(setImmediate);
    const second = await sender.send(request(server.url));
    expect(server.connections).toBe(1);
    expect(first.phases).toEqual({
      connectMs: expect.any(Number),
      tlsMs: null,
      firstByteMs: expect.any(Number),
    });
    expect(second.phases).toEqual({ connectMs: null, tlsMs: null, firstByteMs: expect.any(Number) });
    for (const outcome of [first, second]) expect(sum(outcome)).toBeLessThanOrEqual(outcome.durationMs + 1);
  });

  it("tell a receiver that thinks from one whose body drips", async () => {
    const thinking = await rawServer((socket) => {
      setTimeout(() => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"), 60);
    });
    const dripping = await rawServer((socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\na");
      setTimeout(() => socket.write("b"), 60);
    });
    const thought = await send(thinking);
    expect(thought.phases.firstByteMs).toBeGreaterThanOrEqual(58);
    const dripped = await send(dripping);
    expect(dripped.durationMs - sum(dripped)).toBeGreaterThanOrEqual(55);
  });

  it("have no first byte where no answer came", async () => {
    const server = await receiver();
    server.answer("/", "hang");
    expect((await send(server.url, hopeless)).phases).toMatchObject({ tlsMs: null, firstByteMs: null });
  });

  it("show that a request waiting for a connection had none", async () => {
    const server = await receiver();
    server.answer("/", "hang");
    const sender = dispatcher({ connectionsPerOrigin: 1 });
    // the first keeps the connection until it is aborted: with a deadline of its own it could free it in time
    const stop = new AbortController();
    const first = sender.send(request(server.url), stop.signal);
    const waiting = await sender.send(request(server.url, hopeless));
    stop.abort();
    await first;
    expect(waiting.phases).toEqual({
      connectMs: expect.closeTo(waiting.durationMs, -1),
      tlsMs: null,
      firstByteMs: null,
    });
  });
});

describe("a hostile receiver", () => {
  it("times out when it is silent", async () => {
    const server = await receiver();
    server.answer("/", "hang");
    expect(await send(server.url, hopeless)).toMatchObject({
      kind: "failed",
      error: "timeout",
      detail: "no response within 150 ms",
    });
  });

  it("times out when it drips its headers", async () => {
    const url = await rawServer((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n");
      const timer = setInterval(() => socket.write("x-a: b\r\n"), 10);
      socket.on("close", () => clearInterval(timer));
    });
    expect(await send(url, hopeless)).toMatchObject({ error: "timeout" });
  });

  it("is answered when it drips its body, and its connection ends", async () => {
    const server = await receiver();
    server.answer("/", "drip");
    const timeoutMs = 1_000; // time enough for its headers
    const outcome = await send(server.url, { timeoutMs });
    expect(outcome).toMatchObject({ kind: "answered", statusCode: 200 });
    expect(outcome.durationMs).toBeGreaterThanOrEqual(timeoutMs - 5);
  });

  it("is answered when its body never ends, long before the deadline", async () => {
    const server = await receiver();
    server.answer("/", "endless");
    const outcome = await send(server.url);
    expect(outcome).toMatchObject({ kind: "answered", statusCode: 200 });
    expect(outcome.kind === "answered" && outcome.responseBody.length).toBe(1_024);
  });

  it("is reset when it cuts the connection before its status line", async () => {
    const server = await receiver();
    server.answer("/", "reset");
    expect(await send(server.url)).toMatchObject({ kind: "failed", error: "connection_reset" });
    expect(await send(await rawServer((socket) => socket.end()))).toMatchObject({
      error: "connection_reset",
    });
    const half = await rawServer((socket) => socket.end("HTTP/1.1 20"));
    expect(await send(half)).toMatchObject({ error: "connection_reset" });
  });

  it("is answered when it cuts the connection after its status line", async () => {
    const head = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf";
    const closing = await rawServer((socket) => socket.end(head));
    expect(await send(closing)).toMatchObject({ kind: "answered", statusCode: 200 });
    const resetting = await rawServer((socket) =>
      socket.write(head, () => setImmediate(() => socket.resetAndDestroy())),
    );
    expect(await send(resetting)).toMatchObject({ kind: "answered", statusCode: 200 });
  });

  it("is cut off when it floods 1xx, and times out when it sends them slowly", async () => {
    const early = "HTTP/1.1 103 Early Hints\r\n\r\n";
    expect(await send(await answering(early.repeat(1_000)))).toMatchObject({
      error: "bad_response",
    });
    const slow = await rawServer((socket) => {
      const timer = setInterval(() => socket.write(early), 20);
      socket.on("close", () => clearInterval(timer));
    });
    expect(await send(slow, hopeless)).toMatchObject({ error: "timeout" });
  });

  it.each([
    ["its reason phrase", `HTTP/1.1 200 ${"a".repeat(200_000)}`],
    ["empty lines", "\r\n".repeat(100_000)],
  ])("times out when it floods %s", async (_name, text) => {
    expect(await send(await answering(text), hopeless)).toMatchObject({ error: "timeout" });
  });

  it("may send 32 1xx before its answer, and not one more", async () => {
    const answer = "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n";
    const early = "HTTP/1.1 103 Early Hints\r\n\r\n";
    expect(await send(await answering(early.repeat(32) + answer))).toMatchObject({ statusCode: 202 });
    expect(await send(await answering(early.repeat(33) + answer))).toMatchObject({ error: "bad_response" });
  });

  it("may send a few 1xx before its answer", async () => {
    const url = await answering(
      "HTTP/1.1 103 Early Hints\r\nlink: <x>\r\n\r\nHTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n",
    );
    expect(await send(url)).toMatchObject({ kind: "answered", statusCode: 202 });
  });

  it("may have 8 KB of headers and not one byte more", async () => {
    // names and values count: "x" and "content-length" with its "0" are 16 bytes
    const withValue = (length: number) =>
      answering(`HTTP/1.1 200 OK\r\nx: ${"v".repeat(length)}\r\ncontent-length: 0\r\n\r\n`);
    expect(await send(await withValue(8_191 - 16))).toMatchObject({ kind: "answered", statusCode: 200 });
    expect(await send(await withValue(8_192 - 16))).toMatchObject({
      kind: "failed",
      error: "headers_too_large",
    });
  });

  it.each([
    ["in one large header", `x: ${"v".repeat(100_000)}`],
    ["in many small ones", "a:\r\n".repeat(20_000)],
    ["in a name", "n".repeat(100_000)],
    ["in 5000 encodings", `content-encoding: ${"br,".repeat(5_000)}`],
  ])("is cut off when it floods headers %s, long before the deadline", async (_name, flood) => {
    const url = await answering(`HTTP/1.1 200 OK\r\n${flood}`);
    expect(await send(url)).toMatchObject({ error: "headers_too_large" });
  });

  it.each([
    ["speaks SSH", "SSH-2.0-OpenSSH_9.2\r\n"],
    ["has status 000", "HTTP/1.1 000 X\r\ncontent-length: 0\r\n\r\n"],
    ["upgrades", "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n"],
    ["speaks HTTP/0.9", "<html>hello</html>\r\n\r\n"],
    ["speaks HTTP/2", "HTTP/2 200 OK\r\ncontent-length: 0\r\n\r\n"],
    ["ends its lines with LF", "HTTP/1.1 200 OK\ncontent-length: 0\n\n"],
    ["has status 099", "HTTP/1.1 099 X\r\ncontent-length: 0\r\n\r\n"],
    ["has status 1000", "HTTP/1.1 1000 X\r\ncontent-length: 0\r\n\r\n"],
    ["continues what did not ask", "HTTP/1.1 100 Continue\r\n\r\n"],
    ["switches protocols without a word", "HTTP/1.1 101 X\r\ncontent-length: 0\r\n\r\n"],
    // RFC 9112 §6.3: who cannot say how long the answer is has not given one
    ["gives two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 5\r\n\r\nokoko"],
    [
      "gives a length and chunks",
      "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
    ],
    ["has a length below zero", "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n"],
    ["has NUL in a header", "HTTP/1.1 200 OK\r\nx: a\0b\r\ncontent-length: 0\r\n\r\n"],
    ["sends NUL", "\0\0\0\0\0\0\0\0"],
  ])("gives a bad response when it %s", async (_name, text) => {
    expect(await send(await answering(text))).toMatchObject({ kind: "failed", error: "bad_response" });
  });

  it.each([
    ["999", "HTTP/1.1 999 X\r\ncontent-length: 0\r\n\r\n", 999],
    ["600", "HTTP/1.1 600 X\r\ncontent-length: 0\r\n\r\n", 600],
    ["204 with a body", "HTTP/1.1 204 No Content\r\n\r\nbody that must not be here", 204],
    ["a body longer than its length", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\ntoo long", 200],
    ["a body shorter than its length", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nshort", 200],
    ["broken chunks", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", 200],
    [
      "an endless trailer",
      `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n${"a:b\r\n".repeat(20_000)}`,
      200,
    ],
    [
      "an endless chunk extension",
      `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;${"x".repeat(90_000)}`,
      200,
    ],
    [
      "2500 encodings",
      `HTTP/1.1 200 OK\r\ncontent-encoding: ${"br,".repeat(2_500)}br\r\ncontent-length: 1\r\n\r\nx`,
      200,
    ],
  ])("is judged by its status: %s", async (_name, text, statusCode) => {
    const outcome = await send(await answering(text), { timeoutMs: 1_000 });
    expect(outcome).toMatchObject({ kind: "answered", statusCode });
  });

  it("is not followed anywhere", async () => {
    const [server, elsewhere] = [await receiver(), await receiver()];
    server.answer("/", { status: 302, headers: { location: elsewhere.url } });
    expect(await send(server.url)).toMatchObject({ kind: "answered", statusCode: 302 });
    expect(elsewhere.connections).toBe(0);
  });

  it("has its gzip left unchanged", async () => {
    const server = await receiver();
    const bomb = gzipSync(Buffer.alloc(500_000));
    server.answer("/", { headers: { "content-encoding": "gzip" }, body: bomb });
    const outcome = await send(server.url);
    expect(outcome.kind === "answered" && Buffer.from(outcome.responseBody)).toEqual(bomb.subarray(0, 1_024));
  });

  it("is refused when nothing listens on its port", async () => {
    const server = await startScriptedReceiver();
    const { url } = server;
    await server.close();
    expect(await send(url)).toMatchObject({ error: "connection_refused", detail: "connection refused" });
  });

  it("cannot answer the next request in advance", async () => {
    const ok = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
    const real = "HTTP/1.1 500 X\r\ncontent-length: 0\r\n\r\n";
    const url = await rawServer((socket, nth) => socket.write(nth === 1 ? ok + ok : real));
    const sender = dispatcher();
    expect(await sender.send(request(url))).toMatchObject({ statusCode: 200 });
    expect(await sender.send(request(url))).toMatchObject({ statusCode: 500 });
  });

  it("is not sent a POST again when it closes a reused connection on it", async () => {
    let seen = 0;
    const url = await rawServer((socket, nth) => {
      seen = nth;
      if (nth === 1) socket.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
      else socket.destroy();
    });
    const sender = dispatcher();
    await sender.send(request(url));
    expect(await sender.send(request(url))).toMatchObject({ kind: "failed", error: "connection_reset" });
    expect(seen).toBe(2);
  });

  it("gets no second connection for a request that was aborted", async () => {
    const server = await receiver();
    server.answer("/hang", "hang");
    const sender = dispatcher();
    await sender.send(request(`${server.url}/hang`, { timeoutMs: 1_000 }));
    await server.idle();
    // Connections are accepted in order, so this one comes behind any that should not be there.
    await dispatcher().send(request(`${server.url}/ok`));
    expect(server.connections).toBe(2);
  });
});

describe("a GET", () => {
  const get = { method: "GET", captureResponse: { maxBodyBytes: 2_000 } } as const;

  it("has no body, and brings the answer's headers and as much of its body as is wanted", async () => {
    const at = await receiver();
    at.answer("/feed", { headers: { ETag: '"1"', "Content-Type": "text/plain" }, body: "x".repeat(2_000) });
    const outcome = await send(`${at.url}/feed?a=b`, get);
    expect(at.requests[0]).toMatchObject({ method: "GET", url: "/feed?a=b", body: Buffer.alloc(0) });
    expect(at.requests[0]?.headers).not.toHaveProperty("content-length");
    expect(outcome).toMatchObject({
      statusCode: 200,
      answer: { headers: { etag: '"1"', "content-type": "text/plain" }, isWhole: true },
    });
    expect(outcome.kind === "answered" && outcome.responseBody.length).toBe(2_000);
  });

  it.each([
    ["a byte longer than is wanted", { body: "x".repeat(2_001) }],
    ["without end", "endless"],
    ["dripping past the deadline", "drip"],
  ] as const)("says of a body %s that it is not whole", async (_what, step) => {
    const at = await receiver();
    at.answer("/feed", step);
    const outcome = await send(`${at.url}/feed`, { ...get, timeoutMs: 1_000 });
    expect(outcome).toMatchObject({ kind: "answered", answer: { isWhole: false } });
    expect(outcome.kind === "answered" && outcome.responseBody.length).toBeLessThanOrEqual(2_000);
  });

  it("takes a body in chunks of a byte in a time that grows with its size, and no faster", async () => {
    const bytes = 300_000;
    const head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    const url = await answering(`${head}${"1\r\nx\r\n".repeat(bytes)}0\r\n\r\n`);
    const before = process.cpuUsage();
    const outcome = await dispatcher().send(
      request(url, { ...get, captureResponse: { maxBodyBytes: 1_000_000 } }),
    );
    expect(outcome).toMatchObject({ kind: "answered", answer: { isWhole: true } });
    expect(outcome.kind === "answered" && outcome.responseBody.length).toBe(bytes);
    // 0.2 s; copying what was there before for every chunk took 6
    expect(process.cpuUsage(before).user / 1_000_000).toBeLessThan(2);
  });

  it("passes the guard like a POST: literals and every address of a name", async () => {
    const { url, port, requests } = await receiver();
    const strict = parseAddressPolicy({ allowHttp: true, allowedCidrs: [] });
    const refused = dispatcher({ policy: strict });
    expect(await refused.send(request(url, get))).toMatchObject({ error: "blocked_address" });
    const rebound = dispatcher({
      policy: strict,
      resolve: async () => [
        { address: "93.184.215.14", family: 4 },
        { address: "127.0.0.1", family: 4 },
      ],
    });
    const outcome = await rebound.send(request(`http://feed.example.com:${port}/`, get));
    expect(outcome).toMatchObject({ kind: "failed", error: "blocked_address" });
    expect(requests).toEqual([]);
  });

  it("follows no redirect", async () => {
    const at = await receiver();
    at.answer("/feed", { status: 302, headers: { location: `${at.url}/elsewhere` } });
    expect(await send(`${at.url}/feed`, get)).toMatchObject({ statusCode: 302 });
    expect(at.requests).toHaveLength(1);
  });
});

describe("connections", () => {
  const ok = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

  /** undici takes a connection back one turn of the event loop after its answer. */
  async function sendInTurn(sender: Dispatcher, url: string, tenants: (string | null)[]): Promise<void> {
    for (const tenant of tenants) {
      expect(await sender.send(request(url, { tenant }))).toMatchObject({
        statusCode: 200,
      });
      await new Promise(setImmediate);
    }
  }

  it("are never shared between tenants, nor with the operator", async () => {
    const server = await receiver();
    const sender = dispatcher();
    await sendInTurn(sender, server.url, ["acme", "globex", null, "acme", "globex", null]);
    expect(server.connections).toBe(3);
  });

  it("of one tenant cannot be poisoned by another", async () => {
    const url = await rawServer((socket, nth) =>
      socket.write(nth === 1 ? ok + ok : ok.replace("200", "500")),
    );
    const sender = dispatcher();
    expect(await sender.send(request(url, { tenant: "acme" }))).toMatchObject({ statusCode: 200 });
    expect(await sender.send(request(url, { tenant: "globex" }))).toMatchObject({ statusCode: 500 });
  });

  it("are replaced after five minutes, so that their address is checked again", async () => {
    const server = await receiver();
    let nowMs = 0;
    const sender = dispatcher({ now: () => nowMs });
    await sendInTurn(sender, server.url, ["acme"]);
    nowMs = 299_999;
    await sendInTurn(sender, server.url, ["acme"]);
    expect(server.connections).toBe(1);
    nowMs = 300_000;
    await sendInTurn(sender, server.url, ["acme"]);
    expect(server.connections).toBe(2);
  });

  it("that are replaced while a request is on its way still bring its answer", async () => {
    const server = await receiver();
    const gate = createGate();
    server.answer("/slow", { until: gate.opened });
    let nowMs = 0;
    const sender = dispatcher({ now: () => nowMs });
    const slow = sender.send(request(`${server.url}/slow`));
    await server.received(1);
    nowMs = 300_000;
    await sendInTurn(sender, server.url, ["acme"]);
    gate.open();
    expect(await slow).toMatchObject({ statusCode: 200 });
  });

  it("are kept idle for 30 s at most, whatever the receiver asks for", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const closed = createGate();
    let connections = 0;
    const url = await rawServer((socket) => {
      socket.write(ok.replace("\r\n\r\n", "\r\nkeep-alive: timeout=86400\r\n\r\n"));
      if (socket.listenerCount("close") === 0) connections += 1;
      socket.on("close", closed.open);
    });
    const sender = dispatcher();
    await sendInTurn(sender, url, ["acme"]);
    vi.advanceTimersByTime(29_000);
    await sendInTurn(sender, url, ["acme"]);
    expect(connections).toBe(1);
    vi.advanceTimersByTime(30_001);
    await closed.opened;
  });
});

describe("a request that cannot be sent", () => {
  it.each<[string, Record<string, string>]>([
    ["a line break in a header", { "x-a": "1\r\nx-b: 2" }],
    ["a NUL in a header", { "x-a": "\0" }],
    ["a space in a header name", { "x a": "1" }],
    ["its own host", { Host: "internal" }],
    ["its own connection", { Connection: "close" }],
    ["a transfer-encoding", { "Transfer-Encoding": "chunked" }],
    ["an expectation", { Expect: "100-continue" }],
    ["a wrong length", { "Content-Length": "1" }],
  ])("is invalid with %s, and nothing is sent", async (_name, headers) => {
    const server = await receiver();
    expect(await send(server.url, { headers })).toMatchObject({ kind: "failed", error: "invalid_request" });
    expect(server.requests).toHaveLength(0);
  });

  it.each([
    ["ftp://127.0.0.1/", "invalid_request"],
    ["nonsense", "invalid_request"],
    ["http://u:p@127.0.0.1:3000/", "invalid_request"],
    ["http://[::1]:3000/", "blocked_address"],
    ["http://0.0.0.0:3000/", "blocked_address"],
  ])("is refused for %s: %s", async (url, error) => {
    expect(await send(url)).toMatchObject({ kind: "failed", error });
  });
});

describe("the dispatcher", () => {
  it("never sends a request that timed out while it waited for a connection", async () => {
    const server = await receiver();
    server.answer("/hang", "hang");
    const sender = dispatcher({ connectionsPerOrigin: 1 });
    const both = await Promise.all([
      sender.send(request(`${server.url}/hang`, { timeoutMs: 1_000 })),
      sender.send(request(`${server.url}/queued`, { timeoutMs: 50 })),
    ]);
    expect(both).toMatchObject([{ error: "timeout" }, { error: "timeout" }]);
    expect(await sender.send(request(`${server.url}/later`))).toMatchObject({
      statusCode: 200,
    });
    expect(server.requests.map(({ path }) => path)).toEqual(["/hang", "/later"]);
  });

  it("sends what waits behind a request that timed out", async () => {
    const server = await receiver();
    server.answer("/hang", "hang");
    const sender = dispatcher({ connectionsPerOrigin: 1 });
    const hanging = sender.send(request(`${server.url}/hang`, { timeoutMs: 1_000 }));
    const waiting = Array.from({ length: 5 }, () => sender.send(request(`${server.url}/ok`)));
    expect(await hanging).toMatchObject({ error: "timeout" });
    expect(await Promise.all(waiting)).toMatchObject(new Array(5).fill({ statusCode: 200 }));
  });

  it("opens no more connections to an origin than it may", async () => {
    const server = await receiver();
    const sender = dispatcher({ connectionsPerOrigin: 3 });
    await Promise.all(Array.from({ length: 30 }, () => sender.send(request(server.url))));
    expect(server.concurrency().max).toBeLessThanOrEqual(3);
    expect(server.connections).toBeLessThanOrEqual(3);
  });

  it("counts what is in flight", async () => {
    const server = await receiver();
    const gate = createGate();
    server.answer("/", { until: gate.opened });
    const sender = dispatcher();
    const sent = [1, 2, 3].map(() => sender.send(request(server.url)));
    await server.received(3);
    expect(sender.inFlight).toBe(3);
    gate.open();
    await Promise.all(sent);
    expect(sender.inFlight).toBe(0);
  });

  it("calls an attempt unknown when it is aborted before the answer", async () => {
    const server = await receiver();
    server.answer("/", "hang");
    const stop = new AbortController();
    const sender = dispatcher();
    const sent = [1, 2].map(() => sender.send(request(server.url), stop.signal));
    await server.received(2);
    stop.abort();
    expect(await Promise.all(sent)).toMatchObject([{ error: "unknown" }, { error: "unknown" }]);
    expect(await sender.send(request(server.url), stop.signal)).toMatchObject({
      error: "unknown",
      detail: "not sent because this process is stopping",
    });
    expect(server.requests).toHaveLength(2);
  });

  it("finishes the requests in flight before it closes, and accepts no new ones", async () => {
    const server = await receiver();
    const gate = createGate();
    server.answer("/", { until: gate.opened });
    const sender = createDispatcher({ policy: LOOPBACK });
    const sent = sender.send(request(server.url));
    await server.received(1);
    const closed = Promise.all([sender.close(), sender.close()]);
    await expect(sender.send(request(server.url))).rejects.toThrow("closed");
    gate.open();
    expect(await sent).toMatchObject({ statusCode: 200 });
    await closed;
  });
});
