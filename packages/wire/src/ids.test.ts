import { expect, test } from "vitest";
import { formatId, lowestUuidAt, parseId, uuidTimeMs, uuidv7 } from "./ids.ts";

const UUID = "01890a5d-ac96-774b-bcce-b302099a8057";

test("ids created in one millisecond are distinct and sort in the order of creation", () => {
  const ids = Array.from({ length: 50_000 }, () => uuidv7(1_700_000_000_000));
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.toSorted()).toEqual(ids);
});

test("an id is a canonical UUIDv7 that contains its time", () => {
  for (const ms of [0, 1, 1_645_557_742_000, 2 ** 48 - 1]) {
    const id = uuidv7(ms);
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(uuidTimeMs(id)).toBe(ms);
  }
});

test("an id has the given time, even after a later one", () => {
  uuidv7(2_000);
  expect(uuidTimeMs(uuidv7(1_000))).toBe(1_000);
});

test("a time that is not a whole number of 48 bits is rejected", () => {
  for (const ms of [-1, 2 ** 48, 1.5, Number.NaN]) expect(() => uuidv7(ms)).toThrow(RangeError);
  expect(() => lowestUuidAt(-1)).toThrow(RangeError);
});

test("the lower bound of a millisecond lies between its ids and those before", () => {
  const ms = 1_700_000_000_000;
  expect(lowestUuidAt(ms)).toBe("018bcfe5-6800-0000-0000-000000000000");
  expect(lowestUuidAt(ms) <= uuidv7(ms)).toBe(true);
  expect(lowestUuidAt(ms) > uuidv7(ms - 1)).toBe(true);
});

test("a public id is the kind and the uuid, and reads back", () => {
  for (const kind of ["evt", "dlv", "ep"] as const) {
    expect(parseId(kind, formatId(kind, UUID))).toBe(UUID);
  }
  expect(formatId("evt", UUID)).toBe(`evt_${UUID}`);
});

test.each([
  ["another kind", `dlv_${UUID}`],
  ["no prefix", UUID],
  ["an upper-case prefix", `EVT_${UUID}`],
  ["upper-case digits", `evt_${UUID.toUpperCase()}`],
  ["no hyphens", `evt_${UUID.replaceAll("-", "")}`],
  ["braces", `evt_{${UUID}}`],
  ["a space before", ` evt_${UUID}`],
  ["a line feed after", `evt_${UUID}\n`],
  ["a digit too many", `evt_${UUID}0`],
  ["a digit too few", `evt_${UUID.slice(0, -1)}`],
  ["a letter that is no digit", `evt_${UUID.slice(0, -1)}g`],
  ["nothing", ""],
])("an id with %s is not parsed", (_, text) => {
  expect(parseId("evt", text)).toBeNull();
});
