// A CloudEvent as an event of ours: what our model has a place for goes there, everything else into its attributes, so that
// `cloudEventFrom` gives back what came in.
import { encode } from "../encoding.ts";
import type { EventAttributes } from "../event-attributes.ts";
import { type CloudEvent, type Decoded, malformed } from "./cloud-event.ts";
import { isJsonType, textProblem } from "./content-type.ts";

export interface EventParts {
  /** A type of ours; where the CloudEvent's own is none, that is in `attributes`. */
  readonly type: string;
  readonly subject: string | undefined;
  /** What events are known by: `source` and `id`, with a space between, of which no source has one. */
  readonly key: string;
  /** JSON. */
  readonly payload: Uint8Array;
  /** The parsed payload, if it was parsed. */
  readonly value: unknown;
  readonly attributes: EventAttributes;
}

/** Refused is only data that no mode could carry on as what it is. */
export function eventPartsOf(event: CloudEvent, place = ""): Decoded<EventParts> {
  const { id, source, time, datacontenttype, dataschema, extensions, data } = event;
  const type = ownTypeOf(event.type);
  if (data.kind === "json" && datacontenttype !== undefined && !isJsonType(datacontenttype)) {
    const message = `Data of ${datacontenttype} is no JSON: give it as a string, or its bytes as data_base64.`;
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

/** Of characters that may be two units each: no type of ours has more than 128, so what is cut off is refused in any case. */
const LONGER_THAN_ANY = 512;

/** `com.Example.Order-Paid` is `com.example.order_paid` here: endpoints subscribe to lower-case words joined by dots. */
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
