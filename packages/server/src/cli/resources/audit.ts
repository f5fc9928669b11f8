// `posthorn audit`: lists changes and who made them.
import type { AuditEntry } from "@posthorn/client";
import type { Command } from "commander";
import { addList, commandsOf, TENANT_FILTER, TIME_FILTERS } from "../remote/remote.ts";
import type { Column } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { timeText } from "../terminal/text.ts";

const columns: readonly Column<AuditEntry>[] = [
  { title: "AT", value: ({ at }) => timeText(at) },
  { title: "ACTOR", value: actorText },
  { title: "TENANT", value: ({ tenant }) => tenant ?? "all", canShrink: true },
  { title: "ACTION", value: ({ action }) => action },
  {
    title: "RESULT",
    value: resultOf,
    tone: ({ status }) => (status === null ? "warning" : status < 400 ? "good" : "bad"),
  },
  { title: "TARGET", value: targetText, canShrink: true },
  { title: "CHANGES", value: changesOf, canShrink: true },
];

export function addAudit(program: Command, terminal: Terminal): void {
  const add = commandsOf(program.command("audit").description("the audit log"), terminal);
  const filters = [
    TENANT_FILTER,
    ["--action <operation>", "only of this operation, such as endpoints.update"],
    ...TIME_FILTERS,
  ] as const;
  addList(add, ["list", "list changes, newest first"], filters, ({ client }) => ({
    fetchPage: (query) => client.auditLog.list({ query }),
    columns,
    none: "No entries found.",
  }));
}

/** `key 4kQ9d0Zx1B`, `portal link 7hT2c8Wq3D`, `library billing`, or `ann (4kQ9d0Zx1B)` with the id of the token or link. */
function actorText({ actor: { kind, id, user } }: AuditEntry): string {
  if (kind === "admin") return "admin key";
  if (kind === "operator" || kind === "system") return kind;
  if (kind === "library") return id === null ? "library" : `library ${id}`;
  if (user !== null) return `${user} (${id})`;
  return kind === "portal" ? `portal link ${id}` : `key ${id}`;
}

function resultOf({ status, error_code }: AuditEntry): string {
  if (status === null) return "unknown";
  return error_code === null ? String(status) : `${status} ${error_code}`;
}

/** The tenant has its own column, and `created` is shown only if it is not one of the other ids. */
function targetText({ target: { tenant, created, ...ids } }: AuditEntry): string {
  const isNew = created !== undefined && ![tenant, ...Object.values(ids)].includes(created);
  return Object.entries(isNew ? { ...ids, created } : ids)
    .map(([name, id]) => `${name} ${id}`)
    .join(", ");
}

/** Longer changes, such as an import, are cut; `--json` contains all of them. */
const CHANGES_LENGTH = 200;

/** Returns null if the request had no body. */
function changesOf({ changes }: AuditEntry): string | null {
  const text = JSON.stringify(changes ?? {});
  if (text === "{}") return null;
  return text.length > CHANGES_LENGTH ? `${text.slice(0, CHANGES_LENGTH)}…` : text;
}
