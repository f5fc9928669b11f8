// Writes the parts of the reference pages that follow from code: `npm run docs`. A test compares them.
import { readFileSync, writeFileSync } from "node:fs";
import { argv } from "node:process";
import { fileURLToPath } from "node:url";
import {
  definitionOf,
  SETTING_NAMES,
  SETTINGS_SCOPE,
  type Setting,
  type Shape,
  snakeCase,
} from "@posthorn/wire";
import type { Command, Option } from "commander";
import { nullDescription } from "../packages/client/src/contract/setting-schemas.ts";
import { createProgram } from "../packages/server/src/cli/program.ts";

const pathOf = (page: string): URL => new URL(`../docs/reference/${page}.md`, import.meta.url);

/** Pages with generated parts, and their text as it should be. */
export function referencePages(): {
  readonly page: string;
  readonly current: string;
  readonly expected: string;
}[] {
  const pages = { "http-api": withEndpointSettings, cli: withOptions };
  return Object.entries(pages).map(([page, update]) => {
    const current = readFileSync(pathOf(page), "utf8");
    return { page, current, expected: update(current) };
  });
}

const BEGIN = "<!-- endpoint settings: written by npm run docs -->\n";
const END = "<!-- end of endpoint settings -->\n";

function withEndpointSettings(text: string): string {
  const [before = "", rest = ""] = text.split(BEGIN);
  const [, after = ""] = rest.split(END);
  const rows = SETTING_NAMES.map(
    (name) => `| \`${snakeCase(name)}\` | ${settingText(definitionOf(name))} |\n`,
  );
  return [before, BEGIN, "| setting | |\n|---|---|\n", ...rows, END, after].join("");
}

function settingText(setting: Setting): string {
  const { description, inputNote, isRequired, redacted, see } = setting;
  const fields = setting.kind === "object" ? Object.entries(setting.fields) : [];
  return [
    description,
    ...fields.map(([name, field]) => `\`${snakeCase(name)}\`: ${field.description}${limitsOf(field)}`),
    limitsOf(setting).trim(),
    inputNote,
    isRequired && "Required.",
    nullDescription(setting),
    redacted && `Keys without \`${SETTINGS_SCOPE}\` see \`[redacted]\` in place of its ${redacted}.`,
    see,
  ]
    .filter(Boolean)
    .join(" ");
}

function limitsOf(shape: Shape): string {
  if (shape.kind === "integer") return ` ${shape.min} to ${shape.max}.`;
  if (shape.kind === "text" && shape.maxLength !== undefined)
    return ` At most ${shape.maxLength} characters.`;
  return "";
}

export interface CliCommand {
  readonly title: string;
  readonly command: Command;
}

/** Every command that can be run, with its arguments. */
export function commandsOf(
  command: Command = createProgram({ env: {} } as never),
  path = "posthorn",
): CliCommand[] {
  if (command.commands.length > 0) {
    return command.commands.flatMap((child) => commandsOf(child, `${path} ${child.name()}`));
  }
  const words = command.registeredArguments.map((argument) => {
    const name = argument.name() + (argument.variadic ? "..." : "");
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  return [{ title: [path, ...words].join(" "), command }];
}

export function isRemote(command: Command): boolean {
  return command.options.some(({ long }) => long === "--url");
}

/** Options of every command that needs a server. */
const COMMON = ["--url <url>", "--key <key>", "--json"];
export function ownOptions(command: Command): readonly Option[] {
  return command.options.filter(({ flags }) => !isRemote(command) || !COMMON.includes(flags));
}

const TABLE = /\| option \| \|\n\|---\|---\|\n(?:\| `-.*\n)*/;

/** Every section of a command has a table of its options. */
function withOptions(text: string): string {
  const commands = new Map(commandsOf().map(({ title, command }) => [title, command]));
  return text
    .split(/^(?=### )/m)
    .map((section) => {
      const command = commands.get(/^### `([^`]+)`/.exec(section)?.[1] ?? "");
      if (command === undefined) return section;
      const own = ownOptions(command);
      const table = own.length === 0 ? "" : `| option | |\n|---|---|\n${own.map(rowOf).join("")}`;
      return TABLE.test(section) ? section.replace(TABLE, () => table) : section;
    })
    .join("");
}

function rowOf({ flags, description, argChoices, defaultValue, mandatory }: Option): string {
  const choices =
    argChoices === undefined ? "" : `: ${argChoices.map((choice) => `\`${choice}\``).join(", ")}`;
  const unset = defaultValue === undefined ? "" : ` (default \`${defaultValue}\`)`;
  return `| \`${flags}\` | ${description}${choices}${unset}${mandatory ? "; required" : ""} |\n`;
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  for (const { page, expected } of referencePages()) writeFileSync(pathOf(page), expected);
}
