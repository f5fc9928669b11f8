// Every format of a delivery's body: Posthorn's own, and CloudEvents 1.0 in their HTTP modes.
import {
  BATCH_CONTENT_TYPE,
  batchBytes,
  type CloudEvent,
  cloudEventFrom,
  dataBytes,
  encodeBatch,
  encodeBinary,
  encodeStructured,
  envelope,
  eventData,
  formatId,
  STRUCTURED_CONTENT_TYPE,
  thinEnvelope,
  withoutData,
} from "@posthorn/wire";
import { BATCH_TYPE, type Event, type FormatContext, type PayloadFormat, type Target } from "../model.ts";
import type { BatchEncoding, Content, Format } from "./format.ts";

const JSON_CONTENT_TYPE = "application/json";

const FORMATS: Readonly<Record<PayloadFormat, Format>> = {
  envelope: {
    content: (event, { envelopeFields }) => ({
      contentType: JSON_CONTENT_TYPE,
      body: envelope(event, envelopeFields),
    }),
  },
  data: { content: bareData },
  thin: {
    content: (event, { envelopeFields }) => ({
      contentType: JSON_CONTENT_TYPE,
      body: thinEnvelope(event, envelopeFields),
    }),
  },
  cloudevents: {
    content: (event, context) => ({ contentType: STRUCTURED_CONTENT_TYPE, body: structured(event, context) }),
  },
  "cloudevents-binary": {
    content: (event, context) => {
      const { headers: all, body } = encodeBinary(cloudEvent(event, context));
      const { "content-type": contentType, ...headers } = all;
      return { contentType, headers, body };
    },
  },
  "cloudevents-thin": {
    content: (event, context) => {
      const dataref = `${context.datarefBase}/event-data/${formatId("evt", event.id)}`;
      const body = encodeStructured(withoutData(cloudEvent(event, context), dataref));
      return { contentType: STRUCTURED_CONTENT_TYPE, body };
    },
  },
  "cloudevents-batch": {
    // for an event that is sent alone; batches are built by the batcher
    content: (event, context) => batchContent(encodeBatch([structured(event, context)])),
    batch: { encodeMember: structured, join: encodeBatch, framingBytes: batchBytes([]) - 1 },
  },
};

/** A batch keeps the body it was built with, even if the endpoint's format has changed since. */
export function contentOf(event: Event, target: Pick<Target, "format" | "formatContext">): Content {
  if (event.type === BATCH_TYPE) return batchContent(event.payload);
  return FORMATS[target.format].content(event, target.formatContext);
}

/** Returns how a format joins events; null if it sends each in its own request. */
export function batchEncodingOf(format: PayloadFormat): BatchEncoding | null {
  return FORMATS[format].batch ?? null;
}

/** Returns the data's bytes with the content type they were published with. */
export function bareData(event: Event): Content {
  if (event.attributes === undefined) return { contentType: JSON_CONTENT_TYPE, body: event.payload };
  const data = eventData(event);
  const fallback = data.kind === "json" ? JSON_CONTENT_TYPE : "application/octet-stream";
  return { contentType: event.attributes.datacontenttype ?? fallback, body: dataBytes(data) };
}

function structured(event: Event, context: FormatContext): Uint8Array {
  return encodeStructured(cloudEvent(event, context));
}

function cloudEvent(event: Event, { source, dataschemaOf }: FormatContext): CloudEvent {
  return cloudEventFrom(event, source, dataschemaOf?.(event));
}

function batchContent(body: Uint8Array): Content {
  return { contentType: BATCH_CONTENT_TYPE, body };
}
