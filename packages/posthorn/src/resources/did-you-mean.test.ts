import { expect, test } from "vitest";
import { didYouMean } from "./did-you-mean.ts";

test.each([
  ["is_active", "isActive"],
  ["timeout", "timeoutMs"],
  ["evnets", "events"],
  ["URL", "url"],
])("%s is answered with %s", (name, meant) => {
  const known = ["url", "events", "isActive", "timeoutMs", "headers"];
  expect(didYouMean(name, known)).toBe(` Did you mean "${meant}"?`);
});

test("nothing is suggested when nothing is near", () => {
  expect(didYouMean("colour", ["url", "events"])).toBe("");
});
