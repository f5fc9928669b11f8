// A stand-in for the client that `prisma generate` creates from your schema, with only the types that the example needs.
export interface PrismaClient {
  payment: { create(args: { data: { event: string; data: Prisma.InputJsonValue } }): PromiseLike<unknown> };
  $executeRaw(query: TemplateStringsArray, ...values: unknown[]): PromiseLike<number>;
  $queryRawUnsafe<Result = unknown>(query: string, ...values: unknown[]): PromiseLike<Result>;
  $transaction<Queries extends PromiseLike<unknown>[]>(queries: [...Queries]): Promise<unknown[]>;
  $transaction<Result>(
    work: (tx: Omit<PrismaClient, "$transaction">) => Promise<Result>,
    options?: { maxWait?: number; timeout?: number },
  ): Promise<Result>;
}

export declare namespace Prisma {
  type InputJsonValue =
    | string
    | number
    | boolean
    | { readonly [Name in string]?: InputJsonValue | null }
    | readonly (InputJsonValue | null)[]
    | { toJSON(): unknown };
}
