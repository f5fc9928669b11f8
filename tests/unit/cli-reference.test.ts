// The reference of the command line has every command, and the generated parts of the reference are up to date.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { EXIT_CODES } from "../../packages/server/src/cli/failure.ts";
import { commandsOf, ownOptions, referencePages } from "../../scripts/reference.ts";

const text = readFileSync(new URL("../../docs/reference/cli.md", import.meta.url), "utf8");
const commands = commandsOf();
const sections = new Map(
  text
    .split(/^### /m)
    .slice(1)
    .map((section) => [/^`([^`]+)`/.exec(section)?.[1] ?? "", section]),
);

test.each(referencePages())(
  "the generated parts of $page.md are up to date (npm run docs)",
  ({ current, expected }) => {
    expect(current).toBe(expected);
  },
);

test("has a section for every command, and no other", () => {
  expect(commands.length).toBeGreaterThan(30);
  expect([...sections.keys()].toSorted()).toEqual(commands.map(({ title }) => title).toSorted());
});

test.each(commands)("has a table for the options of $title", ({ title, command }) => {
  expect((sections.get(title) ?? "").includes("| option | |")).toBe(ownOptions(command).length > 0);
});

test("lists every exit code", () => {
  const [, table = ""] = text.split("## Exit codes");
  const listed = [...(table.split("\n## ")[0] ?? "").matchAll(/^\| (\d) \| `(\w+)` \|/gm)];
  expect(listed.map(([, code, name]) => [name, Number(code)])).toEqual(Object.entries(EXIT_CODES));
});
