// `posthorn event-types`: manages the catalogue of event types.
import type { EventTypeDetail, PosthornContract, ResponseOf } from "@posthorn/client";
import { type Command, Option } from "commander";
import { usage } from "../failure.ts";
import { readObject } from "../remote/data.ts";
import { addList, commandsOf, type Param, required, YES } from "../remote/remote.ts";
import { type Column, table } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { clean, jsonText } from "../terminal/text.ts";
import { eventTypeColumns, eventTypeText } from "../views/event-type.ts";

interface OfVersion {
  readonly apiVersion?: string;
}

interface PutFlags extends OfVersion {
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly data?: string;
}

type Imported = ResponseOf<PosthornContract["eventTypes"]["import"]>["data"][number];

const importColumns: readonly Column<Imported>[] = [
  { title: "NAME", value: ({ name }) => name },
  { title: "VERSION", value: ({ api_version }) => api_version },
  { title: "CHANGE", value: ({ change }) => change },
];

const NAME: Param = ["<name>", "name of the type, such as order.paid"];

export function addEventTypes(program: Command, terminal: Terminal): void {
  const eventTypes = program.command("event-types").description("the catalogue of event types");
  const add = commandsOf(eventTypes, terminal);
  const describe = (type: Parameters<typeof eventTypeText>[1]): string => eventTypeText(terminal, type);

  addList(add, ["list", "list event types by name and version"], [], ({ client }) => ({
    fetchPage: (query) => client.eventTypes.list({ query }),
    columns: eventTypeColumns,
    none: "No event types are registered. Register one with `posthorn event-types put <name>`, or several with `posthorn event-types import`.",
  }));
  add<OfVersion>(
    "get",
    "show a type, with its schema and example",
    [NAME, ["--api-version <version>", "version (default: the one registered last)"]],
    async ({ client, print }, [given], { apiVersion }) => {
      const query = { api_version: apiVersion };
      print(await client.eventTypes.get({ name: nameOf(given), query }), describe);
    },
  );
  add<PutFlags>(
    "put",
    "register or replace a version of a type",
    [
      NAME,
      ["--api-version <version>", "version (default 1)"],
      ["--description <text>", "description of the event"],
      ["--deprecated", "mark the type as deprecated"],
      ["--data <json>", "schema, example, redact and other fields as a JSON object, @file, or -"],
    ],
    async ({ client, print }, [given], flags) => {
      const name = nameOf(given);
      print(await client.eventTypes.put({ name, body: await settingsOf(name, flags, terminal) }), describe);
    },
  );
  add<OfVersion>(
    "delete",
    "delete a version of a type, or all; published events are kept",
    [NAME, ["--api-version <version>", "version (default: all)"], YES],
    async ({ client, print, confirm }, [given], { apiVersion }) => {
      const name = nameOf(given);
      const what = apiVersion === undefined ? `all versions of ${name}` : `version ${apiVersion} of ${name}`;
      await confirm(`This deletes ${what}. A strict catalogue then rejects its events.`);
      await client.eventTypes.delete({ name, query: { api_version: apiVersion } });
      const deleted = { name, api_version: apiVersion ?? null, deleted: true };
      print(deleted, () => clean(`Deleted ${what}.`));
    },
  );
  add<{ data: string; dryRun?: boolean }>(
    "import",
    "register the webhooks of an OpenAPI 3.1 document, all or none",
    [required("--data <json>", "the document: JSON, @file, or -"), ["--dry-run", "show what would be done"]],
    async ({ client, print, note }, _args, flags) => {
      const document = await documentIn(flags.data, terminal);
      const body = { document, ...(flags.dryRun && { dry_run: true }) };
      print(await client.eventTypes.import({ body }), ({ data }) => table(terminal, importColumns, data));
      if (flags.dryRun) note("Nothing was changed: this was a dry run.");
    },
  );
  const format = new Option("--format <format>", "OpenAPI 3.1, which can be imported, or AsyncAPI 3.0")
    .choices(["openapi", "asyncapi"])
    .default("openapi");
  const exporting = "print the catalogue as a JSON document";
  add<{ format: "openapi" | "asyncapi" }>("export", exporting, [format], async ({ client }, _args, query) => {
    terminal.print(jsonText(await client.eventTypes.export({ query: { format: query.format } })));
  });
}

/** These names are paths of the API and cannot be types. */
function nameOf(given: string): string {
  if (given !== "import" && given !== "export") return given;
  throw usage(`"${given}" is not an event type. Did you mean \`posthorn event-types ${given}\`?`);
}

/** Accepts the output of `get --json`, without its read-only fields. */
async function settingsOf(name: string, flags: PutFlags, terminal: Terminal) {
  const { apiVersion, description, deprecated, data } = flags;
  const given = data === undefined ? {} : await readObject(data, terminal);
  const {
    name: named = name,
    versions,
    created_at,
    updated_at,
    ...settings
  } = given as Partial<EventTypeDetail>;
  if (named !== name)
    throw usage(`--data is for ${JSON.stringify(named)}, not for ${name}. Use the same type in both places.`);
  return {
    ...settings,
    ...(apiVersion !== undefined && { api_version: apiVersion }),
    ...(description !== undefined && { description }),
    ...(deprecated && { deprecated }),
  };
}

async function documentIn(data: string, terminal: Terminal): Promise<Record<string, unknown>> {
  if (/^@.*\.ya?ml$/i.test(data))
    throw usage(`${data.slice(1)} is YAML; only JSON is supported. Convert it to JSON first.`);
  return await readObject(data, terminal);
}
