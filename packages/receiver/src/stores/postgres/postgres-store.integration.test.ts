import {
  openDrizzle,
  openKnex,
  openKysely,
  openPool,
  openPostgres,
  openPrisma,
} from "../../../../../tests/support/receiver/postgres-world.ts";
import { storeSuite } from "../../../../../tests/support/receiver/store-suite.ts";

const everything = { transactions: true, processes: true };
storeSuite("PostgreSQL by pg", openPostgres(openPool, everything), everything);

// The other process would use pg anyway.
const oneProcess = { transactions: true, processes: false, isByLibrary: true };
storeSuite("PostgreSQL by Drizzle", openPostgres(openDrizzle, oneProcess), oneProcess, { index: 0, of: 4 });
storeSuite("PostgreSQL by Kysely", openPostgres(openKysely, oneProcess), oneProcess, { index: 1, of: 4 });
storeSuite("PostgreSQL by Knex", openPostgres(openKnex, oneProcess), oneProcess, { index: 2, of: 4 });
storeSuite("PostgreSQL by Prisma", openPostgres(openPrisma, oneProcess), oneProcess, { index: 3, of: 4 });
