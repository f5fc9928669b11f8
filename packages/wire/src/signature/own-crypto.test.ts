// The runtime's own crypto and WebCrypto are one and the same to everyone else.
import { afterEach, expect, test, vi } from "vitest";
import { generateSecret } from "../secrets.ts";
import { sha256Of } from "./own-crypto.ts";
import { sign } from "./sign.ts";
import { signatureVectors } from "./vectors.ts";

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.resetModules();
});

/** The package as a runtime without crypto of its own sees it. */
async function elsewhere() {
  vi.stubGlobal("process", { ...process, getBuiltinModule: undefined });
  vi.resetModules();
  return await import("../index.ts");
}

test("a runtime without crypto of its own signs, verifies and digests the same", async () => {
  const other = await elsewhere();
  const computed = vi.spyOn(crypto.subtle, "sign");
  for (const { scheme, secret, publicKey, id, timestamp, body: text } of signatureVectors) {
    const body = new TextEncoder().encode(text);
    const message = { schemes: [scheme], secrets: [secret], id, timestamp, body };
    const headers = await sign(message);
    expect(await other.sign(message)).toEqual(headers);
    const given = { scheme, headers, body, secrets: [publicKey ?? secret], toleranceSeconds: Infinity };
    expect(await other.verify(given)).toEqual({ ok: true });
    expect(await other.sha256Of(body)).toEqual(await sha256Of(body));
  }
  expect(computed.mock.calls.length).toBeGreaterThan(signatureVectors.length);
});

test("there a key is imported once, and again only after a thousand others", async () => {
  const { verify } = await elsewhere();
  const body = new TextEncoder().encode("{}");
  const timestamp = "1700000000";
  const message = { schemes: ["two-headers"], secrets: [generateSecret()], id: "evt_1", timestamp, body };
  const headers = await sign(message);
  const imported = vi.spyOn(crypto.subtle, "importKey");
  const verifyWith = (secret: string) => verify({ scheme: "two-headers", headers, body, secrets: [secret] });
  const secret = generateSecret();
  await verifyWith(secret);
  await verifyWith(secret);
  expect(imported).toHaveBeenCalledTimes(1);
  for (let count = 0; count < 1_000; count++) await verifyWith(`another ${count}`);
  imported.mockClear();
  await verifyWith(secret);
  expect(imported).toHaveBeenCalledTimes(1);
});
