import nodeCrypto from "node:crypto";
import { expect, test, vi } from "vitest";
import { generateSecret, generateSigningKey } from "../secrets.ts";
import { sign } from "./sign.ts";
import { type VerifyInput, type VerifyResult, verify } from "./verify.ts";

const SIGNED_AT = 1_700_000_000;
const SCHEMES = ["t-v1", "sha256", "two-headers", "standard-webhooks", "standard-webhooks-v1a"];
const SECRETS = [generateSecret(), generateSecret(), (await generateSigningKey()).signingKey];
const BODY = new TextEncoder().encode('{"a":"é"}');

function usableBy(scheme: string): string[] {
  return SECRETS.filter((secret) => secret.startsWith("whsk_") === (scheme === "standard-webhooks-v1a"));
}

function signed(scheme: string, changed: object = {}): Promise<Record<string, string>> {
  const message = { id: "evt_1", timestamp: String(SIGNED_AT), body: BODY };
  return sign({ ...message, schemes: [scheme], secrets: SECRETS, ...changed });
}

function check(scheme: string, headers: VerifyInput["headers"], changed: Partial<VerifyInput> = {}) {
  const now = new Date(SIGNED_AT * 1000);
  return verify({ scheme, headers, body: BODY, secrets: SECRETS, now, ...changed });
}

async function reason(result: Promise<VerifyResult>): Promise<string> {
  const settled = await result;
  return settled.ok ? "ok" : settled.reason;
}

test.each(SCHEMES)("%s: any one of the secrets is enough, another is not", async (scheme) => {
  const headers = await signed(scheme);
  for (const secret of usableBy(scheme))
    expect(await check(scheme, headers, { secrets: [secret] })).toEqual({ ok: true });
  const stranger =
    scheme === "standard-webhooks-v1a" ? (await generateSigningKey()).publicKey : generateSecret();
  expect(await reason(check(scheme, headers, { secrets: [stranger] }))).toBe("no_match");
});

test.each(SCHEMES)("%s: a changed byte anywhere in the body fails", async (scheme) => {
  const headers = await signed(scheme);
  for (let at = 0; at < BODY.length; at++) {
    const body = BODY.map((byte, index) => (index === at ? byte ^ 1 : byte));
    expect(await reason(check(scheme, headers, { body }))).toBe("no_match");
  }
  expect(await reason(check(scheme, headers, { body: BODY.slice(1) }))).toBe("no_match");
  expect(await reason(check(scheme, headers, { body: new Uint8Array() }))).toBe("no_match");
});

test.each(SCHEMES)("%s: a changed character anywhere in its headers fails", async (scheme) => {
  const headers = await signed(scheme, { secrets: usableBy(scheme).slice(0, 1) });
  for (const [name, value] of Object.entries(headers)) {
    for (let at = 0; at < value.length; at++) {
      const character = value[at] === "1" ? "2" : "1";
      const changed = { ...headers, [name]: value.slice(0, at) + character + value.slice(at + 1) };
      expect(await check(scheme, changed), `${name} at ${at}`).toMatchObject({ ok: false });
    }
    expect(await check(scheme, { ...headers, [name]: value.slice(0, -1) })).toMatchObject({ ok: false });
    expect(await check(scheme, { ...headers, [name]: `${value}1` })).toMatchObject({ ok: false });
  }
});

test.each(SCHEMES)("%s: a missing header and a repeated one are rejected", async (scheme) => {
  const headers = await signed(scheme);
  for (const [name, value] of Object.entries(headers).filter(([key]) => !key.endsWith("-Next"))) {
    const { [name]: _, ...others } = headers;
    expect(await reason(check(scheme, others))).toBe("header_missing");
    expect(await reason(check(scheme, { ...headers, [name]: "" }))).toBe("header_missing");
    expect(await reason(check(scheme, { ...headers, [name]: [value, value] }))).toBe("malformed");
    expect(await reason(check(scheme, { ...headers, [name.toUpperCase()]: value }))).toBe("malformed");
    const joined = new Headers(headers);
    joined.append(name, value);
    expect(await reason(check(scheme, joined))).toBe("malformed");
  }
});

test.each(SCHEMES)("%s: a Headers object, and names in lower case, are read", async (scheme) => {
  const headers = await signed(scheme);
  expect(await check(scheme, new Headers(headers))).toEqual({ ok: true });
  const lower = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value]]),
  );
  expect(await check(scheme, lower)).toEqual({ ok: true });
});

test.each(SCHEMES.filter((name) => name !== "sha256"))(
  "%s: the tolerance holds in both directions",
  async (scheme) => {
    const headers = await signed(scheme);
    const after = (seconds: number, changed = {}) =>
      reason(check(scheme, headers, { now: new Date((SIGNED_AT + seconds) * 1000), ...changed }));
    expect(await after(300)).toBe("ok");
    expect(await after(301)).toBe("too_old");
    expect(await after(-300)).toBe("ok");
    expect(await after(-301)).toBe("too_new");
    expect(await after(1, { toleranceSeconds: 0 })).toBe("too_old");
    expect(await after(1e9, { toleranceSeconds: Number.POSITIVE_INFINITY })).toBe("ok");
  },
);

test("a forged request is reported as forged, not as late", async () => {
  const headers = await signed("t-v1", { secrets: [generateSecret()], timestamp: "1" });
  expect(await reason(check("t-v1", headers))).toBe("no_match");
});

test.each(["", "+1700000000", "1700000000.0", "1e9", " 1700000000", "1700000000123", "-1", "0x10", "now"])(
  "the timestamp %j is malformed or missing, though it was signed",
  async (timestamp) => {
    for (const scheme of ["t-v1", "two-headers", "standard-webhooks"]) {
      const headers = await signed(scheme, { timestamp });
      expect(["malformed", "header_missing"]).toContain(await reason(check(scheme, headers)));
    }
  },
);

test("signatures of unknown versions are ignored", async () => {
  const standard = await signed("standard-webhooks");
  const more = { ...standard, "webhook-signature": `v2,abc ${standard["webhook-signature"]} v1a,x` };
  expect(await check("standard-webhooks", more)).toEqual({ ok: true });
  expect(await reason(check("standard-webhooks", { ...standard, "webhook-signature": "v2,abc" }))).toBe(
    "no_match",
  );
  const { "X-Webhook-Signature": tV1 } = await signed("t-v1");
  expect(await check("t-v1", { "X-Webhook-Signature": `${tV1},v0=abc` })).toEqual({ ok: true });
});

test.each([
  ["standard-webhooks", ["v1,", "v1,g0hM9SsE", "v1", "abc"]],
  ["t-v1", ["t=1", "v1=aa", "t=1,v1=", "t=1,v1=AA", "t=1,t=1,v1=aa", "t=1, v1=aa", "abc"]],
  ["sha256", ["sha256=", "sha1=aa", "aa", `SHA256=${"a".repeat(64)}`, `sha256=${"A".repeat(64)}`]],
  ["two-headers", ["aa", "A".repeat(64), "g".repeat(64)]],
])("%s: a part of a signature, or another spelling, is malformed", async (scheme, values) => {
  const headers = await signed(scheme);
  const name = scheme === "standard-webhooks" ? "webhook-signature" : "X-Webhook-Signature";
  for (const value of values) {
    const only = { ...headers, [name]: value, "X-Webhook-Signature-Next": "" };
    expect(await reason(check(scheme, only)), value).toBe("malformed");
  }
});

test("an id with a dot is malformed", async () => {
  const headers = await signed("standard-webhooks", { id: "evt.1" });
  expect(await reason(check("standard-webhooks", headers))).toBe("malformed");
});

test("a Standard Webhooks secret may come without its prefix", async () => {
  const secret = SECRETS[0] as string;
  const headers = await signed("standard-webhooks");
  expect(await check("standard-webhooks", headers, { secrets: [secret.slice(6)] })).toEqual({ ok: true });
});

test("invalid arguments throw: no usable secret, an unknown scheme, a tolerance that is not a number", async () => {
  const headers = await signed("t-v1");
  for (const secrets of [[], [""], ["whsec_"], ["whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4="]]) {
    await expect(check("t-v1", headers, { secrets })).rejects.toThrow(TypeError);
  }
  await expect(check("t-v1", headers, { toleranceSeconds: Number.NaN })).rejects.toThrow(RangeError);
  await expect(check("t-v1", headers, { toleranceSeconds: -1 })).rejects.toThrow(RangeError);
  await expect(check("t-v9", headers)).rejects.toThrow("t-v9");
});

test("sixteen signatures are verified, seventeen are malformed", async () => {
  const { "X-Webhook-Signature": header = "" } = await signed("t-v1", { secrets: SECRETS.slice(0, 1) });
  const [time, right] = header.split(",");
  const withOthers = (count: number) => [time, ...Array(count).fill(`v1=${"0".repeat(64)}`), right].join(",");
  expect(await check("t-v1", { "X-Webhook-Signature": withOthers(15) })).toEqual({ ok: true });
  expect(await reason(check("t-v1", { "X-Webhook-Signature": withOthers(16) }))).toBe("malformed");
});

test("an ed25519 public key may be given in hex", async () => {
  const { signingKey, publicKey } = await generateSigningKey();
  const headers = await signed("standard-webhooks-v1a", { secrets: [signingKey] });
  const hex = Buffer.from(publicKey.slice("whpk_".length), "base64").toString("hex");
  expect(await check("standard-webhooks-v1a", headers, { secrets: [hex] })).toEqual({ ok: true });
  for (const secrets of [[hex.toUpperCase()], [hex.slice(2)]]) {
    await expect(check("standard-webhooks-v1a", headers, { secrets })).rejects.toThrow(TypeError);
  }
});

test("every secret is tried, even after a match", async () => {
  const headers = await signed("t-v1", { secrets: SECRETS.slice(0, 1) });
  const computed = vi.spyOn(nodeCrypto, "createHmac");
  try {
    await check("t-v1", headers, { secrets: SECRETS.slice(0, 2) });
    expect(computed).toHaveBeenCalledTimes(2);
  } finally {
    computed.mockRestore();
  }
});
