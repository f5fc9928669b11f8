// CloudEvents 1.0 in their HTTP modes: structured, binary, structured without data, and batched.
import {
  BATCH_CONTENT_TYPE,
  batchBytes,
  cloudEventFrom,
  encodeBatch,
  encodeBinary,
  encodeStructured,
  formatId,
  STRUCTURED_CONTENT_TYPE,
  thinCloudEvent,
} from "@posthorn/wire";
import type { Event, FormatContext } from "../model.ts";
import type { BatchEncoding, Format } from "./format.ts";

export const structuredFormat: Format = {
  content: (event, context) => ({ contentType: STRUCTURED_CONTENT_TYPE, body: structured(event, context) }),
  batch: null,
};

export const binaryFormat: Format = {
  content: (event, { source }) => {
    const { headers: all, body } = encodeBinary(cloudEventFrom(event, source));
    const { "content-type": contentType, ...headers } = all;
    return { contentType, headers, body };
  },
  batch: null,
};

export const thinCloudEventFormat: Format = {
  content: (event, { source, datarefBase }) => ({
    contentType: STRUCTURED_CONTENT_TYPE,
    body: encodeStructured(
      thinCloudEvent(event, source, `${datarefBase}/event-data/${formatId("evt", event.id)}`),
    ),
  }),
  batch: null,
};

export const batchEncoding: BatchEncoding = {
  encodeMember: structured,
  join: encodeBatch,
  framingBytes: batchBytes([]) - 1,
};

/** The content is used for an event that is sent alone; batches are built by the batcher. */
export const batchFormat: Format = {
  content: (event, context) => ({
    contentType: BATCH_CONTENT_TYPE,
    body: encodeBatch([structured(event, context)]),
  }),
  batch: batchEncoding,
};

/** The content of a batch that has been built: its payload is the body. */
export const builtBatchFormat: Format = {
  content: ({ payload }) => ({ contentType: BATCH_CONTENT_TYPE, body: payload }),
  batch: null,
};

function structured(event: Event, { source }: FormatContext): Uint8Array {
  return encodeStructured(cloudEventFrom(event, source));
}
