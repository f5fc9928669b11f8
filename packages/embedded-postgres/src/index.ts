// A PostgreSQL server that runs from npm packages, shared by every process that opens the same data directory.
export { EmbeddedPostgresError, type EmbeddedPostgresErrorCode } from "./error.ts";
export { type KeepOptions, keepEmbeddedPostgres } from "./keep.ts";
export { type EmbeddedPostgres, type EmbeddedPostgresOptions, openEmbeddedPostgres } from "./open.ts";
export { type OnProgress, withProgress } from "./progress.ts";
