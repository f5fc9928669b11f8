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

test("a field that no event has is refused with a suggestion, all of them at once", () => {
  expect(problemsOf({ ...event, idempotency_key: "k", subjct: "s" })).toEqual([
    {
      pointer: "/idempotency_key",
      message: 'An event has no field "idempotency_key". Did you mean idempotencyKey?',
    },
    { pointer: "/subjct", message: 'An event has no field "subjct". Did you mean subject?' },
  ]);
});

test("a batch points at the event with the unknown field", () => {
  expect(() => validateAll([event, { ...event, key: "k" } as PublishInput], 0)).toThrow(
    expect.objectContaining({
      code: "invalid_event",
      problems: [expect.objectContaining({ pointer: "/1/key" })],
    }),
  );
});

test.each([".", ".."])("an event of tenant %s is refused, for there can be none", (tenant) => {
  expect(problemsOf({ ...event, tenant })).toMatchObject([{ pointer: "/tenant" }]);
  expect(problemsOf({ ...event, tenant: `${tenant}a` })).toBe("valid");
});

test.each([[null], [undefined], ["order.paid"]])("%s in place of an event is refused", (input) => {
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

test("rawData may be bytes of another realm, as test runners make them", () => {
  const rawData = runInNewContext("new Uint8Array([0x7b, 0x7d])");
  expect(String(check({ tenant: "acme", type: "order.paid", rawData }).event.payload)).toBe("{}");
});

test("data and rawData together are refused, for only one of them could be published", () => {
  expect(problemsOf({ ...event, rawData: Buffer.from("{}") })).toEqual([
    { pointer: "/rawData", message: "data and rawData are both given; give one of them." },
  ]);
});
