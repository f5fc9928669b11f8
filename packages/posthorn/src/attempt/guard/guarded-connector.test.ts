import net from "node:net";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { gate } from "../../../../../tests/support/gate.ts";
import { loopbackUrls, specialUrls } from "../../../../../tests/support/samples/hostile-urls.ts";
import {
  closedUrl,
  listen,
  openDispatcher,
  requestTo,
  send,
} from "../../../../../tests/support/servers/dispatcher.ts";
import { startReceiver } from "../../../../../tests/support/servers/start-receiver.ts";
import { BlockedAddressError, classifyError } from "../classify-error.ts";
import { CheckedNames } from "./checked-names.ts";
import { PUBLIC_ONLY, parseAddressPolicy } from "./guard-address.ts";
import { GuardedConnector, peerProblem, TlsTrust } from "./guarded-connector.ts";
import type { Resolve } from "./resolve-name.ts";

// 127.0.0.1 stands for a public address and the rest of loopback for private ones: even with a broken guard these tests
// must dial nothing else. Other addresses are only passed to functions that open no socket.
const LOOPBACK = parseAddressPolicy({ allowHttp: true, allowedCidrs: ["127.0.0.1"] });
const NAME = "hooks.example.com";

/** Resolves every name to these addresses, and counts the lookups. */
function resolverOf(...addresses: string[]) {
  return vi.fn<Resolve>(async () => addresses.map((address) => ({ address, family: 4 })));
}

it.each([
  ["127.0.0.1", null],
  ["127.0.0.2", "blocked_address"],
  ["", "blocked_address"],
  // reset while it was opened, which is transient
  [undefined, "connection_reset"],
])("an open connection to %j has the problem %j", (peer, error) => {
  const problem = peerProblem(peer, LOOPBACK);
  expect(problem && classifyError(problem).error).toBe(error);
});

describe("a name", () => {
  it("is delivered to when its address is allowed, under its own Host", async () => {
    const { url, port, requests } = await startReceiver();
    const resolve = resolverOf("127.0.0.1");
    const outcome = await send(url.replace("127.0.0.1", NAME), {}, { policy: LOOPBACK, resolve });
    expect(outcome).toMatchObject({ kind: "responded", statusCode: 200 });
    expect(resolve.mock.calls.map(([hostname]) => hostname)).toEqual([NAME]);
    expect(requests[0]?.headers.host).toBe(`${NAME}:${port}`);
  });

  it.each([
    ["a blocked address", ["127.0.0.2"]],
    ["an allowed address and a blocked one", ["127.0.0.1", "127.0.0.2"]],
  ])("is blocked when it resolves to %s", async (_what, addresses) => {
    const server = await startReceiver();
    const options = { policy: LOOPBACK, resolve: resolverOf(...addresses) };
    const detail = expect.not.stringContaining("127");
    const blocked = { kind: "failed", error: "blocked_address", detail };
    expect(await send(`http://${NAME}:${server.port}/`, {}, options)).toMatchObject(blocked);
    expect(server.connections).toBe(0);
  });

  it("is resolved again when no address responds", async () => {
    const url = (await closedUrl()).replace("127.0.0.1", NAME);
    const resolve = resolverOf("127.0.0.1");
    const sender = openDispatcher({ policy: LOOPBACK, resolve });
    for (const lookups of [1, 2]) {
      const outcome = await sender.send(requestTo(url));
      expect(outcome).toMatchObject({ error: "connection_refused" });
      expect(resolve).toHaveBeenCalledTimes(lookups);
    }
  });
});

describe("the connector without the earlier checks", () => {
  function connect(policy: typeof LOOPBACK, resolve: Resolve, hostname: string): Promise<void> {
    const names = new CheckedNames({ policy, resolve, now: () => 0 });
    const origin = `http://${net.isIP(hostname) === 6 ? `[${hostname}]` : hostname}:9`;
    const connector = new GuardedConnector({ policy, names, tenant: null, origin, tlsTrust: new TlsTrust() });
    return new Promise((onReady, onError) => {
      const onread = { buffer: Buffer.alloc(1), callback: () => true };
      const ignored = { onread, onSocket() {}, onTlsStart() {}, onEnd() {} };
      connector.connect({ isWanted: true, ...ignored, onReady, onError });
    });
  }

  const LITERALS = [...loopbackUrls, ...specialUrls]
    .map((url) => new URL(url).hostname.replace(/^\[|\]$/g, ""))
    .filter((host) => net.isIP(host) !== 0);

  it.each([...new Set(LITERALS)])("blocks the literal %s without a lookup or a socket", async (hostname) => {
    // even with a broken guard nothing must be dialled
    const opened = vi.spyOn(net, "connect").mockImplementation(() => {
      const socket = new net.Socket();
      process.nextTick(() => socket.destroy(new Error("not dialled in tests")));
      return socket;
    });
    onTestFinished(() => opened.mockRestore());
    const resolve = resolverOf();
    await expect(connect(PUBLIC_ONLY, resolve, hostname)).rejects.toBeInstanceOf(BlockedAddressError);
    expect(opened).not.toHaveBeenCalled();
    expect(resolve).not.toHaveBeenCalled();
  });

  it.runIf(process.platform === "linux")("checks the connected peer: 0.0.0.0 is 127.0.0.1", async () => {
    const server = await startReceiver();
    const policy = parseAddressPolicy({ allowHttp: true, allowedCidrs: ["0.0.0.0"] });
    const outcome = await send(`http://0.0.0.0:${server.port}/`, {}, { policy });
    expect(outcome).toMatchObject({ error: "blocked_address" });
    expect(server.requests).toHaveLength(0);
  });

  it.runIf(process.platform === "linux")("checks the connected peer before TLS begins", async () => {
    const closed = gate();
    let bytesRead = -1;
    const server = net.createServer((socket) => {
      socket.on("error", () => {}).resume();
      socket.on("close", () => {
        bytesRead = socket.bytesRead;
        closed.open();
      });
    });
    const policy = parseAddressPolicy({ allowHttp: true, allowedCidrs: ["0.0.0.0"] });
    const outcome = await send(`https://0.0.0.0:${await listen(server)}/`, {}, { policy });
    expect(outcome).toMatchObject({ error: "blocked_address" });
    await closed.opened;
    expect(bytesRead).toBe(0);
  });
});
