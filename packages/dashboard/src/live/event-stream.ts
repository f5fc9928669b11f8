// Server-sent events read by fetch: EventSource cannot send the header by which the server knows its own pages.

export interface StreamMessage {
  readonly id: string | null;
  readonly event: string;
  readonly data: string;
}

/** The whole messages in what has come so far, and the rest that is no message yet. */
export function takeMessages(text: string): {
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
