import { expect, test } from "vitest";
import { didYouMean, editDistance } from "./did-you-mean.ts";

test("one letter swapped, left out or added gets a suggestion", () => {
  for (const typo of ["tennat", "tenan", "tenantt", "Tenant", "ten_ant"]) {
    expect(didYouMean(typo, ["tenant", "type"])).toBe("Did you mean tenant?");
  }
});

test("a name that resembles nothing is answered with those there are", () => {
  expect(didYouMean("colour", ["tenant", "type"])).toBe("Known are tenant, type.");
});

test("the distance counts insertions, deletions, replacements and swaps", () => {
  expect([editDistance("", "abc"), editDistance("abcd", "acbd"), editDistance("kitten", "sitting")]).toEqual([
    3, 1, 3,
  ]);
});
