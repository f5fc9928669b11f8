import { afterEach, describe, expect, it } from "vitest";
import type { AttemptOutcome } from "../model.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "../testing/scripted-receiver.ts";
import { BlockedAddressError, classifyError } from "./classify-error.ts";
import { createDispatcher, type Dispatcher } from "./dispatcher.ts";
import { PUBLIC_ONLY, parseAddressPolicy } from "./guard-address.ts";
import {
  createGuardedConnector,
  guardedLookup,
  peerProblem,
  type Resolve,
  type ResolvedAddress,
} from "./guarded-connector.ts";

// 127.0.0.1 plays the public address and the rest of loopback the private ones: were the guard broken, these tests
// must still dial nothing else. Other addresses are only given to functions that open no socket.
const LOOPBACK = parseAddressPolicy({ allowHttp: true, allowedCidrs: ["127.0.0.1"] });
const NAME = "hooks.example.com";

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(cleanups.splice(0).map((cleanup) => cleanup()));
});

async function receiver(): Promise<ScriptedReceiver> {
  const started = await startScriptedReceiver();
  cleanups.push(() => started.close());
  return started;
}

function dispatcher(resolve: Resolve): Dispatcher {
  const created = createDispatcher({ policy: LOOPBACK, resolve });
  cleanups.push(() => created.close());
  return created;
}

function addresses(...list: string[]): ResolvedAddress[] {
  return list.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
}

function post(sender: Dispatcher, port: number): Promise<AttemptOutcome> {
  return sender.send({
    url: `http://${NAME}:${port}/`,
    headers: {},
    body: Buffer.from("{}"),
    timeoutMs: 2_000,
  });
}

function dnsError(code: string): Error {
  return Object.assign(new Error(`getaddrinfo ${code} ${NAME}`), { code });
}

describe("the peer of an open connection", () => {
  it("is refused for good when its address is not allowed", () => {
    expect(peerProblem("127.0.0.1", LOOPBACK)).toBeNull();
    expect(classifyError(peerProblem("127.0.0.2", LOOPBACK))).toMatchObject({ error: "blocked_address" });
    expect(classifyError(peerProblem("", LOOPBACK))).toMatchObject({ error: "blocked_address" });
  });

  it("is tried again when the connection was reset before anyone could look", () => {
    expect(classifyError(peerProblem(undefined, LOOPBACK))).toMatchObject({ error: "connection_reset" });
  });
});

describe("a name", () => {
  it("is delivered to when its address is allowed, under its own Host", async () => {
    const server = await receiver();
    const asked: string[] = [];
    const sender = dispatcher(async (hostname) => {
      asked.push(hostname);
      return addresses("127.0.0.1");
    });
    expect(await post(sender, server.port)).toMatchObject({ kind: "answered", statusCode: 200 });
    expect(asked).toEqual([NAME]);
    expect(server.requests[0]?.headers.host).toBe(`${NAME}:${server.port}`);
  });

  it.each([
    ["loopback beside the one allowed", ["127.0.0.2"]],
    ["a good address and then a bad one", ["127.0.0.1", "127.0.0.2"]],
    ["a bad address and then a good one", ["127.0.0.2", "127.0.0.1"]],
    ["a good address and bad IPv6", ["127.0.0.1", "::1"]],
    ["an IPv4-mapped bad address", ["::ffff:127.0.0.2"]],
    ["500 addresses, the last one bad", [...new Array<string>(499).fill("127.0.0.1"), "127.0.0.2"]],
  ])("is blocked when it resolves to %s", async (_name, answer) => {
    const server = await receiver();
    const outcome = await post(
      dispatcher(async () => addresses(...answer)),
      server.port,
    );
    expect(outcome).toMatchObject({
      kind: "failed",
      error: "blocked_address",
      detail: "address not allowed",
    });
    expect(server.connections).toBe(0);
  });

  it("is blocked when it is rebound between two attempts", async () => {
    const server = await receiver();
    server.answer("/", { headers: { connection: "close" } });
    const answers = [addresses("127.0.0.1"), addresses("127.0.0.2")];
    const sender = dispatcher(async () => answers.shift() ?? []);
    expect(await post(sender, server.port)).toMatchObject({ statusCode: 200 });
    expect(await post(sender, server.port)).toMatchObject({ error: "blocked_address" });
  });

  it.each(["ENOTFOUND", "EAI_AGAIN", "ESERVFAIL"])(
    "gives a DNS error on %s, without the resolver's words",
    async (code) => {
      const outcome = await post(
        dispatcher(() => Promise.reject(dnsError(code))),
        3_000,
      );
      expect(outcome).toMatchObject({
        error: "dns_error",
        detail: `the host name could not be resolved (${code})`,
      });
    },
  );

  it("gives a DNS error when it has no address", async () => {
    expect(
      await post(
        dispatcher(async () => []),
        3_000,
      ),
    ).toMatchObject({ error: "dns_error" });
  });

  it("times out when the resolver does not answer", async () => {
    const sender = dispatcher(() => new Promise(() => {}));
    const sent = sender.send({
      url: `http://${NAME}/`,
      headers: {},
      body: Buffer.from("{}"),
      timeoutMs: 100,
    });
    expect(await sent).toMatchObject({ error: "timeout" });
  });
});

describe("the guarded lookup", () => {
  function lookUp(...answer: string[]): Promise<unknown> {
    const lookup = guardedLookup(PUBLIC_ONLY, async () => addresses(...answer));
    return new Promise((resolve) => lookup(NAME, { all: true }, (error, found) => resolve(error ?? found)));
  }

  it.each([
    ["a private address", ["10.0.0.5"]],
    ["a public address and then a private one", ["8.8.8.8", "10.0.0.5"]],
    ["a private address and then a public one", ["10.0.0.5", "8.8.8.8"]],
    ["a public address and private IPv6", ["8.8.8.8", "fd00::1"]],
    ["an IPv4-mapped private address", ["::ffff:10.0.0.5"]],
    ["a NAT64 address", ["64:ff9b::808:808"]],
    ["cloud metadata", ["169.254.169.254"]],
    ["a name instead of an address", ["localhost"]],
  ])("refuses %s", async (_name, answer) => {
    expect(await lookUp(...answer)).toBeInstanceOf(BlockedAddressError);
  });

  it("hands on public addresses as they came, eight at most", async () => {
    expect(await lookUp("8.8.8.8", "2600::1")).toEqual(addresses("8.8.8.8", "2600::1"));
    expect(await lookUp(...new Array<string>(500).fill("8.8.8.8"))).toHaveLength(8);
  });

  it("gives one address to a caller that asks for one", async () => {
    const lookup = guardedLookup(PUBLIC_ONLY, async () => addresses("8.8.8.8", "8.8.4.4"));
    const found = await new Promise((resolve) => lookup(NAME, {}, (...args) => resolve(args)));
    expect(found).toEqual([null, "8.8.8.8", 4]);
  });
});

describe("the connector alone, were every check before it forgotten", () => {
  const LITERALS = ["127.0.0.1", "127.0.0.2", "0.0.0.0", "::1", "::ffff:7f00:1", "::"];

  it.each(LITERALS)("refuses the literal %s without a lookup", async (hostname) => {
    const connect = createGuardedConnector({
      policy: PUBLIC_ONLY,
      connectTimeoutMs: 1_000,
      isWanted: () => true,
      resolve: () => Promise.reject(new Error("a literal was looked up")),
    });
    const error = await new Promise<unknown>((resolve) => {
      connect({ hostname, host: `${hostname}:9`, protocol: "http:", port: "9" }, (...args) =>
        resolve(args[0]),
      );
    });
    expect(error).toBeInstanceOf(BlockedAddressError);
  });

  it.runIf(process.platform === "linux")(
    "looks at the peer once connected: 0.0.0.0 turns out to be 127.0.0.1",
    async () => {
      const server = await receiver();
      const policy = parseAddressPolicy({ allowHttp: true, allowedCidrs: ["0.0.0.0"] });
      const sender = createDispatcher({ policy });
      cleanups.push(() => sender.close());
      const url = `http://0.0.0.0:${server.port}/`;
      const outcome = await sender.send({ url, headers: {}, body: Buffer.from("{}"), timeoutMs: 2_000 });
      expect(outcome).toMatchObject({ error: "blocked_address" });
      expect(server.requests).toHaveLength(0);
    },
  );
});
