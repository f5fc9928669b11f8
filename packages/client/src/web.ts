// The client for browsers, without the schemas. The bundle passes in the table of operations, which is generated from the
// contract at build time.
export type { ClientOptions } from "./call.ts";
export type { PosthornClient } from "./client.ts";
export { type Callables, clientOf } from "./client-of.ts";
export { PosthornApiError, type Problem } from "./errors.ts";
export { pages } from "./pages.ts";
