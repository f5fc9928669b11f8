import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { migrations } from "./generated/migrations.ts";

test("the reference lists every hint that posthorn.publish gives", () => {
  const page = readFileSync(new URL("../../../../docs/reference/library.md", import.meta.url), "utf8");
  const [, table = ""] = page.split("| hint |");
  const listed = [...(table.split("\n\n")[0] ?? "").matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1]);
  const given = migrations.flatMap(({ sql }) =>
    [...sql.matchAll(/hint = '(\w+)'/g)].map((match) => match[1]),
  );
  expect(given.length).toBeGreaterThan(5);
  expect(listed.toSorted()).toEqual([...new Set(given)].toSorted());
});
