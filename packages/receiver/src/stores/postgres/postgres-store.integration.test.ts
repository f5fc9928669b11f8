import {
  openDrizzle,
  openKnex,
  openKysely,
  openPool,
  openPostgresWorld,
} from "../../../../../tests/support/receiver/postgres-world.ts";
import { storeSuite } from "../../../../../tests/support/receiver/store-suite.ts";

const features = { transactions: true, processes: true };

storeSuite("PostgreSQL by pg", () => openPostgresWorld(openPool), features);
storeSuite("PostgreSQL by Drizzle", () => openPostgresWorld(openDrizzle), features);
storeSuite("PostgreSQL by Kysely", () => openPostgresWorld(openKysely), features);
storeSuite("PostgreSQL by Knex", () => openPostgresWorld(openKnex), features);
