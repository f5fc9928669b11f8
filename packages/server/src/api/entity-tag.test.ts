import { expect, test } from "vitest";
import { hasTag } from "./entity-tag.ts";

const TAG = '"a1"';
const has = (value?: string) => hasTag({ headers: { ...(value && { "if-none-match": value }) } }, TAG);

test("whoever names the tag, alone, among others or as a weak one, has it", () => {
  for (const value of ['"a1"', 'W/"a1"', '"b2", "a1"', '"b2",W/"a1"', "*"]) expect(has(value)).toBe(true);
});

test("another tag, one without its quotes and none are not it", () => {
  for (const value of ['"a2"', "a1", '"*"', undefined]) expect(has(value)).toBe(false);
});
