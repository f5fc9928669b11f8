import { expect, test } from "vitest";
import { mapMessage } from "./map-message.ts";

const map = (content: string) =>
  mapMessage("shop", "7301", {
    lsn: "0/16B3748",
    content: Buffer.from(content),
    bytes: Buffer.byteLength(content),
  });

test("a message becomes an event with the bytes of its data; without an id its key is its position in the log of its cluster", () => {
  expect(map('{"data": {"total": 1.0}, "tenant": "acme", "type": "order.paid", "subject": null}')).toEqual({
    tenant: "acme",
    type: "order.paid",
    subject: undefined,
    apiVersion: undefined,
    idempotencyKey: "shop/7301/0/16B3748",
    rawData: Buffer.from('{"total": 1.0}'),
  });
  expect(map('{"id": 7, "api_version": "2", "data": null}')).toMatchObject({
    idempotencyKey: "shop/7",
    apiVersion: "2",
    rawData: Buffer.from("null"),
  });
});

test("a number above 2^53 is an id with all its digits", () => {
  const keys = ["9007199254740992", "9007199254740993"].map((id) => map(`{"id": ${id}}`).idempotencyKey);
  expect(keys).toEqual(["shop/9007199254740992", "shop/9007199254740993"]);
});

test("an id has room beside the name of the source", () => {
  expect(map(`{"id": "${"ü".repeat(251)}"}`).idempotencyKey).toBe(`shop/${"ü".repeat(251)}`);
});

test.each([
  ["order.paid", /must be a JSON object/],
  ["[]", /it is not an object/],
  ["7", /must be a JSON object/],
  ['{"data": 1, "data": 2}', /a field is given twice/],
  ['{"tennant": "acme"}', /no field "tennant"\. Did you mean tenant\?/],
  ['{"id": {}}', /id must be text or a number/],
  ['{"id": ""}', /id is empty\. Set it, or leave it out/],
  [`{"id": "${"x".repeat(252)}"}`, /The id must be at most 251 characters without control characters/],
  ['{"id": "a\\u0000"}', /The id must be at most 251 characters without control characters/],
  ['{"id": "a\\ud800"}', /The id must be at most 251 characters without control characters/],
  [`{"data": ${"[".repeat(70)}${"]".repeat(70)}}`, /nested too deeply/],
  [`{"data": "${"x".repeat(400_000)}"}`, /The message has 400012 bytes; the limit is 327680/],
])("%s is rejected", (content, message) => {
  expect(() => map(content)).toThrow(message);
});
