// Behind a pooler that gives a connection for one transaction only; on the PostgreSQL of the system, which is an older one.
import { afterAll, describe } from "vitest";
import { openPool, openPostgres } from "../../../../../tests/support/receiver/postgres-world.ts";
import { storeSuite } from "../../../../../tests/support/receiver/store-suite.ts";
import {
  findPgbouncer,
  findSystemPostgres,
  type RunningServer,
  startPgbouncer,
  startSystemPostgres,
} from "../../../../../tests/support/system-postgres.ts";

const [postgres, pgbouncer] = [findSystemPostgres(), findPgbouncer()];

describe.skipIf(postgres === null || pgbouncer === null)("through pgbouncer", () => {
  const features = { transactions: true, processes: false };
  const started: RunningServer[] = [];
  const open = openPostgres(openPool, features, async () => {
    const server = await startSystemPostgres(postgres as string);
    started.push(server);
    const pooler = await startPgbouncer(pgbouncer as string, server.connectionString);
    started.push(pooler);
    return { connectionString: pooler.connectionString, drop: async () => {} };
  });
  storeSuite("PostgreSQL by pg", open, features, { index: 0, of: 4 });

  afterAll(async () => {
    for (const server of started.toReversed()) await server.close();
  });
});
