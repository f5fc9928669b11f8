import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { type PublishInput, validate, validateAll } from "./validate.ts";

const event = { tenant: "acme", type: "order.paid", data: 1 };
const check = (input: unknown) => validate(input as PublishInput, Date.now());

function problemsOf(input: unknown): unknown {
  try {
    check(input);
  } catch (error) {
    return (error as { problems: unknown }).problems;
  }
  return "valid";
}

test("unknown fields are rejected with suggestions, all at once", () => {
  expect(problemsOf({ ...event, idempotency_key: "k", subjct: "s" })).toEqual([
    {
      pointer: "/idempotency_key",
      message: 'An event has no field "idempotency_key". Did you mean idempotencyKey?',
    },
    { pointer: "/subjct", message: 'An event has no field "subjct". Did you mean subject?' },
  ]);
});

test.each([".", ".."])("an event of tenant %s is rejected, because such a tenant cannot exist", (tenant) => {
  expect(problemsOf({ ...event, tenant })).toMatchObject([{ pointer: "/tenant" }]);
  expect(problemsOf({ ...event, tenant: `${tenant}a` })).toBe("valid");
});

test.each([[null], [undefined], ["order.paid"]])("%s instead of an event is rejected", (input) => {
  expect(() => check(input)).toThrow("An event is an object with tenant, type and data.");
  expect(() => validateAll(input as never, 0)).toThrow(expect.objectContaining({ code: "invalid_event" }));
});

test.each<[what: unknown, kind: string]>([
  ["{}", "a value of type string"],
  [{ id: 1 }, "a value of type object"],
  [null, "null"],
])("rawData is bytes, not %o", (rawData, kind) => {
  expect(problemsOf({ tenant: "acme", type: "order.paid", rawData })).toEqual([
    {
      pointer: "/rawData",
      message: `rawData is ${kind}; pass bytes (Uint8Array or Buffer), such as Buffer.from(json).`,
    },
  ]);
});

test("rawData may be bytes of another realm, as in test runners", () => {
  const rawData = runInNewContext("new Uint8Array([0x7b, 0x7d])");
  expect(String(check({ tenant: "acme", type: "order.paid", rawData }).event.payload)).toBe("{}");
});

const trace = "00-11111111111111111111111111111111-2222222222222222-01";

test("an event keeps a valid traceparent", () => {
  expect(check({ ...event, traceparent: trace }).event.traceparent).toBe(trace);
});

test.each([
  "",
  "00-1-2-01",
  trace.replace("1111", "ABCD"),
  `${trace}-more`,
  trace.replace("00-", "01-"),
  `00-${"0".repeat(32)}-2222222222222222-01`,
  `00-${"1".repeat(32)}-${"0".repeat(16)}-01`,
])("%j is not a traceparent", (traceparent) => {
  expect(problemsOf({ ...event, traceparent })).toMatchObject([{ pointer: "/traceparent" }]);
});

test("data and rawData together are rejected", () => {
  expect(problemsOf({ ...event, rawData: Buffer.from("{}") })).toEqual([
    { pointer: "/rawData", message: "data and rawData are both given; give one of them." },
  ]);
});
