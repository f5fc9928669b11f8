import net from "node:net";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { eventually } from "../../../../../tests/support/eventually.ts";
import { loopbackUrls, specialUrls } from "../../../../../tests/support/hostile-urls.ts";
import type { AttemptOutcome } from "../../model.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "../../testing/scripted-receiver.ts";
import { BlockedAddressError, classifyError } from "../classify-error.ts";
import { createDispatcher, type Dispatcher } from "../dispatcher.ts";
import { CheckedNames } from "./checked-names.ts";
import { PUBLIC_ONLY, parseAddressPolicy } from "./guard-address.ts";
import { createGuardedConnector, newConnectTiming, peerProblem } from "./guarded-connector.ts";
import type { Resolve, ResolvedAddress } from "./resolve-name.ts";

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

function dispatcher(resolve: Resolve, now?: () => number): Dispatcher {
  const created = createDispatcher({ policy: LOOPBACK, resolve, ...(now && { now }) });
  cleanups.push(() => created.close());
  return created;
}

function addresses(...list: string[]): ResolvedAddress[] {
  return list.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
}

function post(sender: Dispatcher, port: number, tenant = "acme"): Promise<AttemptOutcome> {
  return sender.send({
    tenant,
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
      detail: expect.not.stringContaining("127"),
    });
    expect(server.connections).toBe(0);
  });

  it("is asked for anew after 30 s, and blocked when it was rebound", async () => {
    const server = await receiver();
    server.answer("/", { headers: { connection: "close" } });
    const answers = [addresses("127.0.0.1"), addresses("127.0.0.2")];
    let nowMs = 0;
    const sender = dispatcher(
      async () => answers.shift() ?? [],
      () => nowMs,
    );
    expect(await post(sender, server.port)).toMatchObject({ statusCode: 200 });
    nowMs = 29_999;
    expect(await post(sender, server.port)).toMatchObject({ statusCode: 200 });
    nowMs = 30_000;
    expect(await post(sender, server.port)).toMatchObject({ error: "blocked_address" });
    expect(server.connections).toBe(2);
  });

  it("is resolved again when no address responds", async () => {
    const server = await startScriptedReceiver();
    const { port } = server;
    const asked: string[] = [];
    const sender = dispatcher(async (hostname) => {
      asked.push(hostname);
      return addresses("127.0.0.1");
    });
    await server.close();
    expect(await post(sender, port)).toMatchObject({ error: "connection_refused" });
    expect(await post(sender, port)).toMatchObject({ error: "connection_refused" });
    expect(asked).toHaveLength(2);
  });

  it("without a responding address for one tenant is not resolved again for another", async () => {
    const server = await receiver();
    server.answer("/", { headers: { connection: "close" } });
    const gone = await startScriptedReceiver();
    const { port } = gone;
    await gone.close();
    const asked: (string | null)[] = [];
    const sender = dispatcher(async (_hostname, _signal, tenant) => {
      asked.push(tenant);
      return addresses("127.0.0.1");
    });
    expect(await post(sender, server.port, "other")).toMatchObject({ statusCode: 200 });
    expect(await post(sender, port, "acme")).toMatchObject({ error: "connection_refused" });
    expect(await post(sender, server.port, "other")).toMatchObject({ statusCode: 200 });
    expect(asked).toEqual(["other", "acme"]);
  });

  it("is delivered to while another tenant has more requests on silent names than there are look-ups", async () => {
    const server = await receiver();
    const sender = dispatcher(async (hostname) =>
      hostname === NAME ? addresses("127.0.0.1") : await new Promise<never>(() => {}),
    );
    const stop = new AbortController();
    const silent = Array.from({ length: 1_200 }, (_, n) => {
      const url = `http://silent-${n}.example.com/`;
      const request = { tenant: "crowd", url, headers: {}, body: Buffer.from("{}"), timeoutMs: 60_000 };
      return sender.send(request, stop.signal);
    });
    expect(await post(sender, server.port, "other")).toMatchObject({ statusCode: 200 });
    stop.abort();
    await Promise.all(silent);
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
      tenant: "acme",
      url: `http://${NAME}/`,
      headers: {},
      body: Buffer.from("{}"),
      timeoutMs: 100,
    });
    expect(await sent).toMatchObject({ error: "timeout" });
  });
});

/** Were the guard broken, nothing must be dialled all the same. */
function takeSocketsAway() {
  const opened = vi.spyOn(net, "connect").mockImplementation(() => {
    const socket = new net.Socket();
    process.nextTick(() => socket.destroy(new Error("taken away")));
    return socket;
  });
  onTestFinished(() => opened.mockRestore());
  return opened;
}

/** What comes of connecting to a host: an error, or undefined for a socket. */
function connectorAlone(resolve: Resolve): (hostname: string) => Promise<unknown> {
  const connect = createGuardedConnector({
    policy: PUBLIC_ONLY,
    tenant: null,
    isWanted: () => true,
    connectTiming: newConnectTiming(),
    names: new CheckedNames({ policy: PUBLIC_ONLY, resolve, now: () => 0 }),
  });
  return (hostname) =>
    new Promise((settle) => {
      connect({ hostname, host: `${hostname}:9`, protocol: "http:", port: "9" }, (...args) =>
        settle(args[0]),
      );
    });
}

describe("the connector alone, were every check before it forgotten", () => {
  const LITERALS = [...loopbackUrls, ...specialUrls]
    .map((url) => new URL(url).hostname.replace(/^\[|\]$/g, ""))
    .filter((host) => net.isIP(host) !== 0);

  it("refuses a name it was given no allowed address for", async () => {
    const opened = takeSocketsAway();
    const connect = connectorAlone(async () => addresses("10.0.0.5"));
    expect(await connect(NAME)).toBeInstanceOf(BlockedAddressError);
    expect(opened).not.toHaveBeenCalled();
  });

  it.each([...new Set(LITERALS)])("refuses the literal %s without a lookup or a socket", async (hostname) => {
    const opened = takeSocketsAway();
    const connect = connectorAlone(() => Promise.reject(new Error("a literal was looked up")));
    expect(await connect(hostname)).toBeInstanceOf(BlockedAddressError);
    expect(opened).not.toHaveBeenCalled();
  });

  it("gives a socket that is read in small pieces, and not at all once it is destroyed", async () => {
    const server = await receiver();
    server.answer("/", { body: "x".repeat(60_000) });
    const names = new CheckedNames({ policy: LOOPBACK, resolve: async () => [], now: () => 0 });
    const options = {
      policy: LOOPBACK,
      names,
      tenant: null,
      isWanted: () => true,
      connectTiming: newConnectTiming(),
    };
    const connect = createGuardedConnector(options);
    const target = { hostname: "127.0.0.1", host: "127.0.0.1", protocol: "http:", port: String(server.port) };
    const socket = await new Promise<net.Socket>((settle, reject) => {
      connect(target, (...[error, opened]) => (error === null ? settle(opened) : reject(error)));
    });
    socket.write("POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n");
    await eventually("10,000 bytes wait to be read", () => socket.readableLength > 10_000);
    const [first, second]: unknown[] = [socket.read(), socket.read()];
    expect([(first as Buffer).length, (second as Buffer).length]).toEqual([2_048, 2_048]);
    socket.destroy();
    expect(socket.readableLength).toBeGreaterThan(0);
    expect(socket.read()).toBeNull();
  });

  it.runIf(process.platform === "linux")(
    "looks at the peer once connected: 0.0.0.0 turns out to be 127.0.0.1",
    async () => {
      const server = await receiver();
      const policy = parseAddressPolicy({ allowHttp: true, allowedCidrs: ["0.0.0.0"] });
      const sender = createDispatcher({ policy });
      cleanups.push(() => sender.close());
      const url = `http://0.0.0.0:${server.port}/`;
      const outcome = await sender.send({
        tenant: "acme",
        url,
        headers: {},
        body: Buffer.from("{}"),
        timeoutMs: 2_000,
      });
      expect(outcome).toMatchObject({ error: "blocked_address" });
      expect(server.requests).toHaveLength(0);
    },
  );
});
