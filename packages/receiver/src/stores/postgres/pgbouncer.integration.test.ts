// Behind a pooler in transaction mode, on the system's PostgreSQL, which is an older one.
import { afterAll, describe } from "vitest";
import { storeSuite } from "../../../../../tests/receiver-stores/store-suite.ts";
import {
  findProgram,
  findSystemPostgres,
  type RunningServer,
  startPgbouncer,
  startSystemPostgres,
} from "../../../../../tests/support/processes/system-programs.ts";
import { openPool, openPostgres } from "../../../../../tests/support/receiver/postgres-world.ts";

const [postgres, pgbouncer] = [findSystemPostgres(), findProgram("pgbouncer")];

describe.skipIf(postgres === null || pgbouncer === null)("through pgbouncer", () => {
  const started: RunningServer[] = [];
  const open = openPostgres(openPool, async () => {
    const server = await startSystemPostgres(postgres as string);
    started.push(server);
    const pooler = await startPgbouncer(pgbouncer as string, server.connectionString);
    started.push(pooler);
    return { connectionString: pooler.connectionString, drop: async () => {} };
  });
  storeSuite("PostgreSQL by pg", open, { transactions: true }, { index: 0, of: 4 });

  afterAll(async () => {
    for (const server of started.toReversed()) await server.close();
  });
});
