import { expect, test } from "vitest";
import { closest, didYouMean, editDistance, refuseUnknown } from "./did-you-mean.ts";

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

test("an unknown name is refused with its place and a suggestion, a known one is not", () => {
  refuseUnknown("A rotation has no option", { overlapSeconds: 0 }, ["overlapSeconds", "secret"]);
  refuseUnknown("A rotation has no option", {}, ["overlapSeconds", "secret"]);
  const message = 'A rotation has no option "overlap_seconds". Did you mean overlapSeconds?';
  expect(() =>
    refuseUnknown("A rotation has no option", { overlap_seconds: 0 }, ["overlapSeconds"], "invalid_endpoint"),
  ).toThrow(
    expect.objectContaining({
      code: "invalid_endpoint",
      message,
      problems: [{ pointer: "/overlap_seconds", message }],
    }),
  );
});

test("what is no object is refused in place of options", () => {
  for (const given of [null, "api", 5]) {
    expect(() => refuseUnknown("start has no option", given as never, ["role"])).toThrow(
      `start has no option "${given}": pass an object. Known are role.`,
    );
  }
});

test("of many unknown names the first 20 are told, and of many known ones the first 100", () => {
  const many = Array.from({ length: 101 }, (_, n) => `name_${n}`);
  expect(() =>
    refuseUnknown("start has no option", Object.fromEntries(many.map((name) => [name, 1])), ["role"]),
  ).toThrow(expect.objectContaining({ problems: expect.objectContaining({ length: 20 }) }));
  expect(didYouMean("colour", many)).toMatch(/^Known are name_0, .*, name_99 and 1 others\.$/);
});

test("names are compared up to 128 letters, longer ones with nothing", () => {
  const known = ["x".repeat(128)];
  expect([closest("x".repeat(127), known), closest("x".repeat(128), known)]).toEqual([known[0], known[0]]);
  expect(closest("x".repeat(129), known)).toBe(null);
});
