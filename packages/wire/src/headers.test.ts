import { expect, test } from "vitest";
import { headerNames, headerPrefixProblem, validateCustomHeaders } from "./headers.ts";

function messages(headers: Record<string, unknown>, prefix?: string): string[] {
  return validateCustomHeaders(headers, prefix).map(({ message }) => message);
}

test("header names are built from the prefix", () => {
  expect(headerNames("X-OrientedOS")).toEqual({
    id: "X-OrientedOS-Id",
    timestamp: "X-OrientedOS-Timestamp",
    signature: "X-OrientedOS-Signature",
    signatureNext: "X-OrientedOS-Signature-Next",
    event: "X-OrientedOS-Event",
    deliveryId: "X-OrientedOS-Delivery-Id",
    attempt: "X-OrientedOS-Attempt",
    editedFrom: "X-OrientedOS-Edited-From",
  });
  expect(headerNames().signature).toBe("X-Webhook-Signature");
});

test("a prefix that is a token is accepted", () => {
  for (const prefix of ["X-Webhook", "X-OrientedOS", "X-SpeedPy", "Acme", "a".repeat(64)]) {
    expect(headerPrefixProblem(prefix)).toBeNull();
  }
});

test.each([
  "",
  "X Webhook",
  "X:Webhook",
  "X-Wébhook",
  "X\r\nA",
  "X-Webhook-",
  "a".repeat(65),
  "Webhook",
  "Proxy",
])("the prefix %j is rejected", (prefix) => {
  expect(headerPrefixProblem(prefix)).toEqual(expect.any(String));
});

test("ordinary headers are accepted", () => {
  expect(messages({ Authorization: "Bearer abc def==", "X-Api_Key": "!~", "x-webhooks": "1" })).toEqual([]);
});

test.each([
  "Host",
  "connection",
  "Content-Length",
  "Transfer-Encoding",
  "TE",
  "trailer",
  "Upgrade",
  "Expect",
  "Keep-Alive",
  "Proxy-Authorization",
  "X-Forwarded-For",
  "Forwarded",
  "Cookie",
  "Webhook-Id",
  "posthorn-anything",
  "Content-Type",
  "User-Agent",
  "x-webhook-id",
])("%s is reserved", (name) => {
  expect(messages({ [name]: "x" })).toHaveLength(1);
});

test.each([
  "Metadata",
  "metadata-flavor",
  "X-aws-ec2-metadata-token",
  "x-aws-ec2-metadata-token-ttl-seconds",
])("%s, which gives credentials at metadata services, is rejected", (name) => {
  expect(messages({ [name]: "x" })).toEqual([expect.stringContaining("metadata services")]);
});

test("headers of the configured prefix are reserved, in any case", () => {
  expect(messages({ "x-speedpy-Signature": "x" }, "X-SpeedPy")).toHaveLength(1);
  expect(messages({ "X-Webhook-Id": "x" }, "X-SpeedPy")).toEqual([]);
});

test.each(["a b", "a:", "", "é", "a\r\nb", "(a)"])("the name %j is rejected", (name) => {
  expect(messages({ [name]: "x" })).toHaveLength(1);
});

test.each(["", " a", "a ", "a\r\nb: c", "a\0", "a\tb", "é", "日本", "\x7f", 1, null, ["a"]])(
  "the value %j is rejected without quoting it",
  (value) => {
    const [message, ...others] = messages({ "x-a": value });
    expect(others).toEqual([]);
    expect(message).toContain("header value");
  },
);

test("names that differ in case only are one header", () => {
  expect(messages({ Authorization: "a", authorization: "b" })).toHaveLength(1);
});

test("20 headers are accepted, 21 are not", () => {
  const some = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`x-${n}`, "v"]));
  expect(messages(some(20))).toEqual([]);
  expect(messages(some(21))).toHaveLength(1);
});

test("8,192 bytes of names and values are accepted, one more is not", () => {
  expect(messages({ "x-a": "v".repeat(8189) })).toEqual([]);
  expect(messages({ "x-a": "v".repeat(8190) })).toHaveLength(1);
});
