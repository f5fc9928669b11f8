// Converts a CloudEvent to an event. Attributes without a field in our model are kept in `attributes`, so that `cloudEventFrom`
// returns the original.
import { encode } from "../encoding.ts";
import type { EventAttributes } from "../event-attributes.ts";
import { type CloudEvent, type Decoded, malformed } from "./cloud-event.ts";
import { isJsonType, textProblem } from "./content-type.ts";

export interface EventParts {
  /** A valid event type. If the CloudEvent's type is not valid here, the original is in `attributes`. */
  readonly type: string;
  readonly subject: string | undefined;
  /** The deduplication key: `source` and `id`, separated by a space, which no source contains. */
  readonly key: string;
  /** JSON. */
  readonly payload: Uint8Array;
  /** The parsed payload, if it was parsed. */
  readonly value: unknown;
  readonly attributes: EventAttributes;
}

/** Rejects only data that no mode can represent. */
export function eventPartsOf(event: CloudEvent, place = ""): Decoded<EventParts> {
  const { id, source, time, datacontenttype, dataschema, extensions, data } = event;
  const type = ownTypeOf(event.type);
  if (data.kind === "json" && datacontenttype !== undefined && !isJsonType(datacontenttype)) {
    const message = `Data of ${datacontenttype} is not JSON: use a string, or data_base64 for bytes.`;
    return malformed(`${place}/data`, message);
  }
  const unsendable = data.kind === "text" ? textProblem(data.text, datacontenttype) : null;
  if (unsendable !== null) return malformed(`${place}/data`, unsendable);
  const attributes: EventAttributes = {
    id,
    source,
    ...(type !== event.type && { type: event.type }),
    ...(time !== undefined && { time }),
    ...(datacontenttype !== undefined && { datacontenttype }),
    ...(dataschema !== undefined && { dataschema }),
    ...(Object.keys(extensions).length > 0 && { extensions }),
    ...encodingOf(event),
  };
  return {
    ok: true,
    value: { type, subject: event.subject, key: `${source} ${id}`, ...payloadOf(event), attributes },
  };
}

/** In UTF-16 units. Event types have at most 128 characters, so a truncated type is rejected anyway. */
const LONGER_THAN_ANY = 512;

/** `com.Example.Order-Paid` becomes `com.example.order_paid`: event types are lower-case words joined by dots. */
export function ownTypeOf(type: string): string {
  return type
    .slice(0, LONGER_THAN_ANY)
    .toLowerCase()
    .split(".")
    .map((word) => word.replace(/[^a-z0-9_]/gu, "_") || "_")
    .join(".");
}

function encodingOf({ data }: CloudEvent): Pick<EventAttributes, "encoding"> {
  if (data.kind === "json") return {};
  return { encoding: data.kind === "binary" ? "base64" : data.kind };
}

function payloadOf({ data }: CloudEvent): Pick<EventParts, "payload" | "value"> {
  switch (data.kind) {
    case "json":
      return { payload: data.json, value: data.value };
    case "none":
      return written(null);
    case "text":
      return written(data.text);
    case "binary":
      return written(encode("base64", data.bytes));
  }
}

function written(value: unknown): Pick<EventParts, "payload" | "value"> {
  return { payload: new TextEncoder().encode(JSON.stringify(value)), value };
}
