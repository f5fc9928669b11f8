// Terminal output of an event type.
import type { EventType, EventTypeDetail } from "@posthorn/client";
import { type Column, facts } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { jsonText, timeText, toned } from "../terminal/text.ts";

export const eventTypeColumns: readonly Column<EventType>[] = [
  { title: "NAME", value: ({ name }) => name },
  { title: "VERSION", value: ({ api_version }) => api_version },
  {
    title: "DEPRECATED",
    value: ({ deprecated }) => (deprecated ? "yes" : "no"),
    tone: ({ deprecated }) => (deprecated ? "warning" : null),
  },
  { title: "SCHEMA", value: ({ schema }) => (schema === null ? "none" : "yes") },
  { title: "REDACTED", value: ({ redact }) => redact.join(" "), canShrink: true },
  { title: "DESCRIPTION", value: ({ description }) => description, canShrink: true },
];

/** A type that was just saved has no list of versions. */
export function eventTypeText(
  terminal: Terminal,
  type: EventType & Partial<Pick<EventTypeDetail, "versions">>,
): string {
  const others = type.versions?.filter((version) => version !== type.api_version) ?? [];
  return [
    facts(terminal, [
      ["name", type.name],
      ["version", type.api_version],
      ...(others.length === 0 ? [] : [["other versions", others.join(" ")] as const]),
      ["description", type.description],
      ["deprecated", type.deprecated ? "yes" : "no"],
      ["redacted", type.redact.join(" ")],
      ["created", timeText(type.created_at)],
      ["updated", timeText(type.updated_at)],
    ]),
    ...document(terminal, "schema", type.schema),
    ...document(terminal, "example", type.example),
  ].join("\n");
}

function document(terminal: Terminal, title: string, value: unknown): string[] {
  return value === null ? [] : ["", toned(terminal, "quiet", title), jsonText(value)];
}
