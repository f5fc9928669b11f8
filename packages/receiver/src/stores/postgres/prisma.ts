// Prisma: the handler's transaction is that of an interactive `prisma.$transaction`.
import {
  type PostgresDatabase,
  type Query,
  type Row,
  runFinalStatement,
  type TransactionEnd,
} from "./database.ts";

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
  return {
    query: queryOn(prisma),
    async transaction<Result>(work: (tx: Tx, query: Query) => Promise<TransactionEnd<Result>>) {
      return (await prisma.$transaction(async (tx) => {
        const query = queryOn(tx);
        return await runFinalStatement(await work(tx, query), query);
      }, options)) as Result;
    },
  };
}

function queryOn(executor: PrismaExecutor): Query {
  return async (text, values) => (await executor.$queryRawUnsafe(text, ...values)) as Row[];
}
