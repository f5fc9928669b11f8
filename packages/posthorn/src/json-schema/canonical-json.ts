// One text for all JSON that JSON Schema calls equal: names in order, and numbers as JavaScript writes them. Comparing
// texts in a set takes linear time where comparing values with one another takes the square of it.
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
  // sorting included
  run?.spend(2 + 8 * names.length);
  const members = names
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${canonicalJson((value as Record<string, unknown>)[name], run)}`);
  return `{${members.join(",")}}`;
}
