// Everything a receiver of webhooks needs, on bytes and Web Crypto alone.
export { fetchHandler } from "./adapters/fetch.ts";
export { BodyNotRaw } from "./errors.ts";
export type { Answer, Message, MessageKey, Receives, WebhookEvent, WebhookRequest } from "./model.ts";
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
