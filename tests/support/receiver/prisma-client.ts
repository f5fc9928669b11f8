// A Prisma client created with Prisma's runtime like generated code does, because the generator would download a program. Its one
// model is that of the documentation's example; statements in SQL need none.
import { Buffer } from "node:buffer";
import type { PrismaExecutor, PrismaTransactionOptions } from "@posthorn/receiver/postgres";
import { PrismaPg } from "@prisma/adapter-pg";
import * as runtime from "@prisma/client/runtime/client";

export interface TestPrisma extends PrismaExecutor {
  $transaction<Result>(
    work: (tx: PrismaExecutor) => Promise<Result>,
    options?: PrismaTransactionOptions,
  ): Promise<Result>;
  $disconnect(): Promise<void>;
}

const SCHEMA = `
datasource db {
  provider = "postgresql"
}

model Payment {
  event String @id
  data  Json

  @@map("payments")
}
`;

/** It has no type declarations. */
const compiler = "@prisma/client/runtime/query_compiler_fast_bg.postgresql";

/** The types of Node 20 leave it out. */
const { WebAssembly: webAssembly } = globalThis as unknown as {
  WebAssembly: { compile(bytes: Uint8Array): Promise<unknown> };
};

export function createPrismaClient(connectionString: string): TestPrisma {
  const PrismaClient = runtime.getPrismaClient({
    previewFeatures: [],
    clientVersion: "7.10.0",
    engineVersion: "test",
    activeProvider: "postgresql",
    inlineSchema: SCHEMA,
    runtimeDataModel: {
      models: {
        Payment: {
          dbName: "payments",
          schema: null,
          fields: [
            { name: "event", kind: "scalar", type: "String" },
            { name: "data", kind: "scalar", type: "Json" },
          ],
          uniqueFields: [],
          uniqueIndexes: [],
          primaryKey: null,
        },
      },
      enums: {},
      types: {},
    },
    parameterizationSchema: { strings: [], graph: "AAAAAAAAAAA" },
    compilerWasm: {
      getRuntime: () => import(`${compiler}.mjs`),
      async getQueryCompilerWasmModule() {
        const { wasm } = await import(`${compiler}.wasm-base64.mjs`);
        return await webAssembly.compile(Buffer.from(wasm, "base64"));
      },
      importName: "./query_compiler_fast_bg.js",
    },
  } as unknown as Parameters<typeof runtime.getPrismaClient>[0]);
  return new PrismaClient({
    adapter: new PrismaPg({ connectionString, max: 4 }),
  } as never) as unknown as TestPrisma;
}
