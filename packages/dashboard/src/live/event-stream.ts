// Parses server-sent events read by fetch; EventSource cannot send the posthorn-dashboard header.

export interface StreamMessage {
  readonly id: string | null;
  readonly event: string;
  readonly data: string;
}

/** Returns the complete messages in `text` and the incomplete rest. */
export function parseMessages(text: string): {
  readonly messages: readonly StreamMessage[];
  readonly rest: string;
} {
  const parts = text.split("\n\n");
  const rest = parts.pop() ?? "";
  return { messages: parts.flatMap(readMessage), rest };
}

function readMessage(part: string): readonly StreamMessage[] {
  const fields = new Map<string, string>();
  for (const line of part.split("\n")) {
    const [, name = "", value = ""] = /^([^:]*):? ?(.*)$/.exec(line) ?? [];
    if (name !== "") fields.set(name, value);
  }
  const data = fields.get("data");
  if (data === undefined) return [];
  return [{ id: fields.get("id") ?? null, event: fields.get("event") ?? "message", data }];
}
