// CloudEvents 1.0.2 over HTTP: parses and serialises events in all three modes. Pure.
export * from "./attributes.ts";
export * from "./batch.ts";
export * from "./binary.ts";
export type {
  AttributeValue,
  CloudEvent,
  CloudEventData,
  CloudEventProblem,
  Decoded,
} from "./cloud-event.ts";
export * from "./content-type.ts";
export * from "./from-event.ts";
export * from "./into-event.ts";
export { decodeStructured, encodeStructured } from "./structured.ts";
export * from "./time.ts";
export { isUriReference } from "./uri-reference.ts";
