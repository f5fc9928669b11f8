// Prisma: the handler's transaction is that of an interactive `prisma.$transaction`.
import { databaseOf, type PostgresDatabase, type Query, type Row } from "./database.ts";

/** The used part of a Prisma client. */
export interface PrismaLike<Tx extends PrismaExecutor> extends PrismaExecutor {
  $transaction(work: (tx: Tx) => Promise<unknown>, options?: PrismaTransactionOptions): Promise<unknown>;
}

export interface PrismaExecutor {
  $queryRawUnsafe(text: string, ...values: unknown[]): PromiseLike<unknown>;
}

/** Prisma's own options. */
export interface PrismaTransactionOptions {
  /** Prisma rolls back a handler that takes longer. Default 5,000. */
  readonly timeout?: number;
  /** How long to wait for a connection. Default 2,000. */
  readonly maxWait?: number;
}

export function prismaDatabase<Tx extends PrismaExecutor>(
  prisma: PrismaLike<Tx>,
  options: PrismaTransactionOptions = {},
): PostgresDatabase<Tx> {
  return databaseOf<PrismaExecutor, Tx>(prisma, queryOn, (work) => prisma.$transaction(work, options));
}

function queryOn(executor: PrismaExecutor): Query {
  return async (text, values) => (await executor.$queryRawUnsafe(text, ...values)) as Row[];
}
