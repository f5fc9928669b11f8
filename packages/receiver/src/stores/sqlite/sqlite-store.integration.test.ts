// The SQLite store, held to what every store must do, on each library that is there; and what only it promises.

import { hasNodeSqlite, openSqliteWorld } from "../../../../../tests/support/receiver/sqlite-world.ts";
import { storeSuite } from "../../../../../tests/support/receiver/store-suite.ts";

const features = { transactions: true, processes: true };

storeSuite(
  "SQLite by libsql, which is better-sqlite3 in its methods",
  () => openSqliteWorld("libsql"),
  features,
);
if (hasNodeSqlite) storeSuite("SQLite by node:sqlite", () => openSqliteWorld("node:sqlite"), features);
