// An event of ours as a CloudEvent. One that came in as a CloudEvent goes out as it came: what it brought is never changed, and
// it gains nothing but its place in its subject and its trace. One that was published our way tells all that an envelope does.
import { decode } from "../encoding.ts";
import type { EnvelopeFields } from "../envelope.ts";
import { byName } from "../event-attributes.ts";
import { formatId } from "../ids.ts";
import type { AttributeValue, CloudEvent, CloudEventData } from "./cloud-event.ts";

export interface CloudEventFields extends EnvelopeFields {
  readonly traceparent?: string | undefined;
}

/** `source` is that of events that have none of their own. */
export function cloudEventFrom(event: CloudEventFields, source: string): CloudEvent {
  const { attributes = {}, subject, createdAt } = event;
  const isForeign = attributes.source !== undefined;
  const data = eventData(event);
  const time = attributes.time ?? (isForeign ? undefined : createdAt.toISOString());
  const datacontenttype =
    attributes.datacontenttype ?? (data.kind === "json" ? "application/json" : undefined);
  const { dataschema, extensions = {} } = attributes;
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

/** The same without its data, which is read where `dataref` points; one of its own stays. */
export function thinCloudEvent(event: CloudEventFields, source: string, dataref: string): CloudEvent {
  const whole = cloudEventFrom(event, source);
  const extensions = { dataref, ...whole.extensions };
  return { ...whole, extensions, data: { kind: "none" } };
}

/** What `payload` stands for. */
export function eventData({
  payload,
  attributes,
}: Pick<EnvelopeFields, "payload" | "attributes">): CloudEventData {
  const encoding = attributes?.encoding;
  if (encoding === undefined) return { kind: "json", json: payload };
  if (encoding === "none") return { kind: "none" };
  const text: unknown = JSON.parse(decoder.decode(payload));
  if (typeof text !== "string") throw new TypeError(`Data in ${encoding} is kept as a string.`);
  if (encoding === "text") return { kind: "text", text };
  const bytes = decode("base64", text);
  if (bytes === null) throw new TypeError("The data is not base64.");
  return { kind: "binary", bytes };
}

const decoder = new TextDecoder();

function ours({ tenant, apiVersion }: CloudEventFields): Record<string, AttributeValue> {
  return { tenantid: tenant, apiversion: apiVersion };
}

/** A sequence of its own is not ours to count. */
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
