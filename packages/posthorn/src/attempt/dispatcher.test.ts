import type { Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { startCpuTime } from "../../../../tests/support/cpu-time.ts";
import { eventually } from "../../../../tests/support/eventually.ts";
import { gate } from "../../../../tests/support/gate.ts";
import {
  answering,
  closedUrl,
  LOOPBACK,
  openDispatcher,
  rawServer,
  requestTo,
  send,
} from "../../../../tests/support/servers/dispatcher.ts";
import { startReceiver } from "../../../../tests/support/servers/start-receiver.ts";
import type { AttemptOutcome } from "../model.ts";
import { Dispatcher } from "./dispatcher.ts";

/** The deadline of requests without a response. */
const hopeless = { timeoutMs: 150 };
const ok = "HTTP/1.1 200 OK\r\n";
const empty = `${ok}content-length: 0\r\n\r\n`;
const early = "HTTP/1.1 103 Early Hints\r\n\r\n";

/** A connection is used again one turn of the event loop after its response. */
const aTurn = () => new Promise(setImmediate);

describe("a well-behaved receiver", () => {
  it("gets exactly the bytes and headers, and asks for no compression", async () => {
    const server = await startReceiver();
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

  it("gets a body that is larger than the socket's buffers", async () => {
    const server = await startReceiver();
    const body = Buffer.alloc(3_000_000, "0123456789");
    expect(await send(server.url, { body })).toMatchObject({ statusCode: 200 });
    expect(server.requests[0]?.body.equals(body)).toBe(true);
  });

  it("has its status, first kilobyte and Retry-After recorded", async () => {
    const server = await startReceiver({
      status: 503,
      headers: { "retry-after": "7" },
      body: "b".repeat(5_000),
    });
    expect(await send(server.url)).toMatchObject({ kind: "responded", statusCode: 503, retryAfter: "7" });
    const outcome = await send(server.url);
    expect(outcome.kind === "responded" && Buffer.from(outcome.responseBody).toString()).toBe(
      "b".repeat(1_024),
    );
  });

  it("keeps its connection between requests, even after a body of 60 KB", async () => {
    const server = await startReceiver({ body: "x".repeat(60_000) });
    const sender = openDispatcher();
    for (let i = 0; i < 3; i += 1) {
      await sender.send(requestTo(server.url));
      await aTurn();
    }
    expect(server.connections).toBe(1);
  });
});

describe("the phases of an attempt", () => {
  const sum = ({ phases }: AttemptOutcome) =>
    (phases.connectMs ?? 0) + (phases.tlsMs ?? 0) + (phases.firstByteMs ?? 0);

  it("distinguish a new connection from an open one", async () => {
    const server = await startReceiver();
    const sender = openDispatcher();
    const first = await sender.send(requestTo(server.url));
    await aTurn();
    // on a busy machine, even a request on an open connection waits for a millisecond
    const frozen = vi.spyOn(performance, "now").mockReturnValue(performance.now());
    onTestFinished(() => frozen.mockRestore());
    const second = await sender.send(requestTo(server.url));
    expect(server.connections).toBe(1);
    expect(first.phases).toEqual({
      connectMs: expect.any(Number),
      tlsMs: null,
      firstByteMs: expect.any(Number),
    });
    expect(second.phases).toEqual({ connectMs: null, tlsMs: null, firstByteMs: expect.any(Number) });
    for (const outcome of [first, second]) expect(sum(outcome)).toBeLessThanOrEqual(outcome.durationMs + 1);
  });

  it("distinguish a slow response from a slow body", async () => {
    const thinking = await rawServer((socket) => {
      setTimeout(() => socket.write(empty), 60);
    });
    const dripping = await rawServer((socket) => {
      socket.write(`${ok}content-length: 2\r\n\r\na`);
      // the first byte has been read two turns of the event loop later, however busy the machine is
      const later = () => setTimeout(() => socket.write("b"), 60);
      setImmediate(() => setImmediate(later));
    });
    const thought = await send(thinking);
    expect(thought.phases.firstByteMs).toBeGreaterThanOrEqual(58);
    const dripped = await send(dripping);
    expect(dripped.durationMs - sum(dripped)).toBeGreaterThanOrEqual(55);
  });

  it("show that a request waited for a connection and got none", async () => {
    const server = await startReceiver("hang");
    const sender = openDispatcher({ connectionsPerOrigin: 1 });
    // the first keeps the connection until it is aborted: its own deadline could free it in time
    const stop = new AbortController();
    const first = sender.send(requestTo(server.url), stop.signal);
    const waiting = await sender.send(requestTo(server.url, hopeless));
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
  const reset = { kind: "failed", error: "connection_reset" };
  const timeout = { kind: "failed", error: "timeout" };
  const tooLarge = { kind: "failed", error: "headers_too_large" };
  const bad = { kind: "failed", error: "bad_response" };
  const responded = (statusCode: number) => ({ kind: "responded", statusCode });
  // names and values count: "x" and "content-length" with its "0" are 16 bytes
  const headersOf = (bytes: number) => `${ok}x: ${"v".repeat(bytes - 16)}\r\ncontent-length: 0\r\n\r\n`;
  const hints = headersOf(16_384).replace(ok, "HTTP/1.1 103 Early Hints\r\n");
  const chunked = `${ok}transfer-encoding: chunked\r\n\r\n`;

  it.each<[what: string, text: string, outcome: object, timeoutMs?: number]>([
    ["floods its reason phrase", `HTTP/1.1 200 ${"a".repeat(200_000)}`, tooLarge],
    ["floods empty lines", "\r\n".repeat(100_000), bad],
    ["sends 32 informational responses before its own", early.repeat(32) + empty, responded(200)],
    ["sends 33 informational responses", early.repeat(33) + empty, bad],
    ["sends 16 KB of headers in each of three responses", hints + hints + headersOf(16_384), responded(200)],
    // cut off long before the deadline
    ["floods one header", `${ok}x: ${"v".repeat(100_000)}`, tooLarge],
    ["floods small headers", `${ok}${"a:\r\n".repeat(20_000)}`, tooLarge],
    ["floods a header's name", `${ok}${"n".repeat(100_000)}`, tooLarge],
    ["speaks HTTP/0.9", "<html>hello</html>\r\n\r\n", bad],
    ["speaks HTTP/2", "HTTP/2 200 OK\r\ncontent-length: 0\r\n\r\n", bad],
    ["has status 099", "HTTP/1.1 099 X\r\ncontent-length: 0\r\n\r\n", bad],
    ["has status 1000", "HTTP/1.1 1000 X\r\ncontent-length: 0\r\n\r\n", bad],
    // RFC 9112 §6.3: a response of unknown length is invalid
    ["sends two lengths in one header", `${ok}content-length: 0, 0\r\n\r\n`, bad],
    ["sends another transfer coding", `${ok}transfer-encoding: gzip, chunked\r\n\r\n`, bad],
    ["has a length below zero", `${ok}content-length: -1\r\n\r\n`, bad],
    ["has NUL in a header", `${ok}x: a\0b\r\ncontent-length: 0\r\n\r\n`, bad],
    ["sends NUL", "\0\0\0\0\0\0\0\0", bad],
    // after the status line, nothing changes the outcome
    ["sends 204 with a body", "HTTP/1.1 204 No Content\r\n\r\nbody", responded(204), 1_000],
    ["sends more than its length", `${ok}content-length: 2\r\n\r\ntoo long`, responded(200), 1_000],
    ["sends broken chunks", `${chunked}zz\r\n`, responded(200), 1_000],
  ])("that %s gets its outcome from this table", async (_what, text, outcome, timeoutMs = 60_000) => {
    expect(await send(await answering(text), { timeoutMs })).toMatchObject(outcome);
  });

  it("is reset when it cuts the connection before its status line", async () => {
    for (const text of ["", "HTTP/1.1 20"])
      expect(await send(await rawServer((socket) => socket.end(text)))).toMatchObject(reset);
  });

  it("keeps its status when it cuts the connection in its body", async () => {
    const half = `${ok}content-length: 9\r\n\r\nhalf`;
    const resetting = (socket: Socket) =>
      socket.write(half, () => setImmediate(() => socket.resetAndDestroy()));
    for (const cut of [resetting, (socket: Socket) => socket.end(half)])
      expect(await send(await rawServer(cut))).toMatchObject(responded(200));
  });

  it.each([
    ["is silent", "", timeout],
    ["sends a few headers", ok + "a:\r\n".repeat(8_000), timeout],
    ["sends too many headers", ok + "a:\r\n".repeat(20_000), tooLarge],
    ["sends a body without end", `${ok}\r\n${"x".repeat(1_000_000)}`, responded(200)],
  ])("is disconnected after its attempt when it %s", async (_what, text, outcome) => {
    const closed = gate();
    const url = await rawServer((socket) => {
      socket.on("close", closed.open);
      socket.write(text);
    });
    // the others end long before their deadline
    expect(await send(url, outcome === timeout ? hopeless : {})).toMatchObject(outcome);
    await closed.opened;
  });

  it("times out when it sends 1xx slowly", async () => {
    const slow = await rawServer((socket) => {
      const timer = setInterval(() => socket.write(early), 20);
      socket.on("close", () => clearInterval(timer));
    });
    expect(await send(slow, hopeless)).toMatchObject(timeout);
  });

  it("may send gzip, which is not decoded", async () => {
    const server = await startReceiver();
    const bomb = gzipSync(Buffer.alloc(500_000));
    server.answer("/", { headers: { "content-encoding": "gzip" }, body: bomb });
    const outcome = await send(server.url);
    expect(outcome.kind === "responded" && Buffer.from(outcome.responseBody)).toEqual(
      bomb.subarray(0, 1_024),
    );
  });

  it("is refused when nothing listens on its port", async () => {
    const refused = { error: "connection_refused", detail: "connection refused" };
    expect(await send(await closedUrl())).toMatchObject(refused);
  });

  it("cannot respond to the next request in advance", async () => {
    const real = "HTTP/1.1 500 X\r\ncontent-length: 0\r\n\r\n";
    const url = await rawServer((socket, nth) => socket.write(nth === 1 ? empty + empty : real));
    const sender = openDispatcher();
    expect(await sender.send(requestTo(url))).toMatchObject({ statusCode: 200 });
    expect(await sender.send(requestTo(url))).toMatchObject({ statusCode: 500 });
  });

  it("gets no second POST when it closes a reused connection", async () => {
    let seen = 0;
    const url = await rawServer((socket, nth) => {
      seen = nth;
      if (nth === 1) socket.write(empty);
      else socket.destroy();
    });
    const sender = openDispatcher();
    await sender.send(requestTo(url));
    await aTurn();
    expect(await sender.send(requestTo(url))).toMatchObject(reset);
    expect(seen).toBe(2);
  });

  it("gets every request although it closes each connection without announcing it", async () => {
    const url = await rawServer((socket) => socket.end(empty));
    const sender = openDispatcher();
    for (let i = 0; i < 20; i += 1)
      expect(await sender.send(requestTo(url))).toMatchObject({ kind: "responded", statusCode: 200 });
  });

  it("gets no second connection for a request that was aborted", async () => {
    const server = await startReceiver();
    server.answer("/hang", "hang");
    const sender = openDispatcher();
    await sender.send(requestTo(`${server.url}/hang`, { timeoutMs: 1_000 }));
    await server.idle();
    // Connections are accepted in order, so this one comes behind any that should not be there.
    await send(`${server.url}/ok`);
    expect(server.connections).toBe(2);
  });
});

describe("a GET", () => {
  const get = { method: "GET", captureResponse: { maxBodyBytes: 2_000 } } as const;

  it("has no body, and returns the response headers and the body up to the requested size", async () => {
    const at = await startReceiver();
    at.answer("/feed", { headers: { ETag: '"1"', "Content-Type": "text/plain" }, body: "x".repeat(2_000) });
    const outcome = await send(`${at.url}/feed?a=b`, get);
    expect(at.requests[0]).toMatchObject({ method: "GET", url: "/feed?a=b", body: Buffer.alloc(0) });
    expect(at.requests[0]?.headers).not.toHaveProperty("content-length");
    expect(outcome).toMatchObject({
      statusCode: 200,
      response: { headers: { etag: '"1"', "content-type": "text/plain" }, isComplete: true },
    });
    expect(outcome.kind === "responded" && outcome.responseBody.length).toBe(2_000);
  });

  it.each([
    ["a byte longer than is wanted", { body: "x".repeat(2_001) }, 60_000],
    ["without end", "endless", 60_000],
    ["dripping past the deadline", "drip", 1_000],
  ] as const)("reports a body %s as incomplete", async (_what, step, timeoutMs) => {
    const at = await startReceiver();
    at.answer("/feed", step);
    const outcome = await send(`${at.url}/feed`, { ...get, timeoutMs });
    expect(outcome).toMatchObject({ kind: "responded", response: { isComplete: false } });
    expect(outcome.kind === "responded" && outcome.responseBody.length).toBeLessThanOrEqual(2_000);
  });

  it("reads a body in one-byte chunks in linear time", async () => {
    const bytes = 300_000;
    const head = `${ok}transfer-encoding: chunked\r\n\r\n`;
    const url = await answering(`${head}${"1\r\nx\r\n".repeat(bytes)}0\r\n\r\n`);
    const msSince = startCpuTime();
    const outcome = await send(url, { ...get, captureResponse: { maxBodyBytes: 1_000_000 } });
    const ms = msSince();
    expect(outcome).toMatchObject({ kind: "responded", response: { isComplete: true } });
    expect(outcome.kind === "responded" && outcome.responseBody.length).toBe(bytes);
    // 0.2 s; copying all earlier chunks for every chunk took 6
    expect(ms).toBeLessThan(2_000);
  });
});

describe("connections", () => {
  async function sendInTurn(sender: Dispatcher, url: string, tenants: (string | null)[]): Promise<void> {
    for (const tenant of tenants) {
      expect(await sender.send(requestTo(url, { tenant }))).toMatchObject({
        statusCode: 200,
      });
      await aTurn();
    }
  }

  it("are never shared between tenants, nor with the operator", async () => {
    const server = await startReceiver();
    const sender = openDispatcher();
    await sendInTurn(sender, server.url, ["acme", "globex", null, "acme", "globex", null]);
    expect(server.connections).toBe(3);
  });

  it("are replaced after five minutes, so that their address is checked again", async () => {
    const server = await startReceiver();
    let nowMs = 0;
    const sender = openDispatcher({ now: () => nowMs });
    await sendInTurn(sender, server.url, ["acme"]);
    nowMs = 299_999;
    await sendInTurn(sender, server.url, ["acme"]);
    expect(server.connections).toBe(1);
    nowMs = 300_000;
    await sendInTurn(sender, server.url, ["acme"]);
    expect(server.connections).toBe(2);
  });

  it("that are replaced during a request still return its response", async () => {
    const server = await startReceiver();
    const answered = gate();
    server.answer("/slow", { until: answered.opened });
    let nowMs = 0;
    const sender = openDispatcher({ now: () => nowMs });
    const slow = sender.send(requestTo(`${server.url}/slow`));
    await server.received(1);
    nowMs = 300_000;
    await sendInTurn(sender, server.url, ["acme"]);
    answered.open();
    expect(await slow).toMatchObject({ statusCode: 200 });
  });

  it("keep nothing of a finished request while idle", async () => {
    setFlagsFromString("--expose-gc");
    const collectGarbage: () => void = runInNewContext("gc");
    const sender = openDispatcher();
    const url = await answering(empty);
    const sendAndForget = async () => {
      const body = new Uint8Array(50_000);
      await sender.send(requestTo(url, { body }));
      return new WeakRef(body);
    };
    const body = await sendAndForget();
    await eventually("the body is collected", () => {
      collectGarbage();
      return body.deref() === undefined;
    });
  });

  it("are kept idle for at most 30 s, regardless of the receiver's Keep-Alive", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const closed = gate();
    let connections = 0;
    const url = await rawServer((socket) => {
      socket.write(`${ok}keep-alive: timeout=86400\r\ncontent-length: 0\r\n\r\n`);
      if (socket.listenerCount("close") === 0) connections += 1;
      socket.on("close", closed.open);
    });
    const sender = openDispatcher();
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
    ["a Kelvin sign in a header name", { "x-to\u212Aen": "1" }],
    ["its own host", { Host: "internal" }],
    ["its own connection", { Connection: "close" }],
    ["a transfer-encoding", { "Transfer-Encoding": "chunked" }],
    ["an expectation", { Expect: "100-continue" }],
    ["a wrong length", { "Content-Length": "1" }],
  ])("is invalid with %s, and nothing is sent", async (_name, headers) => {
    const server = await startReceiver();
    expect(await send(server.url, { headers })).toMatchObject({ kind: "failed", error: "invalid_request" });
    expect(server.requests).toHaveLength(0);
  });

  it.each([
    ["ftp://127.0.0.1/", "invalid_request"],
    ["http://0.0.0.0:3000/", "blocked_address"],
  ])("is rejected for %s: %s", async (url, error) => {
    expect(await send(url)).toMatchObject({ kind: "failed", error });
  });
});

describe("the dispatcher", () => {
  it("never sends a request that timed out while it waited for a connection", async () => {
    const server = await startReceiver();
    server.answer("/hang", "hang");
    const sender = openDispatcher({ connectionsPerOrigin: 1 });
    const stop = new AbortController();
    // it keeps the connection until it is aborted
    const first = sender.send(requestTo(`${server.url}/hang`), stop.signal);
    await server.received(1);
    const queued = await sender.send(requestTo(`${server.url}/queued`, { timeoutMs: 50 }));
    expect(queued).toMatchObject({ error: "timeout" });
    stop.abort();
    expect(await first).toMatchObject({ error: "unknown" });
    expect(await sender.send(requestTo(`${server.url}/later`))).toMatchObject({
      statusCode: 200,
    });
    expect(server.requests.map(({ path }) => path)).toEqual(["/hang", "/later"]);
  });

  it("reports an attempt that is aborted before the response as unknown", async () => {
    const server = await startReceiver("hang");
    const stop = new AbortController();
    const sender = openDispatcher();
    const sent = [1, 2].map(() => sender.send(requestTo(server.url), stop.signal));
    await server.received(2);
    stop.abort();
    expect(await Promise.all(sent)).toMatchObject([{ error: "unknown" }, { error: "unknown" }]);
    expect(await sender.send(requestTo(server.url), stop.signal)).toMatchObject({
      error: "unknown",
      detail: "not sent because this process is stopping",
    });
    expect(server.requests).toHaveLength(2);
  });

  it("finishes the requests in flight before it closes, and accepts no new ones", async () => {
    const server = await startReceiver();
    const answered = gate();
    server.answer("/", { until: answered.opened });
    const sender = new Dispatcher({ policy: LOOPBACK });
    const sent = sender.send(requestTo(server.url));
    await server.received(1);
    const closed = Promise.all([sender.close(), sender.close()]);
    await expect(sender.send(requestTo(server.url))).rejects.toThrow("closed");
    answered.open();
    expect(await sent).toMatchObject({ statusCode: 200 });
    await closed;
  });
});
