// The reference of the command line lists every command, argument and option as the program has it, and none that is gone.
import { readFileSync } from "node:fs";
import type { Command, Option } from "commander";
import { expect, test } from "vitest";
import { EXIT_CODES } from "../../packages/server/src/cli/failure.ts";
import { createProgram } from "../../packages/server/src/cli/program.ts";

const text = readFileSync(new URL("../../docs/reference/cli.md", import.meta.url), "utf8");
const program = createProgram({ env: {} } as never);
const COMMON = ["--url <url>", "--key <key>", "--json"];

interface Leaf {
  readonly title: string;
  readonly command: Command;
}

const commands = leaves(program, "posthorn");
const sections = new Map(
  text
    .split(/^### /m)
    .slice(1)
    .map((section) => [/^`([^`]+)`/.exec(section)?.[1] ?? "", section]),
);

function leaves(command: Command, path: string): Leaf[] {
  if (command.commands.length > 0) {
    return command.commands.flatMap((child) => leaves(child, `${path} ${child.name()}`));
  }
  const words = command.registeredArguments.map((argument) => {
    const name = argument.name() + (argument.variadic ? "..." : "");
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  return [{ title: [path, ...words].join(" "), command }];
}

test("has a section for every command, and no other", () => {
  expect(commands.length).toBeGreaterThan(30);
  expect([...sections.keys()].toSorted()).toEqual(commands.map(({ title }) => title).toSorted());
});

test.each(commands)("describes $title and its options", ({ title, command }) => {
  const section = sections.get(title) ?? "";
  expect(section.toLowerCase()).toContain(command.description().toLowerCase());
  const isRemote = command.options.some(({ long }) => long === "--url");
  const own = command.options.filter(({ flags }) => !isRemote || !COMMON.includes(flags));
  expect(section.match(/^\| `-.*$/gm) ?? []).toEqual(own.map(rowOf));
  expect(section.includes("needs a server")).toBe(isRemote);
});

/** The row of an option, as the page has it. */
function rowOf({ flags, description, argChoices, defaultValue, mandatory }: Option): string {
  const choices =
    argChoices === undefined ? "" : `: ${argChoices.map((choice) => `\`${choice}\``).join(", ")}`;
  const unset = defaultValue === undefined ? "" : ` (default \`${defaultValue}\`)`;
  return `| \`${flags}\` | ${description}${choices}${unset}${mandatory ? "; has to be given" : ""} |`;
}

test("lists every exit code", () => {
  const [, table = ""] = text.split("## Exit codes");
  const listed = [...(table.split("\n## ")[0] ?? "").matchAll(/^\| (\d) \| `(\w+)` \|/gm)];
  expect(listed.map(([, code, name]) => [name, Number(code)])).toEqual(Object.entries(EXIT_CODES));
});
