// What the receiver of a delivery gets to read, and the headers that say how: one function for each format. Pure, so that the
// bytes are the same at every attempt.
import {
  BATCH_CONTENT_TYPE,
  cloudEventFrom,
  dataBytes,
  encodeBatch,
  encodeBinary,
  encodeStructured,
  envelope,
  eventData,
  formatId,
  STRUCTURED_CONTENT_TYPE,
  thinCloudEvent,
  thinEnvelope,
} from "@posthorn/wire";
import { BATCH_TYPE, type Event, type PayloadFormat, type Target } from "../model.ts";

export interface Content {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export function contentOf(event: Event, target: Pick<Target, "format" | "cloudEvents">): Content {
  if (event.type === BATCH_TYPE) return { headers: BATCH_HEADERS, body: event.payload };
  return contents[target.format](event, target.cloudEvents);
}

const JSON_HEADERS = { "content-type": "application/json" };
const STRUCTURED_HEADERS = { "content-type": STRUCTURED_CONTENT_TYPE };
const BATCH_HEADERS = { "content-type": BATCH_CONTENT_TYPE };

const contents: Readonly<Record<PayloadFormat, (event: Event, terms: Target["cloudEvents"]) => Content>> = {
  envelope: (event) => ({ headers: JSON_HEADERS, body: envelope(event) }),
  data: (event) =>
    event.attributes === undefined ? { headers: JSON_HEADERS, body: event.payload } : foreignData(event),
  thin: (event) => ({ headers: JSON_HEADERS, body: thinEnvelope(event) }),
  cloudevents: (event, { source }) => ({
    headers: STRUCTURED_HEADERS,
    body: encodeStructured(cloudEventFrom(event, source)),
  }),
  "cloudevents-binary": (event, { source }) => encodeBinary(cloudEventFrom(event, source)),
  "cloudevents-thin": (event, { source, datarefBase }) => ({
    headers: STRUCTURED_HEADERS,
    body: encodeStructured(
      thinCloudEvent(event, source, `${datarefBase}/api/v1/events/${formatId("evt", event.id)}`),
    ),
  }),
  "cloudevents-batch": (event, { source }) => ({
    headers: BATCH_HEADERS,
    body: encodeBatch([encodeStructured(cloudEventFrom(event, source))]),
  }),
};

/** The bytes and the content type it came with. */
function foreignData(event: Event): Content {
  const data = eventData(event);
  const fallback = data.kind === "json" ? "application/json" : "application/octet-stream";
  return {
    headers: { "content-type": event.attributes?.datacontenttype ?? fallback },
    body: dataBytes(data),
  };
}
