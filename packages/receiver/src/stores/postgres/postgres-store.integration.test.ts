import { storeSuite } from "../../../../../tests/receiver-stores/store-suite.ts";
import {
  openDrizzle,
  openKnex,
  openKysely,
  openPool,
  openPostgres,
  openPrisma,
} from "../../../../../tests/support/receiver/postgres-world.ts";

storeSuite("PostgreSQL by pg", openPostgres(openPool), { transactions: true, processes: true });

// The other process would use pg anyway.
const features = { transactions: true, isByLibrary: true };
storeSuite("PostgreSQL by Drizzle", openPostgres(openDrizzle), features, { index: 0, of: 4 });
storeSuite("PostgreSQL by Kysely", openPostgres(openKysely), features, { index: 1, of: 4 });
storeSuite("PostgreSQL by Knex", openPostgres(openKnex), features, { index: 2, of: 4 });
storeSuite("PostgreSQL by Prisma", openPostgres(openPrisma), features, { index: 3, of: 4 });
