// Everything a receiver of webhooks needs, on bytes and Web Crypto alone.
export { fetchHandler } from "./adapters/fetch.ts";
export { BodyNotRaw, EndpointGone, HandlerTimeout, PermanentFailure, RetryLater } from "./errors.ts";
export {
  type CatalogueOf,
  type Context,
  type EventFor,
  type EventSchemas,
  eventTypes,
  type Handler,
  type Pattern,
  type SchemaIssue,
  type SchemaResult,
  type SourceFilter,
  type StandardSchema,
} from "./handle/handlers.ts";
export { readHeader } from "./headers.ts";
export type { FailureInfo, Hooks, MessageInfo, RejectedRequest } from "./hooks/hooks.ts";
export type { DeadLetters, ReplayResult } from "./inbox/dead-letters.ts";
export type {
  Message,
  MessageKey,
  RequestHandler,
  WebhookEvent,
  WebhookRequest,
  WebhookResponse,
} from "./model.ts";
export type { Mode, ReceiverOptions } from "./options.ts";
export { createReceiver, type Receiver } from "./receiver.ts";
export type { ResponseBodies, ResponseBody } from "./respond.ts";
export type { Service } from "./service.ts";
export type * from "./source.ts";
export { type HmacField, type HmacOptions, hmac } from "./sources/hmac.ts";
export { type PosthornSourceOptions, posthorn } from "./sources/posthorn.ts";
export type { CloudEventsOptions, SigningOptions } from "./sources/signing-source.ts";
export { standardWebhooks } from "./sources/standard-webhooks.ts";
export type { SignedUrlOptions, UnsignedIdOptions } from "./sources/vendor-source.ts";
export * from "./sources/vendors.ts";
export type * from "./store.ts";
export { type MemoryStore, memoryStore } from "./stores/memory/memory-store.ts";
