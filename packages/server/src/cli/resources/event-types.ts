// `posthorn event-types`: manages the catalogue of event types.
import type { AnswerOf, EventTypeDetail, PosthornContract } from "@posthorn/client";
import { type Command, Option } from "commander";
import { usage } from "../failure.ts";
import { confirm } from "../remote/confirm.ts";
import { readObject } from "../remote/data.ts";
import {
  listOptions,
  type PageFlags,
  printList,
  printNote,
  printResult,
  type Remote,
  remote,
} from "../remote/remote.ts";
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

type Imported = AnswerOf<PosthornContract["eventTypes"]["import"]>["data"][number];

const importColumns: readonly Column<Imported>[] = [
  { title: "NAME", value: ({ name }) => name },
  { title: "VERSION", value: ({ api_version }) => api_version },
  { title: "CHANGE", value: ({ change }) => change },
];

export function addEventTypes(program: Command, terminal: Terminal): void {
  const eventTypes = program.command("event-types").description("the catalogue of event types");
  const add = (name: string, description: string): Command =>
    eventTypes.command(name).description(description);
  const addOfOne = (name: string, description: string): Command =>
    add(name, description).argument("<name>", "name of the type, such as order.paid");

  const list = add("list", "list event types by name and version");
  remote<PageFlags>(listOptions(list), terminal, async (remote, _args, flags) => {
    const fetchPage = (page: object) => remote.client.eventTypes.list({ query: page });
    await printList(remote, flags, fetchPage, {
      columns: eventTypeColumns,
      none: "No event types are registered. Register one with `posthorn event-types put <name>`, or several with `posthorn event-types import`.",
    });
  });
  const get = addOfOne("get", "show a type, with its schema and example").option(
    "--api-version <version>",
    "version (default: the one registered last)",
  );
  remote<OfVersion>(get, terminal, async (remote, [given = ""], { apiVersion }) => {
    const query = { api_version: apiVersion };
    const found = await remote.client.eventTypes.get({ name: nameOf(given), query });
    printResult(remote, found, (type) => eventTypeText(terminal, type));
  });
  const put = addOfOne("put", "register or replace a version of a type")
    .option("--api-version <version>", "version (default 1)")
    .option("--description <text>", "description of the event")
    .option("--deprecated", "mark the type as deprecated")
    .option("--data <json>", "schema, example, redact and other fields as a JSON object, @file, or -");
  remote<PutFlags>(put, terminal, async (remote, [given = ""], flags) => {
    const name = nameOf(given);
    const body = await settingsOf(name, flags, terminal);
    printResult(remote, await remote.client.eventTypes.put({ name, body }), (type) =>
      eventTypeText(terminal, type),
    );
  });
  const remove = addOfOne("delete", "delete a version of a type, or all; published events are kept")
    .option("--api-version <version>", "version (default: all)")
    .option("--yes", "skip the confirmation");
  remote<OfVersion & { yes?: boolean }>(remove, terminal, deleteType);
  const importing = add("import", "register the webhooks of an OpenAPI 3.1 document, all or none")
    .requiredOption("--data <json>", "the document: JSON, @file, or -")
    .option("--dry-run", "show what would be done");
  remote<{ data: string; dryRun?: boolean }>(importing, terminal, async (remote, _args, flags) => {
    const document = await documentIn(flags.data, terminal);
    const body = { document, ...(flags.dryRun && { dry_run: true }) };
    const done = await remote.client.eventTypes.import({ body });
    printResult(remote, done, ({ data }) => table(terminal, importColumns, data));
    if (flags.dryRun) printNote(remote, "Nothing was changed: this was a dry run.");
  });
  const exporting = add("export", "print the catalogue as a JSON document").addOption(
    new Option("--format <format>", "OpenAPI 3.1, which can be imported, or AsyncAPI 3.0")
      .choices(["openapi", "asyncapi"])
      .default("openapi"),
  );
  remote<{ format: "openapi" | "asyncapi" }>(exporting, terminal, async (remote, _args, { format }) => {
    terminal.print(jsonText(await remote.client.eventTypes.export({ query: { format } })));
  });
}

async function deleteType(
  remote: Remote,
  [given = ""]: readonly string[],
  { apiVersion, yes }: OfVersion & { yes?: boolean },
): Promise<void> {
  const name = nameOf(given);
  const what = apiVersion === undefined ? `all versions of ${name}` : `version ${apiVersion} of ${name}`;
  await confirm(remote.terminal, `This deletes ${what}. A strict catalogue then rejects its events.`, yes);
  await remote.client.eventTypes.delete({ name, query: { api_version: apiVersion } });
  const deleted = { name, api_version: apiVersion ?? null, deleted: true };
  printResult(remote, deleted, () => clean(`Deleted ${what}.`));
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
