// Converts a CloudEvent to an event. Attributes without a field in our model are kept in `attributes`, so that `cloudEventFrom`
// returns the original.
import { encode } from "../encoding.ts";
import type { DataEncoding, EventAttributes } from "../event-attributes.ts";
import { type CloudEvent, type CloudEventData, type Decoded, malformed } from "./cloud-event.ts";
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
  const { encoding, ...stored } = storedData(data);
  const attributes: EventAttributes = {
    id,
    source,
    ...(type !== event.type && { type: event.type }),
    ...(time !== undefined && { time }),
    ...(datacontenttype !== undefined && { datacontenttype }),
    ...(dataschema !== undefined && { dataschema }),
    ...(Object.keys(extensions).length > 0 && { extensions }),
    ...(encoding !== undefined && { encoding }),
  };
  return {
    ok: true,
    value: { type, subject: event.subject, key: `${source} ${id}`, ...stored, attributes },
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

/** JSON stays as it is; everything else becomes a JSON string or null, which `encoding` explains. */
function storedData(
  data: CloudEventData,
): Pick<EventParts, "payload" | "value"> & Pick<EventAttributes, "encoding"> {
  if (data.kind === "json") return { payload: data.json, value: data.value };
  if (data.kind === "binary") return written("base64", encode("base64", data.bytes));
  return written(data.kind, data.kind === "text" ? data.text : null);
}

function written(encoding: DataEncoding, value: string | null) {
  return { encoding, payload: new TextEncoder().encode(JSON.stringify(value)), value };
}
