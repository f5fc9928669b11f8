// A CloudEvent independent of its transport mode. Data is JSON, text or bytes, because each is converted differently between
// modes.

export interface CloudEvent {
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly subject?: string | undefined;
  /** RFC 3339, unchanged: `Date` would truncate it to milliseconds. */
  readonly time?: string | undefined;
  readonly datacontenttype?: string | undefined;
  readonly dataschema?: string | undefined;
  readonly extensions: Readonly<Record<string, AttributeValue>>;
  readonly data: CloudEventData;
}

/** In binary mode every value is a string: the JSON number 5 becomes "5". */
export type AttributeValue = string | number | boolean;

export type CloudEventData =
  | { readonly kind: "none" }
  /** `json` is the original text; `value` the parsed value, if it was parsed. */
  | { readonly kind: "json"; readonly json: Uint8Array<ArrayBufferLike>; readonly value?: unknown }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "binary"; readonly bytes: Uint8Array<ArrayBufferLike> };

/** `place` is a JSON pointer into the body, or the name of a header; empty for the whole. */
export interface CloudEventProblem {
  readonly place: string;
  readonly message: string;
}

export type Decoded<Content> =
  | { readonly ok: true; readonly value: Content }
  | { readonly ok: false; readonly problems: readonly CloudEventProblem[] };

/** Required attributes first; serialised in this order. */
export const CORE_ATTRIBUTES = [
  "id",
  "source",
  "type",
  "subject",
  "time",
  "datacontenttype",
  "dataschema",
] as const;

/** Builds an event from validated attributes. */
export function cloudEventOf(
  attributes: Readonly<Record<string, AttributeValue>>,
  data: CloudEventData,
): CloudEvent {
  const { specversion: _, ...given } = attributes;
  const core: Record<string, AttributeValue> = {};
  const extensions: Record<string, AttributeValue> = {};
  for (const [name, value] of Object.entries(given)) (isCore(name) ? core : extensions)[name] = value;
  return { ...core, extensions, data } as unknown as CloudEvent;
}

function isCore(name: string): boolean {
  return (CORE_ATTRIBUTES as readonly string[]).includes(name);
}

export function malformed(place: string, message: string): Extract<Decoded<never>, { ok: false }> {
  return { ok: false, problems: [{ place, message }] };
}
