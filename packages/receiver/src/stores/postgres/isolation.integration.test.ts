// The store keeps its contract if every transaction of the pool is REPEATABLE READ or SERIALIZABLE.

import { storeSuite } from "../../../../../tests/receiver-stores/store-suite.ts";
import { openPoolWith, openPostgres } from "../../../../../tests/support/receiver/postgres-world.ts";

for (const [index, level] of ["repeatable read", "serializable"].entries()) {
  const options = `-c default_transaction_isolation=${level.replace(" ", "\\ ")}`;
  const open = openPostgres((connectionString) => openPoolWith(connectionString, { options }));
  storeSuite(`PostgreSQL with ${level} transactions`, open, { transactions: true }, { index, of: 4 });
}
