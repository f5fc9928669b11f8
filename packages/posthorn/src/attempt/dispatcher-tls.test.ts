import { once } from "node:events";
import { createServer as createPlainServer } from "node:http";
import { createServer, type ServerOptions } from "node:https";
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import type { AttemptOutcome } from "../model.ts";
import { createDispatcher, type DispatcherOptions } from "./dispatcher.ts";
import { parseAddressPolicy } from "./guard-address.ts";

// Self-signed for 127.0.0.1 and hooks.example.com, valid until 2126, trusted by nobody.
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg0rrVWWW36YSTyoLo
aEOTRhzXybx589f5P3gA66UPoSyhRANCAAQh+gOFJPiMZyVlWWWWa9yuwFoQTIIe
KjJNYWNdIVBlqTuE/xJ900BIrG5vLB9bmebPol3LZkwN+3HH3Uk6XVCD
-----END PRIVATE KEY-----`;
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBqzCCAVGgAwIBAgIUIMbb69+GjCuU8F/3BJjOLhFcf1MwCgYIKoZIzj0EAwIw
GDEWMBQGA1UEAwwNcG9zdGhvcm4gdGVzdDAgFw0yNjExMTUxMDM5MjdaGA8yMTI2
MTAyMjEwMzkyN1owGDEWMBQGA1UEAwwNcG9zdGhvcm4gdGVzdDBZMBMGByqGSM49
AgEGCCqGSM49AwEHA0IABCH6A4Uk+IxnJWVZZZZr3K7AWhBMgh4qMk1hY10hUGWp
O4T/En3TQEisbm8sH1uZ5s+iXctmTA37ccfdSTpdUIOjdzB1MB0GA1UdDgQWBBRk
Ti14urySK5cyRT7PpUmWxxXGvjAfBgNVHSMEGDAWgBRkTi14urySK5cyRT7PpUmW
xxXGvjAPBgNVHRMBAf8EBTADAQH/MCIGA1UdEQQbMBmHBH8AAAGCEWhvb2tzLmV4
YW1wbGUuY29tMAoGCCqGSM49BAMCA0gAMEUCIQC0cyrhTvQngin9qo1+YLFGTmor
lMuXEp9kOIxAJfgE0QIgOibn1BFHvD/I8s6gqQwfVy7E0UDtQpzH8FM+tJAXmAs=
-----END CERTIFICATE-----`;

const LOOPBACK = parseAddressPolicy({ allowedCidrs: ["127.0.0.0/8"] });
const TRUSTING = { extraCa: [CERTIFICATE] };

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
  const server = createServer({ key: KEY, cert: CERTIFICATE, ...options }, (request, response) => {
    request.resume().on("end", () => response.end("ok"));
  });
  server.on("tlsClientError", () => {});
  return listen(server);
}

async function post(url: string, options: Partial<DispatcherOptions> = {}): Promise<AttemptOutcome> {
  const resolve = async () => [{ address: "127.0.0.1", family: 4 as const }];
  const dispatcher = createDispatcher({ policy: LOOPBACK, resolve, ...options });
  cleanups.push(() => dispatcher.close());
  return dispatcher.send({ tenant: "acme", url, headers: {}, body: Buffer.from("{}"), timeoutMs: 1_000 });
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

  it("refuses a self-signed certificate", async () => {
    expect(await post(`https://127.0.0.1:${await tlsReceiver()}/`)).toMatchObject({
      kind: "failed",
      error: "tls_error",
      detail: expect.stringContaining("self-signed"),
    });
  });

  it("refuses a trusted certificate under another name", async () => {
    const port = await tlsReceiver();
    expect(await post(`https://other.example.com:${port}/`, TRUSTING)).toMatchObject({ error: "tls_error" });
  });

  it("refuses TLS 1.1", async () => {
    const port = await tlsReceiver({
      minVersion: "TLSv1",
      maxVersion: "TLSv1.1",
      ciphers: "DEFAULT:@SECLEVEL=0",
    });
    expect(await post(`https://127.0.0.1:${port}/`, TRUSTING)).toMatchObject({ error: "tls_error" });
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
    expect(await post(`https://127.0.0.1:${port}/`, TRUSTING)).toMatchObject({ error: "timeout" });
  });
});
