// A database with endpoints of the tenant acme, and the instances and worker processes of a test on it.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { createPosthorn, type Posthorn, type PosthornOptions } from "posthorn";
import type { TestContext } from "vitest";
import { createMigratedDatabase, createPool } from "../database/postgres.ts";
import { bundleProgram } from "./bundle-program.ts";

type EndpointInput = Parameters<Posthorn["endpoints"]["create"]>[1];
export type WorkerProcess = ReturnType<typeof startWorker>;

/** `database` in the options replaces the database that is created and dropped with the test. */
export async function openWorkerWorld(
  { onTestFinished }: Pick<TestContext, "onTestFinished">,
  endpoints: readonly EndpointInput[],
  { database: given, ...settings }: Partial<PosthornOptions & { database: string }> = {},
) {
  const created = given === undefined ? await createMigratedDatabase() : null;
  if (created !== null) onTestFinished(() => created.drop());
  const database = given ?? (created?.connectionString as string);
  const pool = createPool(database);
  onTestFinished(() => pool.end());
  const options: PosthornOptions = {
    database,
    encryptionKeys: `test:${randomBytes(32).toString("base64")}`,
    allowHttp: true,
    allowCidrs: ["127.0.0.0/8"],
    ...settings,
  };
  const owner = createPosthorn(options);
  await owner.migrate();
  await owner.tenants.upsert("acme", {});
  const secrets: string[] = [];
  for (const endpoint of endpoints) secrets.push((await owner.endpoints.create("acme", endpoint)).secret);
  await owner.stop();

  let workers = 0;
  return {
    database,
    pool,
    options,
    secrets,
    /** Starts an instance in this process. */
    async open(role: "all" | "api", userAgent: string = role): Promise<Posthorn> {
      const hooks = createPosthorn({ ...options, userAgent });
      await hooks.start({ role });
      onTestFinished(() => hooks.stop({ graceMs: 0 }));
      return hooks;
    },
    /** Starts a worker process, named worker-0, worker-1 and so on. `flags` are those of Node. */
    startWorker(flags: readonly string[] = []): WorkerProcess {
      const worker = startWorker({ ...options, userAgent: `worker-${workers}` }, flags);
      workers += 1;
      onTestFinished(() => worker.kill());
      return worker;
    },
  };
}

const program = await bundleProgram(new URL("./worker-child.ts", import.meta.url));
const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Starts worker-child.ts. */
export function startWorker(
  options: PosthornOptions & { readonly userAgent: string },
  flags: readonly string[] = [],
) {
  const child = spawn(process.execPath, [...flags, program, JSON.stringify(options)], {
    cwd: root,
    env: { PATH: process.env.PATH, TZ: process.env.TZ },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit") as Promise<[number | null]>;
  const started = new Promise<void>((resolve, reject) => {
    child.stdout.once("data", () => resolve());
    void ended.then(([code]) => reject(new Error(`${options.userAgent} ended before it started: ${code}`)));
  });
  started.catch(() => {});
  return {
    /** Also its user agent: the receiver sees who sent. */
    name: options.userAgent,
    pid: child.pid as number,
    started,
    /** Sends SIGKILL and waits until the process has ended. */
    async kill(): Promise<void> {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
