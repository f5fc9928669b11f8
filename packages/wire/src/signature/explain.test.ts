import nodeCrypto from "node:crypto";
import { expect, test, vi } from "vitest";
import { generateSecret, generateSigningKey } from "../secrets.ts";
import { vendors } from "../vendors/vendors.ts";
import { explainFailure } from "./explain.ts";
import { sign } from "./sign.ts";
import { type FailedVerification, type VerifyInput, verify } from "./verify.ts";

const SECRET = generateSecret();
const NOW = new Date(1_700_000_000_000);
const MESSAGE = { id: "evt_1", timestamp: "1700000000" };

async function explanation(
  sent: string | Uint8Array,
  came: string | Uint8Array,
  changed: Partial<VerifyInput> = {},
) {
  const bytes = (body: string | Uint8Array) =>
    typeof body === "string" ? new TextEncoder().encode(body) : body;
  const scheme = changed.scheme ?? "t-v1";
  const message = { ...MESSAGE, method: "POST", url: "https://example.com/in", body: bytes(sent) };
  const headers = await sign({ ...message, schemes: [scheme], secrets: [SECRET] });
  const input: VerifyInput = {
    ...message,
    scheme,
    headers,
    secrets: [SECRET],
    now: NOW,
    ...changed,
    body: bytes(came),
  };
  const result = await verify(input);
  expect(result.ok).toBe(false);
  return explainFailure(input, result as FailedVerification);
}

test.each([
  ["a line ending was added", '{"a":1}', '{"a":1}\n'],
  ["a line ending was added", '{"a":1}', '{"a":1}\r\n'],
  ["line endings became CRLF", "{\n}", "{\r\n}"],
  ["a byte order mark was added", '{"a":1}', '\u{feff}{"a":1}'],
  ["the last line ending is missing", '{"a":1}\n', '{"a":1}'],
  ["serialised again with different white space", '{"a":1}', '{ "a": 1 }'],
])("the secret is right but %s", async (change, sent, came) => {
  expect(await explanation(sent, came)).toEqual({
    reason: "body_changed",
    hint: expect.stringContaining(change),
  });
});

test("an unusual change and a wrong secret have the same explanation", async () => {
  const changed = await explanation('{"a":1}', '{"a":2}');
  const another = await explanation('{"a":1}', '{"a":1}', { secrets: [generateSecret()] });
  expect(changed).toEqual(another);
  expect(changed).toEqual({
    reason: "no_match",
    hint: expect.stringContaining("The secret belongs to another endpoint"),
  });
});

test("white space around a secret is found", async () => {
  const { hint } = await explanation("{}", "{}", { secrets: [`${SECRET}\n`] });
  expect(hint).toContain("white space");
});

test("the URL is named if it is signed", async () => {
  const { hint } = await explanation("{}", "{}", {
    scheme: vendors.square.scheme,
    url: "http://10.0.0.1/in",
  });
  expect(hint).toContain("http://10.0.0.1/in");
});

test("too old and too new say by how many seconds", async () => {
  const at = (seconds: number) => ({ now: new Date(NOW.getTime() + seconds * 1000) });
  expect(await explanation("{}", "{}", at(301))).toEqual({
    reason: "too_old",
    hint: expect.stringMatching(
      /older than the tolerance.*301 seconds in the past; the tolerance is 300 seconds/,
    ),
  });
  expect(await explanation("{}", "{}", at(-400))).toEqual({
    reason: "too_new",
    hint: expect.stringMatching(/in the future.*400 seconds in the future; the tolerance is 300 seconds/),
  });
});

test.each([
  ["t-v1", "1700000000123", "is in milliseconds, not in seconds"],
  ["t-v1", "now", "is not a number of seconds"],
  [vendors.hubspot.scheme, "1700000000", "is in seconds, not in milliseconds"],
  [vendors.twitch.scheme, "1700000000", "is not a time such as"],
])("a timestamp in another unit is reported as such (%#)", async (scheme, timestamp, problem) => {
  const message = {
    id: "evt_1",
    timestamp,
    method: "POST",
    url: "https://example.com",
    body: new Uint8Array(),
  };
  const headers = await sign({ ...message, schemes: [scheme], secrets: [SECRET] });
  const result = await verify({ ...message, scheme, headers, secrets: [SECRET], now: NOW });
  expect(result).toEqual({ ok: false, reason: "malformed", detail: expect.stringContaining(problem) });
});

test("a missing or repeated header is named", async () => {
  const input = { scheme: "standard-webhooks", body: new Uint8Array(), secrets: [SECRET], now: NOW };
  const headers = await sign({ ...MESSAGE, body: input.body, schemes: [input.scheme], secrets: [SECRET] });
  expect(await verify({ ...input, headers: { ...headers, "webhook-id": "" } })).toMatchObject({
    reason: "header_missing",
    detail: expect.stringContaining("webhook-id"),
  });
  expect(await verify({ ...input, headers: { ...headers, "webhook-id": ["a", "b"] } })).toMatchObject({
    reason: "malformed",
    detail: expect.stringContaining("webhook-id is there more than once"),
  });
});

test("a bounded explanation computes at most ten signatures, and none for a large body", async () => {
  const secrets = [...Array.from({ length: 8 }, generateSecret), (await generateSigningKey()).publicKey];
  const body = '\u{feff}{"a":\r\n1}\r\n';
  const input: VerifyInput = { scheme: "t-v1", secrets, headers: {}, body: new TextEncoder().encode(body) };
  const headers = await sign({ ...MESSAGE, body: input.body, schemes: ["t-v1"], secrets: [SECRET] });
  const failure: FailedVerification = { ok: false, reason: "no_match", detail: "" };
  const computed = vi.spyOn(nodeCrypto, "createHmac");
  try {
    await explainFailure({ ...input, headers }, failure);
    expect(computed.mock.calls.length).toBeGreaterThan(0);
    expect(computed.mock.calls.length).toBeLessThanOrEqual(10);
    computed.mockClear();
    await explainFailure({ ...input, headers, body: new Uint8Array(64 * 1024) }, failure);
    expect(computed).toHaveBeenCalled();
    computed.mockClear();
    const tooLarge = { ...input, headers, body: new Uint8Array(64 * 1024 + 1) };
    await explainFailure(tooLarge, failure);
    expect(computed).not.toHaveBeenCalled();
    await explainFailure(tooLarge, failure, "thorough");
    expect(computed).toHaveBeenCalledTimes(secrets.length - 1);
  } finally {
    computed.mockRestore();
  }
});
