// Durable outbound webhooks: publish in your own transaction, deliver from your own process.
export {
  type EventDeclaration,
  type EventDeclarations,
  event,
  type StandardSchema,
} from "./catalogue/declared-types.ts";
export type { PosthornOptions } from "./config.ts";
export { type ErrorCode, errorRegistry, type InputProblem, PosthornError } from "./errors.ts";
export type { PublishInput } from "./event/validate.ts";
export type { RetryPolicy } from "./model.ts";
export type { Logger } from "./observe/log.ts";
export { createPosthorn } from "./posthorn.ts";
export type { Health, Posthorn, PosthornFor, Role } from "./public-types.ts";
export type { PublishResult } from "./publish/pending-events.ts";
export type { PublishStatement } from "./publish/publish-in-transaction.ts";
export type { PublishOutcome } from "./publish/publishing.ts";
export type { Transaction } from "./publish/transaction-libraries.ts";
export type { UserPublishInput, UserPublishResult } from "./publish/user-event.ts";
export type { Reencrypted } from "./resources/access/encryption-keys.ts";
export type { SourceOptions } from "./sources/options.ts";
