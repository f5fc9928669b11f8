import { afterEach, expect, test, vi } from "vitest";
import { sha256HexOf } from "./own-crypto.ts";
import { sign } from "./sign.ts";
import { signatureVectors } from "./vectors.ts";
import { verify } from "./verify.ts";

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.resetModules();
});

/** The package as loaded by a runtime without node:crypto. */
async function elsewhere() {
  vi.stubGlobal("process", { ...process, getBuiltinModule: undefined });
  vi.resetModules();
  return await import("../index.ts");
}

test("a runtime without node:crypto signs, verifies and digests the same", async () => {
  const other = await elsewhere();
  const computed = vi.spyOn(crypto.subtle, "sign");
  for (const { scheme, secret, publicKey, id, timestamp, body: text } of signatureVectors) {
    const body = new TextEncoder().encode(text);
    const message = { schemes: [scheme], secrets: [secret], id, timestamp, body };
    const headers = await sign(message);
    expect(await other.sign(message)).toEqual(headers);
    const given = { scheme, headers, body, secrets: [publicKey ?? secret], toleranceSeconds: Infinity };
    expect([await verify(given), await other.verify(given)]).toEqual([{ ok: true }, { ok: true }]);
    expect(await other.sha256HexOf(body)).toEqual(await sha256HexOf(body));
  }
  expect(computed.mock.calls.length).toBeGreaterThan(signatureVectors.length);
});
