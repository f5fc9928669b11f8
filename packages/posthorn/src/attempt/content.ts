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
  /** Undefined: there is none to send. */
  readonly contentType: string | undefined;
  /** Of binary mode: the attributes, by names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export function contentOf(event: Event, target: Pick<Target, "format" | "cloudEvents">): Content {
  if (event.type === BATCH_TYPE) return { contentType: BATCH_CONTENT_TYPE, body: event.payload };
  return contents[target.format](event, target.cloudEvents);
}

const JSON_CONTENT_TYPE = "application/json";

const contents: Readonly<Record<PayloadFormat, (event: Event, terms: Target["cloudEvents"]) => Content>> = {
  envelope: (event) => ({ contentType: JSON_CONTENT_TYPE, body: envelope(event) }),
  data: bareData,
  thin: (event) => ({ contentType: JSON_CONTENT_TYPE, body: thinEnvelope(event) }),
  cloudevents: (event, { source }) => ({
    contentType: STRUCTURED_CONTENT_TYPE,
    body: encodeStructured(cloudEventFrom(event, source)),
  }),
  "cloudevents-binary": (event, { source }) => {
    const { headers: all, body } = encodeBinary(cloudEventFrom(event, source));
    const { "content-type": contentType, ...headers } = all;
    return { contentType, headers, body };
  },
  "cloudevents-thin": (event, { source, datarefBase }) => ({
    contentType: STRUCTURED_CONTENT_TYPE,
    body: encodeStructured(
      thinCloudEvent(event, source, `${datarefBase}/event-data/${formatId("evt", event.id)}`),
    ),
  }),
  "cloudevents-batch": (event, { source }) => ({
    contentType: BATCH_CONTENT_TYPE,
    body: encodeBatch([encodeStructured(cloudEventFrom(event, source))]),
  }),
};

/** The bytes and the content type it came with. */
export function bareData(event: Event): Content {
  if (event.attributes === undefined) return { contentType: JSON_CONTENT_TYPE, body: event.payload };
  const data = eventData(event);
  const fallback = data.kind === "json" ? JSON_CONTENT_TYPE : "application/octet-stream";
  return { contentType: event.attributes.datacontenttype ?? fallback, body: dataBytes(data) };
}
