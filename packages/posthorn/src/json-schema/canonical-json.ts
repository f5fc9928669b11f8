// Serializes JSON values so that values which JSON Schema considers equal have the same text: sorted names, and numbers
// as JavaScript writes them. Comparing texts in a set is linear; comparing values pairwise is quadratic.
import type { CheckRun } from "./check-run.ts";

export function canonicalJson(value: unknown, run?: CheckRun): string {
  if (typeof value !== "object" || value === null) {
    const text = JSON.stringify(value);
    run?.spend(2 + text.length / 8);
    return text;
  }
  if (Array.isArray(value)) {
    run?.spend(2 + value.length);
    return `[${value.map((item) => canonicalJson(item, run)).join(",")}]`;
  }
  const names = Object.keys(value);
  // includes sorting
  run?.spend(2 + 8 * names.length);
  const members = names
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${canonicalJson((value as Record<string, unknown>)[name], run)}`);
  return `{${members.join(",")}}`;
}
