// Posthorn's own formats: the envelope around the data, the bare data, and the envelope without data.
import { dataBytes, envelope, eventData, thinEnvelope } from "@posthorn/wire";
import type { Event } from "../model.ts";
import type { Content, Format } from "./format.ts";

const JSON_CONTENT_TYPE = "application/json";

export const envelopeFormat: Format = {
  content: (event) => ({ contentType: JSON_CONTENT_TYPE, body: envelope(event) }),
  batch: null,
};

export const dataFormat: Format = { content: bareData, batch: null };

export const thinFormat: Format = {
  content: (event) => ({ contentType: JSON_CONTENT_TYPE, body: thinEnvelope(event) }),
  batch: null,
};

/** Returns the data's bytes with the content type they were published with. */
export function bareData(event: Event): Content {
  if (event.attributes === undefined) return { contentType: JSON_CONTENT_TYPE, body: event.payload };
  const data = eventData(event);
  const fallback = data.kind === "json" ? JSON_CONTENT_TYPE : "application/octet-stream";
  return { contentType: event.attributes.datacontenttype ?? fallback, body: dataBytes(data) };
}
