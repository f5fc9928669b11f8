import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer as createPlainServer } from "node:http";
import { createServer, type ServerOptions } from "node:https";
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { createSecureContext } from "node:tls";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import type { AttemptOutcome } from "../model.ts";
import { createDispatcher, type DispatcherOptions } from "./dispatcher.ts";
import { parseAddressPolicy } from "./guard/guard-address.ts";

function pem(name: string): string {
  return readFileSync(new URL(`../../../../tests/support/certificates/${name}.pem`, import.meta.url), "utf8");
}

const LOOPBACK = parseAddressPolicy({ allowedCidrs: ["127.0.0.0/8"] });
const TRUSTING = { extraCa: [pem("authority")] };

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(cleanups.splice(0).map((cleanup) => cleanup()));
});

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket));
  await once(server.listen(0, "127.0.0.1"), "listening");
  cleanups.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

function tlsReceiver(options: ServerOptions = {}): Promise<number> {
  const server = createServer({ key: pem("key"), cert: pem("valid"), ...options }, (request, response) => {
    request.resume().on("end", () => response.end("ok"));
  });
  server.on("tlsClientError", () => {});
  return listen(server);
}

async function post(
  url: string,
  options: Partial<DispatcherOptions> = {},
  timeoutMs = 60_000,
): Promise<AttemptOutcome> {
  const resolve = async () => [{ address: "127.0.0.1", family: 4 as const }];
  const dispatcher = createDispatcher({ policy: LOOPBACK, resolve, ...options });
  cleanups.push(() => dispatcher.close());
  return dispatcher.send({ tenant: "acme", url, headers: {}, body: Buffer.from("{}"), timeoutMs });
}

describe("over TLS", () => {
  it("delivers to a certificate that the operator trusts, by address and by name", async () => {
    const port = await tlsReceiver();
    expect(await post(`https://127.0.0.1:${port}/`, TRUSTING)).toMatchObject({
      kind: "answered",
      statusCode: 200,
    });
    expect(await post(`https://hooks.example.com:${port}/`, TRUSTING)).toMatchObject({ statusCode: 200 });
  });

  it("measures the TLS handshake separately, even one that never ends", async () => {
    const port = await tlsReceiver();
    const { phases } = await post(`https://127.0.0.1:${port}/`, TRUSTING);
    expect(phases).toEqual({
      connectMs: expect.any(Number),
      tlsMs: expect.any(Number),
      firstByteMs: expect.any(Number),
    });
    const silent = await listen(createTcpServer(() => {}));
    const stalled = await post(`https://127.0.0.1:${silent}/`, TRUSTING, 1_000);
    expect(stalled).toMatchObject({ error: "timeout", phases: { firstByteMs: null } });
    // all of the time after TCP was connected, however long that took
    const { connectMs, tlsMs } = stalled.phases;
    expect(tlsMs).toBeCloseTo(stalled.durationMs - (connectMs as number), -1);
  });

  it("refuses a self-signed certificate", async () => {
    const port = await tlsReceiver({ cert: pem("self-signed") });
    expect(await post(`https://127.0.0.1:${port}/`, TRUSTING)).toMatchObject({
      kind: "failed",
      error: "tls_error",
      detail: expect.stringContaining("self-signed"),
    });
  });

  it("refuses a certificate of an authority nobody trusts", async () => {
    expect(await post(`https://127.0.0.1:${await tlsReceiver()}/`)).toMatchObject({ error: "tls_error" });
  });

  it.each([
    ["has expired", "expired", "CERT_HAS_EXPIRED"],
    ["is not valid yet", "not-yet-valid", "CERT_NOT_YET_VALID"],
  ])("refuses a certificate that %s", async (_what, name, code) => {
    const port = await tlsReceiver({ cert: pem(name) });
    expect(await post(`https://127.0.0.1:${port}/`, TRUSTING)).toMatchObject({
      error: "tls_error",
      detail: expect.stringContaining(code),
    });
  });

  it("refuses a trusted certificate under another name, however many names it has", async () => {
    const port = await tlsReceiver();
    expect(await post(`https://other.example.com:${port}/`, TRUSTING)).toMatchObject({ error: "tls_error" });
    const crowded = await tlsReceiver({ cert: pem("many-names") });
    expect(await post(`https://hooks.example.com:${crowded}/`, TRUSTING)).toMatchObject({ statusCode: 200 });
    const outcome = await post(`https://other.example.com:${crowded}/`, TRUSTING);
    expect(outcome).toMatchObject({ kind: "failed", error: "tls_error" });
    expect(outcome.kind === "failed" && outcome.detail.length).toBeLessThan(250);
  });

  it("asks for the certificate of the name it was given, and refuses any other", async () => {
    const asked: string[] = [];
    const port = await tlsReceiver({
      SNICallback: (name, callback) => {
        asked.push(name);
        callback(null, createSecureContext({ key: pem("key"), cert: pem("valid") }));
      },
    });
    expect(await post(`https://other.example.com:${port}/`, TRUSTING)).toMatchObject({ error: "tls_error" });
    expect(asked).toEqual(["other.example.com"]);
  });

  it.each(["TLSv1", "TLSv1.1"] as const)("refuses %s", async (version) => {
    const port = await tlsReceiver({
      minVersion: version,
      maxVersion: version,
      ciphers: "DEFAULT:@SECLEVEL=0",
    });
    expect(await post(`https://127.0.0.1:${port}/`, TRUSTING)).toMatchObject({ error: "tls_error" });
  });

  it.each(["TLSv1.2", "TLSv1.3"] as const)("takes %s", async (version) => {
    const port = await tlsReceiver({ minVersion: version, maxVersion: version });
    expect(await post(`https://127.0.0.1:${port}/`, TRUSTING)).toMatchObject({ statusCode: 200 });
  });

  it("verifies certificates whatever NODE_TLS_REJECT_UNAUTHORIZED says", async () => {
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    onTestFinished(() => void vi.unstubAllEnvs());
    const port = await tlsReceiver({ cert: pem("self-signed") });
    expect(await post(`https://127.0.0.1:${port}/`)).toMatchObject({ error: "tls_error" });
  });

  it("never falls back to plain HTTP", async () => {
    let requests = 0;
    const port = await listen(
      createPlainServer((_request, response) => {
        requests += 1;
        response.end();
      }),
    );
    expect(await post(`https://127.0.0.1:${port}/`, TRUSTING)).toMatchObject({ error: "tls_error" });
    expect(requests).toBe(0);
  });

  it("times out when the handshake stalls", async () => {
    const port = await listen(createTcpServer((socket) => socket.on("error", () => {}).resume()));
    expect(await post(`https://127.0.0.1:${port}/`, TRUSTING, 500)).toMatchObject({ error: "timeout" });
  });
});
