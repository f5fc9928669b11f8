// Everything a receiver of webhooks needs, on bytes and Web Crypto alone.
export { fetchHandler } from "./adapters/fetch.ts";
export type { DeadLetters, ReplayResult } from "./dead-letters.ts";
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
} from "./handlers.ts";
export type { FailureInfo, Hooks, MessageInfo, RefusedRequest } from "./hooks.ts";
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
export { discord } from "./sources/discord.ts";
export { github } from "./sources/github.ts";
export { gitlab } from "./sources/gitlab.ts";
export { hubspot } from "./sources/hubspot.ts";
export { linear } from "./sources/linear.ts";
export { mux } from "./sources/mux.ts";
export { paddle } from "./sources/paddle.ts";
export { type PosthornSourceOptions, posthorn } from "./sources/posthorn.ts";
export { shopify } from "./sources/shopify.ts";
export type { CloudEventsOptions, SigningOptions } from "./sources/signing-source.ts";
export { slack } from "./sources/slack.ts";
export { square } from "./sources/square.ts";
export { standardWebhooks } from "./sources/standard-webhooks.ts";
export { stripe } from "./sources/stripe.ts";
export { svix } from "./sources/svix.ts";
export { twilio } from "./sources/twilio.ts";
export { twitch } from "./sources/twitch.ts";
export type { SignedUrlOptions, UnsignedIdOptions } from "./sources/vendor-source.ts";
export { zoom } from "./sources/zoom.ts";
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
export { type MemoryStore, memoryStore } from "./stores/memory.ts";
