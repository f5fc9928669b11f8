// A Posthorn instance for tests, on a real PostgreSQL, with a clock that tests move.
import { randomBytes } from "node:crypto";
import type { Resolve } from "../attempt/guard/resolve-name.ts";
import { type PosthornOptions, resolveConfig } from "../config.ts";
import { createInstance, type Instance } from "../posthorn.ts";
import { ensurePartitions } from "../storage/queries/partitions.ts";
import { isAnythingDue } from "../storage/queries/queue/due.ts";
import { advanceTestClock, installTestClock } from "../storage/queries/test-clock.ts";
import { resolveAnyName } from "./resolve-any-name.ts";

export interface TestInstance {
  readonly hooks: Instance;
  /** Advances the clock of the database and of everything that uses it. Nothing is sent before `settle`. */
  advance(ms: number): Promise<void>;
  /** Processes everything that is due, and resolves when nothing is left. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

export type TestInstanceOptions = Omit<PosthornOptions, "database"> & {
  readonly database: PosthornOptions["database"];
  /** False: publishes without delivering. Default true. */
  readonly started?: boolean;
  /** Resolves the host names of new endpoints. Default: every name has a public address. Attempts query DNS. */
  readonly resolve?: Resolve;
};

const LOOPBACK = ["127.0.0.0/8"];

/** Migrates an empty database and starts an instance on it. Receivers on loopback are allowed. */
export async function createTestInstance({
  started = true,
  resolve = resolveAnyName,
  ...options
}: TestInstanceOptions): Promise<TestInstance> {
  const hooks = createInstance(
    resolveConfig({
      encryptionKeys: `test:${randomBytes(32).toString("base64")}`,
      allowHttp: true,
      allowCidrs: LOOPBACK,
      ...options,
      ...(options.websub && { websub: { allowCidrs: LOOPBACK, ...options.websub } }),
    }),
    { resolve },
  );
  await hooks.migrate();
  await installTestClock(hooks.db);
  if (started) await hooks.start();
  return {
    hooks,
    advance: async (ms) => {
      await advanceTestClock(hooks.db, ms);
      await ensurePartitions(hooks.db);
      await hooks.engine?.worker.renew();
    },
    settle: async () => {
      do {
        await hooks.engine?.runAllDue();
      } while (hooks.engine?.isSending !== false && (await isAnythingDue(hooks.db)));
    },
    close: () => hooks.stop(),
  };
}
