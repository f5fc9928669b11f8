import { expect, test } from "vitest";
import { hasTag } from "./entity-tag.ts";

const TAG = '"a1"';
const has = (value?: string) => hasTag({ headers: { ...(value && { "if-none-match": value }) } }, TAG);

test("a tag matches alone, in a list and as a weak tag", () => {
  for (const value of ['"a1"', 'W/"a1"', '"b2", "a1"', '"b2",W/"a1"', "*"]) expect(has(value)).toBe(true);
});

test("another tag, a tag without quotes and no tag do not match", () => {
  for (const value of ['"a2"', "a1", '"*"', undefined]) expect(has(value)).toBe(false);
});
