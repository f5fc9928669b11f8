import { expect, test } from "vitest";
import { closest, didYouMean } from "./did-you-mean.ts";

test("one letter swapped, left out or added gets a suggestion", () => {
  for (const typo of ["tennat", "tenan", "tenantt", "Tenant", "ten_ant"]) {
    expect(didYouMean(typo, ["tenant", "type"])).toBe("Did you mean tenant?");
  }
});

test("a name that resembles none of the valid ones gets their list, at most 100 of them", () => {
  expect(didYouMean("colour", ["tenant", "type"])).toBe("Expected one of: tenant, type.");
  const many = Array.from({ length: 101 }, (_, n) => `name_${n}`);
  expect(didYouMean("colour", many)).toMatch(/^Expected one of: name_0, .*, name_99 and 1 others\.$/);
});

test("names longer than 128 letters are not compared", () => {
  const known = ["x".repeat(128)];
  expect([closest("x".repeat(127), known), closest("x".repeat(128), known)]).toEqual([known[0], known[0]]);
  expect(closest("x".repeat(129), known)).toBe(null);
});
