// The store keeps its contract if every transaction of the pool is REPEATABLE READ or SERIALIZABLE.
import { openPoolWith, openPostgres } from "../../../../../tests/support/receiver/postgres-world.ts";
import { storeSuite } from "../../../../../tests/support/receiver/store-suite.ts";

const features = { transactions: true, processes: false };

for (const [index, level] of ["repeatable read", "serializable"].entries()) {
  const options = `-c default_transaction_isolation=${level.replace(" ", "\\ ")}`;
  const open = openPostgres((connectionString) => openPoolWith(connectionString, { options }), features);
  storeSuite(`PostgreSQL with ${level} transactions`, open, features, { index, of: 4 });
}
