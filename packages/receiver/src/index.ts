// Everything a receiver of webhooks needs, on bytes and Web Crypto alone.
export { fetchHandler } from "./adapters/fetch.ts";
export { BodyNotRaw, Gone, HandlerTimeout, PermanentFailure, RetryLater } from "./errors.ts";
export {
  type CatalogueOf,
  type Context,
  type EventFor,
  type EventSchemas,
  eventTypes,
  type From,
  type Handler,
  type Pattern,
  type SchemaIssue,
  type SchemaResult,
  type StandardSchema,
} from "./handle/handlers.ts";
export type { FailureInfo, Hooks, MessageInfo, RefusedRequest } from "./hooks/hooks.ts";
export type { DeadLetters, ReplayResult } from "./inbox/dead-letters.ts";
export type { Answer, Message, MessageKey, Receives, WebhookEvent, WebhookRequest } from "./model.ts";
export type { Mode, ReceiverOptions } from "./options.ts";
export { createReceiver, type Receiver } from "./receiver.ts";
export type { Service } from "./service.ts";
export type {
  Authentication,
  AuthenticationTerms,
  Parsed,
  ParsedEvent,
  RawRequest,
  RefusalReason,
  Source,
} from "./source.ts";
export { type PosthornSourceOptions, posthorn } from "./sources/posthorn.ts";
export type { CloudEventsOptions, SigningOptions } from "./sources/signing-source.ts";
export { standardWebhooks } from "./sources/standard-webhooks.ts";
export type { SignedUrlOptions, UnsignedIdOptions } from "./sources/vendor-source.ts";
export {
  discord,
  github,
  gitlab,
  hubspot,
  linear,
  mux,
  paddle,
  shopify,
  slack,
  square,
  stripe,
  svix,
  twilio,
  twitch,
  zoom,
} from "./sources/vendors.ts";
export type {
  AcceptResult,
  AcceptTerms,
  Claim,
  ClaimResult,
  ClaimTerms,
  DeadLetter,
  DeadLetterStore,
  Failure,
  OrderTerms,
  RunResult,
  Store,
  Transactions,
} from "./store.ts";
export { type MemoryStore, memoryStore } from "./stores/memory/memory-store.ts";
