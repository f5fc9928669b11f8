// @posthorn/receiver/sqlite
export type { SqliteConnection, SqliteStatement } from "./connection.ts";
export { type SqliteStoreOptions, sqliteStore } from "./sqlite-store.ts";
