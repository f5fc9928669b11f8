// `posthorn export`: writes the rows of a list to standard output as NDJSON or CSV.
import type { ExportFormat } from "@posthorn/client";
import { type Command, Option } from "commander";
import {
  commandsOf,
  ENDPOINT_FILTER,
  type Param,
  type Remote,
  TENANT_FILTER,
  TIME_FILTERS,
  type TimeFlags,
  timeFilters,
} from "../remote/remote.ts";
import { writeRows } from "../remote/write-rows.ts";
import type { Terminal } from "../terminal/terminal.ts";

const FORMAT = new Option("--format <format>", "one JSON object per line, or CSV with a header")
  .choices(["ndjson", "csv"])
  .default("ndjson");
const TYPE: Param = ["--type <type>", "only events of this type"];
const REASON: Param = ["--reason <reason>", "only dead letters with this reason"];
const STATE: Param = [
  "--state <state>",
  "only in this state",
  ["pending", "in_flight", "success", "failed", "dead"],
];

interface Flags extends TimeFlags {
  readonly format: ExportFormat;
  readonly tenant?: string;
  readonly endpoint?: string;
  readonly type?: string;
  readonly subject?: string;
  readonly state?: "pending";
  readonly reason?: string;
  readonly action?: string;
}

type Exports = Remote["client"]["exports"];
type Export = (input: { readonly query: object; readonly signal: AbortSignal }) => Promise<Response>;

export function addExport(program: Command, terminal: Terminal): void {
  const parent = program.command("export").description("export rows as NDJSON or CSV");
  const add = commandsOf(parent, terminal, [FORMAT, TENANT_FILTER]);
  const addExportOf = (name: keyof Exports, word: string, about: string, filters: readonly Param[]) =>
    add<Flags>(word, `export ${about}, newest first`, [...filters, ...TIME_FILTERS], (remote, _args, flags) =>
      exportTo(remote, name, flags),
    );
  const subject: Param = ["--subject <subject>", "only events of this subject"];
  addExportOf("events", "events", "events with their data", [TYPE, subject]);
  addExportOf("deliveries", "deliveries", "deliveries", [ENDPOINT_FILTER, STATE, TYPE, REASON]);
  addExportOf("attempts", "attempts", "attempts", [ENDPOINT_FILTER, TYPE]);
  addExportOf("deadLetters", "dead-letters", "dead letters", [ENDPOINT_FILTER, TYPE, REASON]);
  const action: Param = ["--action <operation>", "only this operation, such as endpoints.update"];
  addExportOf("auditLog", "audit-log", "the audit log", [action]);
}

async function exportTo({ client, terminal, now }: Remote, name: keyof Exports, flags: Flags): Promise<void> {
  const { format, tenant, endpoint, type, subject, state, reason, action } = flags;
  const filters = { tenant, endpoint, type, subject, state, reason, action };
  const query = { format, ...filters, ...timeFilters(flags, now()) };
  const read = client.exports[name] as Export;
  await writeRows(terminal, await read({ query, signal: terminal.ending }));
}
