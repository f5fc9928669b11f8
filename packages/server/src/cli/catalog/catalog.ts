// `posthorn catalog`: keeps a catalogue in a module of the application, and generates its TypeScript types.
import type { Command } from "commander";
import { failed } from "../failure.ts";
import { commandsOf, type Param, type Remote, YES } from "../remote/remote.ts";
import { type Column, table } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { jsonText } from "../terminal/text.ts";
import type { Difference } from "./differences.ts";

interface ModuleFlags {
  readonly apiVersion?: string;
}

interface PushFlags extends ModuleFlags {
  readonly prune?: boolean;
  readonly dryRun?: boolean;
}

const columns: readonly Column<Difference>[] = [
  { title: "NAME", value: ({ name }) => name },
  { title: "VERSION", value: ({ api_version }) => api_version },
  { title: "CHANGE", value: ({ change }) => change },
  { title: "FIELDS", value: ({ fields }) => fields.join(", ") },
];

const FILE: Param = ["<file>", "module that exports `events`, or JSON of `posthorn catalog pull`"];
const API_VERSION: Param = ["--api-version <version>", "version of types that declare none (default 1)"];

export function addCatalog(program: Command, terminal: Terminal): void {
  const parent = program.command("catalog").description("the catalogue as a module, and its types");
  const add = commandsOf(parent, terminal);
  add<PushFlags>(
    "push",
    "register the types of a module, and replace those that differ",
    [FILE, API_VERSION, ["--prune", "also delete versions that the file lacks"], DRY_RUN, YES],
    push,
  );
  add<ModuleFlags & { exitCode?: boolean }>(
    "diff",
    "show how a module differs from the server's catalogue",
    [FILE, API_VERSION, ["--exit-code", "exit with 1 if there are differences"]],
    async (remote, [file], { apiVersion, exitCode }) => {
      const { differences } = await compare(remote, file, apiVersion);
      remote.print(differences, textOf(terminal));
      if (exitCode && differences.length > 0) throw failed("The catalogues differ.");
    },
  );
  const format: Param = ["--format <format>", "JSON, or a module with event() (default json)", FORMATS];
  add<{ format?: string }>("pull", "print the server's catalogue", [format], async (remote, _args, flags) => {
    const [{ readServer, withoutTimes }, { moduleText }] = await Promise.all([
      import("./server-catalogue.ts"),
      import("./module-text.ts"),
    ]);
    const types = await readServer(remote);
    if (flags.format !== "module") return terminal.print(jsonText({ event_types: types.map(withoutTimes) }));
    const { text, omitted } = moduleText(types);
    terminal.print(text.trimEnd());
    for (const { name, api_version } of omitted)
      remote.note(`${name} ${api_version} is left out: a module has one version of a type.`);
  });
  add("types", "print the TypeScript types of the server's catalogue", [], async (remote) => {
    const [{ readServer }, { typesText }] = await Promise.all([
      import("./server-catalogue.ts"),
      import("./types-text.ts"),
    ]);
    terminal.print(typesText(await readServer(remote)).trimEnd());
  });
}

const FORMATS = ["json", "module"];
const DRY_RUN: Param = ["--dry-run", "show what would be done"];

async function push(remote: Remote, [file]: readonly [string, ...string[]], flags: PushFlags): Promise<void> {
  const { client, terminal, print, note, confirm } = remote;
  const { differences: all, types } = await compare(remote, file, flags.apiVersion);
  const differences = all.filter(({ change }) => flags.prune || change !== "only on the server");
  if (flags.dryRun) {
    print(differences, textOf(terminal));
    return note("Nothing was changed: this was a dry run.");
  }
  const deleted = differences.filter(({ change }) => change === "only on the server").length;
  if (deleted > 0) await confirm(`This deletes ${deleted} versions of types from the server.`);
  let done = 0;
  try {
    for (const { name, api_version, change } of differences) {
      const type = types.get(`${name} ${api_version}`);
      if (change === "only on the server") await client.eventTypes.delete({ name, query: { api_version } });
      else if (type !== undefined) await client.eventTypes.put({ name, body: bodyOf(type) });
      done += 1;
    }
  } catch (error) {
    note(`${done} of ${differences.length} changes were made. Push again to continue.`);
    throw error;
  }
  print(differences, textOf(terminal));
}

async function compare(remote: Remote, file: string, apiVersion: string | undefined) {
  const [{ readCatalogueFile }, { readServer }, { differencesOf, keyOf }] = await Promise.all([
    import("./read-catalogue-file.ts"),
    import("./server-catalogue.ts"),
    import("./differences.ts"),
  ]);
  const { types, withoutSchema } = await readCatalogueFile(file, apiVersion);
  for (const name of withoutSchema)
    remote.note(`${name} has no schema: its validator does not provide a JSON Schema.`);
  return {
    types: new Map(types.map((type) => [keyOf(type), type])),
    differences: differencesOf(types, await readServer(remote)),
  };
}

function textOf(terminal: Terminal): (differences: readonly Difference[]) => string {
  return (differences) =>
    differences.length === 0 ? "The catalogues are the same." : table(terminal, columns, differences);
}

function bodyOf({ name: _, example, ...type }: import("./server-catalogue.ts").CatalogueType) {
  return { ...type, redact: [...type.redact], ...(example !== null && { example }) };
}
