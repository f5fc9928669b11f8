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

// the other process would come by pg anyway
const oneProcess = { transactions: true, processes: false, isByLibrary: true };
storeSuite("PostgreSQL by Drizzle", openPostgres(openDrizzle, oneProcess), oneProcess);
storeSuite("PostgreSQL by Kysely", openPostgres(openKysely, oneProcess), oneProcess);
storeSuite("PostgreSQL by Knex", openPostgres(openKnex, oneProcess), oneProcess);
storeSuite("PostgreSQL by Prisma", openPostgres(openPrisma, oneProcess), oneProcess);
