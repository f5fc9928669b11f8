import {
  openDrizzle,
  openKnex,
  openKysely,
  openPool,
  openPrisma,
  postgresWorlds,
} from "../../../../../tests/support/receiver/postgres-world.ts";
import { storeSuite } from "../../../../../tests/support/receiver/store-suite.ts";

const everything = { transactions: true, processes: true };
storeSuite("PostgreSQL by pg", postgresWorlds(openPool, everything), everything);

// the other process would come by pg anyway
const oneProcess = { transactions: true, processes: false };
storeSuite("PostgreSQL by Drizzle", postgresWorlds(openDrizzle, oneProcess), oneProcess);
storeSuite("PostgreSQL by Kysely", postgresWorlds(openKysely, oneProcess), oneProcess);
storeSuite("PostgreSQL by Knex", postgresWorlds(openKnex, oneProcess), oneProcess);
storeSuite("PostgreSQL by Prisma", postgresWorlds(openPrisma, oneProcess), oneProcess);
