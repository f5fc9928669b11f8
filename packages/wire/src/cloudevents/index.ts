// CloudEvents 1.0.2 over HTTP: parses and serialises events in all three modes. Pure.
export {
  type AttributeProblem,
  attributeProblems,
  REQUIRED_ATTRIBUTES,
} from "./attributes.ts";
export { type BatchMember, batchBytes, decodeBatch, encodeBatch } from "./batch.ts";
export {
  BINARY_HEADER_PREFIX,
  type BinaryMessage,
  dataBytes,
  decodeBinary,
  encodeBinary,
  encodeHeader,
  readData,
} from "./binary.ts";
export type {
  AttributeValue,
  CloudEvent,
  CloudEventData,
  CloudEventProblem,
  Decoded,
} from "./cloud-event.ts";
export {
  BATCH_CONTENT_TYPE,
  BATCH_MEDIA_TYPE,
  type CloudEventsMode,
  formatProblem,
  isJsonType,
  mediaTypeOf,
  modeOf,
  STRUCTURED_CONTENT_TYPE,
  STRUCTURED_MEDIA_TYPE,
  textProblem,
} from "./content-type.ts";
export { type CloudEventFields, cloudEventFrom, eventData, thinCloudEvent } from "./from-event.ts";
export { type EventParts, eventPartsOf, ownTypeOf } from "./into-event.ts";
export { decodeStructured, encodeStructured } from "./structured.ts";
export { instantOf, isTime } from "./time.ts";
export { isUriReference } from "./uri-reference.ts";
