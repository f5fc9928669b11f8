// Effects and done marks in one transaction, on a file of SQLite's.

import { receiverSuite } from "../../../../tests/support/receiver/receiver-suite.ts";
import { openSqliteWorld } from "../../../../tests/support/receiver/sqlite-world.ts";

receiverSuite("SQLite", () => openSqliteWorld("libsql"), ["transactional"]);
