// Everything a receiver of webhooks needs, on bytes and Web Crypto alone.
export { fetchHandler } from "./adapters/fetch.ts";
export { BodyNotRaw } from "./errors.ts";
export type { Answer, Message, MessageKey, Receives, WebhookEvent, WebhookRequest } from "./model.ts";
export { discord } from "./sources/discord.ts";
export { github } from "./sources/github.ts";
export { hubspot } from "./sources/hubspot.ts";
export { linear } from "./sources/linear.ts";
export { mux } from "./sources/mux.ts";
export { paddle } from "./sources/paddle.ts";
export { shopify } from "./sources/shopify.ts";
export { slack } from "./sources/slack.ts";
export { square } from "./sources/square.ts";
export { stripe } from "./sources/stripe.ts";
export { svix } from "./sources/svix.ts";
export { twilio } from "./sources/twilio.ts";
export { twitch } from "./sources/twitch.ts";
export type { SignedUrlOptions, UnsignedIdOptions, VendorOptions } from "./sources/vendor-source.ts";
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
