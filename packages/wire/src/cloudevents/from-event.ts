// Converts an event to a CloudEvent. An event published as a CloudEvent keeps its attributes unchanged and gains only its
// sequence and trace. Any other event has all the information of an envelope.
import { decode } from "../encoding.ts";
import type { EnvelopeFields } from "../envelope.ts";
import { byName } from "../event-attributes.ts";
import { formatId } from "../ids.ts";
import type { AttributeValue, CloudEvent, CloudEventData } from "./cloud-event.ts";

export interface CloudEventFields extends EnvelopeFields {
  readonly traceparent?: string | undefined;
}

/** `source` and `ownSchema`, the URL of a schema, are for events that were not published as a CloudEvent. */
export function cloudEventFrom(event: CloudEventFields, source: string, ownSchema?: string): CloudEvent {
  const { attributes = {}, subject, createdAt } = event;
  const isForeign = attributes.source !== undefined;
  const data = eventData(event);
  const time = attributes.time ?? (isForeign ? undefined : createdAt.toISOString());
  const datacontenttype =
    attributes.datacontenttype ?? (data.kind === "json" ? "application/json" : undefined);
  const { dataschema = isForeign ? undefined : ownSchema, extensions = {} } = attributes;
  return {
    id: attributes.id ?? formatId("evt", event.id),
    source: attributes.source ?? source,
    type: attributes.type ?? event.type,
    ...(subject !== null && { subject }),
    ...(time !== undefined && { time }),
    ...(datacontenttype !== undefined && { datacontenttype }),
    ...(dataschema !== undefined && { dataschema }),
    extensions: { ...(!isForeign && ours(event)), ...place(event), ...byName(extensions) },
    data,
  };
}

/** The event with `dataref` instead of its data. An existing `dataref` is kept. */
export function withoutData(event: CloudEvent, dataref: string): CloudEvent {
  return { ...event, extensions: { dataref, ...event.extensions }, data: { kind: "none" } };
}

/** Decodes `payload`. */
export function eventData({
  payload,
  attributes,
}: Pick<EnvelopeFields, "payload" | "attributes">): CloudEventData {
  const encoding = attributes?.encoding;
  if (encoding === undefined) return { kind: "json", json: payload };
  if (encoding === "none") return { kind: "none" };
  const text: unknown = JSON.parse(decoder.decode(payload));
  if (typeof text !== "string") throw new TypeError(`Data with encoding ${encoding} must be a string.`);
  if (encoding === "text") return { kind: "text", text };
  const bytes = decode("base64", text);
  if (bytes === null) throw new TypeError("The data is not base64.");
  return { kind: "binary", bytes };
}

const decoder = new TextDecoder();

function ours({ tenant, apiVersion }: CloudEventFields): Record<string, AttributeValue> {
  return { tenantid: tenant, apiversion: apiVersion };
}

/** An existing `sequence` is not replaced. */
function place({
  subject,
  sequence,
  traceparent,
  attributes,
}: CloudEventFields): Record<string, AttributeValue> {
  const { extensions = {} } = attributes ?? {};
  const isCounted = sequence !== null && !("sequence" in extensions) && !("sequencetype" in extensions);
  return {
    ...(subject !== null && { partitionkey: subject }),
    ...(isCounted && { sequence: String(sequence), sequencetype: "Integer" }),
    ...(traceparent !== undefined && { traceparent }),
  };
}
