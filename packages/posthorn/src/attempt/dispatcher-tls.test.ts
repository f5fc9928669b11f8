import { createServer as createPlainServer } from "node:http";
import { createServer, type ServerOptions } from "node:https";
import { createServer as createTcpServer } from "node:net";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { certificates } from "../../../../tests/support/samples/certificates.ts";
import { listen, send } from "../../../../tests/support/servers/dispatcher.ts";
import type { AttemptOutcome } from "../model.ts";
import type { DispatcherOptions } from "./dispatcher.ts";

const TRUSTING = { extraCa: [certificates.authority] };

function tlsReceiver(options: ServerOptions = {}): Promise<number> {
  const server = createServer(
    { key: certificates.key, cert: certificates.valid, ...options },
    (request, response) => {
      request.resume().on("end", () => response.end("ok"));
    },
  );
  server.on("tlsClientError", () => {});
  return listen(server);
}

/** Every name resolves to loopback. */
function post(
  url: string,
  options: Partial<DispatcherOptions> = {},
  timeoutMs = 60_000,
): Promise<AttemptOutcome> {
  const resolve = async () => [{ address: "127.0.0.1", family: 4 as const }];
  return send(url, { timeoutMs }, { resolve, ...options });
}

describe("over TLS", () => {
  it("delivers only with a certificate that the operator trusts, by address and by name", async () => {
    const port = await tlsReceiver();
    const url = `https://127.0.0.1:${port}/`;
    expect(await post(url)).toMatchObject({ kind: "failed", error: "tls_error" });
    expect(await post(url, TRUSTING)).toMatchObject({ kind: "responded", statusCode: 200 });
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

  it.each([
    ["is self-signed", "self-signed", "self-signed"],
    ["has expired", "expired", "CERT_HAS_EXPIRED"],
    ["is not valid yet", "not-yet-valid", "CERT_NOT_YET_VALID"],
  ] as const)("rejects a certificate that %s", async (_what, name, code) => {
    const port = await tlsReceiver({ cert: certificates[name] });
    expect(await post(`https://127.0.0.1:${port}/`, TRUSTING)).toMatchObject({
      error: "tls_error",
      detail: expect.stringContaining(code),
    });
  });

  it("rejects a trusted certificate for another name, however many names it has", async () => {
    const port = await tlsReceiver();
    expect(await post(`https://other.example.com:${port}/`, TRUSTING)).toMatchObject({ error: "tls_error" });
    const crowded = await tlsReceiver({ cert: certificates["many-names"] });
    expect(await post(`https://hooks.example.com:${crowded}/`, TRUSTING)).toMatchObject({ statusCode: 200 });
    const outcome = await post(`https://other.example.com:${crowded}/`, TRUSTING);
    expect(outcome).toMatchObject({ kind: "failed", error: "tls_error" });
    expect(outcome.kind === "failed" && outcome.detail.length).toBeLessThan(250);
  });

  it.each([
    ["TLSv1", { error: "tls_error" }],
    ["TLSv1.1", { error: "tls_error" }],
    ["TLSv1.2", { statusCode: 200 }],
    ["TLSv1.3", { statusCode: 200 }],
  ] as const)("to a receiver that only speaks %s ends with %o", async (version, outcome) => {
    const versions = { minVersion: version, maxVersion: version, ciphers: "DEFAULT:@SECLEVEL=0" };
    const port = await tlsReceiver(versions);
    expect(await post(`https://127.0.0.1:${port}/`, TRUSTING)).toMatchObject(outcome);
  });

  it("verifies certificates regardless of NODE_TLS_REJECT_UNAUTHORIZED", async () => {
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    onTestFinished(() => void vi.unstubAllEnvs());
    const port = await tlsReceiver({ cert: certificates["self-signed"] });
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
});
