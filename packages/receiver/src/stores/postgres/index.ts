// `@posthorn/receiver/postgres`: the store in PostgreSQL, and adapters for the libraries whose transactions handlers can use.
export type {
  PostgresDatabase,
  Query,
  Row,
  Statement,
  TransactionEnd,
  TransactionWork,
  Value,
} from "./database.ts";
export { drizzleDatabase } from "./drizzle.ts";
export { knexDatabase } from "./knex.ts";
export { kyselyDatabase } from "./kysely.ts";
export { type Migration, migrations } from "./migrations.ts";
export type { ClientOf, PgClient, PgPool } from "./pool-database.ts";
export { type PostgresStoreOptions, postgresStore } from "./postgres-store.ts";
export {
  type PrismaExecutor,
  type PrismaLike,
  type PrismaTransactionOptions,
  prismaDatabase,
} from "./prisma.ts";
