// The registry of formats.
import { BATCH_TYPE, type Event, type PayloadFormat, type Target } from "../model.ts";
import {
  batchFormat,
  binaryFormat,
  builtBatchFormat,
  structuredFormat,
  thinCloudEventFormat,
} from "./cloudevents.ts";
import type { BatchEncoding, Content, Format } from "./format.ts";
import { dataFormat, envelopeFormat, thinFormat } from "./plain.ts";

const FORMATS: Readonly<Record<PayloadFormat, Format>> = {
  envelope: envelopeFormat,
  data: dataFormat,
  thin: thinFormat,
  cloudevents: structuredFormat,
  "cloudevents-binary": binaryFormat,
  "cloudevents-thin": thinCloudEventFormat,
  "cloudevents-batch": batchFormat,
};

/** A batch keeps the body it was built with, even if the endpoint's format has changed since. */
export function contentOf(event: Event, target: Pick<Target, "format" | "formatContext">): Content {
  const { content } = event.type === BATCH_TYPE ? builtBatchFormat : FORMATS[target.format];
  return content(event, target.formatContext);
}

/** Returns how a format joins events; null if it sends each in a request of its own. */
export function batchEncodingOf(format: PayloadFormat): BatchEncoding | null {
  return FORMATS[format].batch;
}
