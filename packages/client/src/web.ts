// The client for browsers: the same calls and types, without the schemas. Whoever bundles it gives it the table of
// operations, made from the contract when it is built.
export type { ClientOptions } from "./call.ts";
export type { PosthornClient } from "./client.ts";
export { type Callables, clientOf } from "./client-of.ts";
export { PosthornApiError, type Problem } from "./errors.ts";
export { pages } from "./pages.ts";
