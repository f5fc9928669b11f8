// Writes the generated parts of the reference pages (`npm run docs`). A test checks that they are up to date.
import { readFileSync, writeFileSync } from "node:fs";
import { argv } from "node:process";
import { fileURLToPath } from "node:url";
import {
  aboutText,
  DEPLOYMENT_OPTIONS,
  definitionOf,
  endpointSettings,
  longestScheduleMs,
  maxAttempts,
  RETRY_PRESET_NAMES,
  RETRY_PRESETS,
  type RetryPolicy,
  SETTING_NAMES,
  SETTINGS_SCOPE,
  type Setting,
  type Shape,
  scheduleText,
  snakeCase,
} from "@posthorn/wire";
import type { Command, Option } from "commander";
import { errorRegistry } from "posthorn";
import { nullDescription } from "../packages/client/src/contract/endpoints/setting-schemas.ts";
import { metricDefinitions } from "../packages/posthorn/src/observe/metrics.ts";
import { httpErrorRegistry } from "../packages/server/src/api/http-error.ts";
import { createProgram } from "../packages/server/src/cli/program.ts";
import { defaultText, settings } from "../packages/server/src/config/settings.ts";

const pathOf = (page: string): URL => new URL(`../docs/reference/${page}.md`, import.meta.url);

/** Returns the pages with generated parts: their current and their expected text. */
export function referencePages(): {
  readonly page: string;
  readonly current: string;
  readonly expected: string;
}[] {
  const pages = {
    "http-api": withEndpointSettings,
    deliveries: withRetryPresets,
    cli: withCommands,
    settings: withSettings,
    library: withEndpointDefaults,
    errors: withErrors,
    metrics: withMetrics,
  };
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

function withRetryPresets(text: string): string {
  const rows = RETRY_PRESET_NAMES.map((name) => {
    const policy: RetryPolicy = RETRY_PRESETS[name];
    const isDefault = policy === endpointSettings.retryPolicy.default ? " (default)" : "";
    const longest = `${policy.kind === "gaps" ? "" : "at most "}${aboutText(longestScheduleMs(policy))}`;
    return `| \`${name}\`${isDefault} | ${maxAttempts(policy)} | ${scheduleText(policy)} | ${longest} |\n`;
  });
  return withTable(
    text,
    "| preset | attempts | delays between attempts | last attempt after about |\n",
    rows,
  );
}

export interface CliCommand {
  readonly title: string;
  readonly command: Command;
}

/** Returns every command that can be run, with its arguments. */
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

function isRemote(command: Command): boolean {
  return command.options.some(({ long }) => long === "--url");
}

/** Options of all commands that need a server. */
const COMMON = ["--url <url>", "--key <key>", "--json"];
export function ownOptions(command: Command): readonly Option[] {
  return command.options.filter(({ flags }) => !isRemote(command) || !COMMON.includes(flags));
}

const TABLE = /\| option \| \|\n\|---\|---\|\n(?:\| `-.*\n)*/;

/** A command's section begins with a paragraph that is its description, and contains a table of its options. */
function withCommands(text: string): string {
  const commands = new Map(commandsOf().map(({ title, command }) => [title, command]));
  return text
    .split(/^(?=### )/m)
    .map((section) => {
      const command = commands.get(/^### `([^`]+)`/.exec(section)?.[1] ?? "");
      if (command === undefined) return section;
      const own = ownOptions(command);
      const table = own.length === 0 ? "" : `| option | |\n|---|---|\n${own.map(rowOf).join("")}`;
      const described = section.replace(/\n\n.*\n/, () => `\n\n${descriptionOf(command)}\n`);
      return described.replace(TABLE, () => table);
    })
    .join("");
}

function descriptionOf(command: Command): string {
  const text = command.description();
  const sentence = `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
  return isRemote(command) ? `${sentence} It needs a server.` : sentence;
}

function rowOf({ flags, description, argChoices, defaultValue, mandatory }: Option): string {
  const choices =
    argChoices === undefined ? "" : `: ${argChoices.map((choice) => `\`${choice}\``).join(", ")}`;
  const unset = defaultValue === undefined ? "" : ` (default \`${defaultValue}\`)`;
  return `| \`${flags}\` | ${description}${choices}${unset}${mandatory ? "; required" : ""} |\n`;
}

/** A link that follows a setting's description in the page is kept. */
const SETTING_LINK = /^\| `(\w+)` \|.*( See \[.*\]\(.*\)\.) \|$/gm;

function withSettings(text: string): string {
  const links = new Map([...text.matchAll(SETTING_LINK)].map(([, env, link]) => [env, link]));
  const rows = Object.values(settings).map((setting) => {
    const { env, description } = setting;
    return `| \`${env}\` | ${defaultText(setting)} | ${description}${links.get(env) ?? ""} |\n`;
  });
  return withTable(text, "| setting | default | |\n", rows);
}

function withEndpointDefaults(text: string): string {
  const rows = DEPLOYMENT_OPTIONS.map(({ name, setting, field, shape }) => {
    const place = [setting, ...(field === null ? [] : [field])].map(snakeCase).join(".");
    const usual = defaultText(settings[name]);
    return `| \`${name}\` | ${usual.replace(/POSTHORN_\w+/, optionOfVariable)} | \`${place}\`. ${shape.description} |\n`;
  });
  return withTable(text, "| option | default | default of |\n", rows);
}

function optionOfVariable(variable: string): string {
  const found = Object.entries(settings).find(([, { env }]) => env === variable);
  return `\`${found?.[0]}\``;
}

function withErrors(text: string): string {
  const [library = "", http = ""] = text.split(/^(?=## From the HTTP layer)/m);
  const head = "| code | HTTP status | meaning |\n";
  return (
    withTable(library, head, errorRows(errorRegistry)) + withTable(http, head, errorRows(httpErrorRegistry))
  );
}

function errorRows(
  registry: Readonly<Record<string, { readonly status: number; readonly meaning: string }>>,
): string[] {
  return Object.entries(registry).map(
    ([code, { status, meaning }]) => `| \`${code}\` | ${status} | ${meaning} |\n`,
  );
}

function withMetrics(text: string): string {
  const rows = Object.entries(metricDefinitions).map(([name, { type, labels, help }]) => {
    const names = labels.map((label) => `\`${label}\``).join(", ") || "none";
    return `| \`${name}\` | ${type} | ${names} | ${help} |\n`;
  });
  return withTable(text, "| metric | type | labels | |\n", rows);
}

/** Replaces the rows of the table with this head. */
function withTable(text: string, head: string, rows: readonly string[]): string {
  const [before = "", rest = ""] = text.split(head);
  const [rule = ""] = /^.*\n/.exec(rest) ?? [];
  const after = rest.slice(rule.length).replace(/^(?:\|.*\n)*/, "");
  return [before, head, rule, ...rows, after].join("");
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  for (const { page, expected } of referencePages()) writeFileSync(pathOf(page), expected);
}
