// The Redis of the system, run for one test in a temporary folder, reached by a Unix socket alone. What it acknowledged
// is on disk (appendfsync always), so that it can be killed and started again.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { eventually } from "./audit.ts";
import { installPackage } from "./system-package.ts";

export interface RedisServer {
  /** Of the Unix socket. */
  readonly path: string;
  /** kill -9, and waits until it is gone. */
  kill(): Promise<void>;
  /** After `kill`, with what is on disk. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** The program, or null when there is none and none can be had. */
export function findRedisServer(): string | null {
  return presentRedisServer() ?? (installPackage("redis-server") ? presentRedisServer() : null);
}

/** Says why the tests are skipped. */
export const withoutRedis =
  "needs redis-server (7.0 or later), which only root on a Debian can have installed";

function presentRedisServer(): string | null {
  const folders = (process.env.PATH ?? "").split(":");
  return folders.map((folder) => join(folder, "redis-server")).find((path) => existsSync(path)) ?? null;
}

export async function startRedisServer(program: string): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), "posthorn-redis-"));
  const path = join(folder, "redis.sock");
  let server: ChildProcess;
  const start = async () => {
    const persistence = ["--appendonly", "yes", "--appendfsync", "always", "--save", ""];
    const place = ["--port", "0", "--unixsocket", path, "--dir", folder];
    server = spawn(program, [...place, ...persistence], { stdio: "ignore" });
    await eventually("Redis answers", () => answers(path));
  };
  const kill = async () => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, "exit");
    server.kill("SIGKILL");
    await ended;
  };
  await start();
  return {
    path,
    start,
    kill,
    async close() {
      await kill();
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

async function answers(path: string): Promise<boolean> {
  const client = new Redis({ path, lazyConnect: true, retryStrategy: () => null });
  client.on("error", () => {});
  try {
    await client.connect();
    return (await client.ping()) === "PONG";
  } finally {
    client.disconnect();
  }
}
