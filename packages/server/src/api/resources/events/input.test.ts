import fc from "fast-check";
import { CheckedJson } from "posthorn/internal";
import { expect, test } from "vitest";
import { HttpError } from "../../http-error.ts";
import { readEvents } from "./input.ts";

function read(json: string) {
  return readEvents(Buffer.from(json));
}

function placesOf(json: string): unknown[] {
  try {
    read(json);
  } catch (error) {
    if (error instanceof HttpError) return error.fieldErrors.map((place) => Object.values(place));
    throw error;
  }
  return [];
}

const exactly = '{ "b": 1.0,"a":9007199254740993, "a": "\\u0000" }';

test.each([
  ["data keeps its exact bytes", `{"tenant":"t","data":${exactly},"type":"a.b"}`, "a.b", exactly],
  ["names may have escapes", '{"tenant":"t","d\\u0061ta":[1.0],"type":"a"}', "a", "[1.0]"],
  ["null is no subject", '{"tenant":"t","type":"a","data":null,"subject":null}', "a", "null"],
])("%s", (_what, json, type, data) => {
  const rawData = new CheckedJson(Buffer.from(data));
  expect(read(json)).toEqual({ kind: "one", input: { tenant: "t", type, rawData } });
});

test("data is not parsed, unless a name has escapes", () => {
  const dataIn = (json: string): unknown => {
    const events = read(json);
    return events.kind === "one" && (events.input.rawData as CheckedJson).takeValue();
  };
  expect(dataIn('{"tenant":"t","type":"a","data":[1]}')).toBeUndefined();
  expect(dataIn('{"tenant":"t","type":"a","d\\u0061ta":[1]}')).toEqual([1]);
});

test("data is found at any position among the fields, whatever it contains", () => {
  const fields = { tenant: '"t"', type: '"a"', subject: '"s"', api_version: '"2"', idempotency_key: '"k"' };
  fc.assert(
    fc.property(
      fc.shuffledSubarray(Object.keys({ ...fields, data: 0 }), { minLength: 6 }),
      fc.jsonValue(),
      (order, data) => {
        const values: Record<string, string> = { ...fields, data: JSON.stringify(data) };
        const json = `{${order.map((name) => `"${name}": ${values[name]}`).join(",")}}`;
        expect(read(json)).toEqual({
          kind: "one",
          input: {
            tenant: "t",
            type: "a",
            subject: "s",
            apiVersion: "2",
            idempotencyKey: "k",
            rawData: new CheckedJson(Buffer.from(values.data ?? "")),
          },
        });
      },
    ),
  );
});

test.each([
  ['{"tenant":"t","type":"a"}', [["/data", "This field is required."]]],
  ['{"tenant":5,"type":"a","data":1}', [["/tenant", "This must be a string."]]],
  ['{"tenant":"t","type":"a","data":1,"data":2}', [["", "A field is given twice. Give each field once."]]],
  [
    '{"tenant":"t","t\\u0079pe":"a","type":"b","data":1}',
    [["", "A field is given twice. Give each field once."]],
  ],
  [
    '{"tennant":"t","tenant":"t","type":"a","data":1}',
    [["/tennant", '"tennant" is not a field. Did you mean tenant?']],
  ],
  ['"text"', [["", "An event must be a JSON object."]]],
  ["[]", [["", "The array is empty. Send at least one event."]]],
])("%s is rejected", (json, fieldErrors) => {
  expect(placesOf(json)).toEqual(fieldErrors);
});

test("unknown names are rejected, including those with a special meaning in JavaScript", () => {
  for (const name of ["__proto__", "constructor", "0", ""]) {
    expect(placesOf(`{"${name}":1,"tenant":"t","type":"a","data":1}`)).toHaveLength(1);
  }
});

test("every invalid item of an array is reported", () => {
  const good = '{"tenant":"t","type":"a","data":1}';
  expect(
    placesOf(`[${good},5,{"tenant":"t","data":1},${good},{"tenant":"t","type":"a","data":1,"x/y":1}]`).map(
      (place) => (place as string[])[0],
    ),
  ).toEqual(["/1", "/2/type", "/4/x~1y"]);
});

test("an event with more than 100 names is rejected without checking them; with fewer, the first unknown ones are reported", () => {
  const names = (count: number): string =>
    `{${Array.from({ length: count }, (_, n) => `"${"long".repeat(1_000)}${n}":1`).join(",")}}`;
  const [past] = placesOf(names(101)) as string[][];
  expect(past).toEqual([
    "",
    expect.stringMatching(/^An event has more than 100 fields\. Expected one of: tenant, /),
  ]);
  for (const json of [names(100), `[${Array(500).fill(names(100)).join(",")}]`]) {
    const fieldErrors = placesOf(json);
    expect(fieldErrors.length).toBeLessThan(30);
    expect(JSON.stringify(fieldErrors).length).toBeLessThan(10_000);
  }
});

test("a body that is not JSON is rejected, and deep nesting before it is parsed", () => {
  for (const json of ["", "{", '{"a":}', "\ufeff{}", "nul"]) {
    expect(() => read(json)).toThrow(expect.objectContaining({ code: "malformed_json" }));
  }
  expect(() => read("[".repeat(1_000_000))).toThrow(expect.objectContaining({ code: "invalid_body" }));
});
