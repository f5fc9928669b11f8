// The Redis of the system, run for one test in a temporary folder, reached by a Unix socket, or on loopback where it is a
// cluster. What it acknowledged is on disk (appendfsync always), so that it can be killed and started again.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { eventually } from "./eventually.ts";
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
    server = spawnRedis(program, folder, ["--port", "0", "--unixsocket", path]);
    await eventually("Redis answers", () => answers({ path }, (client) => client.ping()));
  };
  await start();
  return {
    path,
    start,
    kill: () => kill(server),
    async close() {
      await kill(server);
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

export interface RedisCluster {
  readonly port: number;
  close(): Promise<void>;
}

/** Of one node that has all slots: it refuses scripts that leave theirs like one of many. */
export async function startRedisCluster(program: string): Promise<RedisCluster> {
  const folder = mkdtempSync(join(tmpdir(), "posthorn-redis-"));
  const [port, busPort] = [await freePort(), await freePort()];
  const place = ["--bind", "127.0.0.1", "--port", String(port), "--cluster-port", String(busPort)];
  const server = spawnRedis(program, folder, [
    ...place,
    "--cluster-enabled",
    "yes",
    "--cluster-announce-ip",
    "127.0.0.1",
  ]);
  const at = { host: "127.0.0.1", port };
  await eventually("Redis answers", () => answers(at, (client) => client.ping()));
  await answers(at, (client) => client.cluster("ADDSLOTSRANGE", 0, 16383));
  await eventually("the cluster is up", () =>
    answers(at, async (client) => {
      if (!String(await client.cluster("INFO")).includes("cluster_state:ok")) throw new Error("not yet");
    }),
  );
  return {
    port,
    async close() {
      await kill(server);
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

function spawnRedis(program: string, folder: string, place: readonly string[]): ChildProcess {
  const persistence = ["--appendonly", "yes", "--appendfsync", "always", "--save", ""];
  return spawn(program, [...place, "--dir", folder, ...persistence], { stdio: "ignore" });
}

async function kill(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, "exit");
  server.kill("SIGKILL");
  await ended;
}

async function answers(
  at: { readonly path: string } | { readonly host: string; readonly port: number },
  ask: (client: Redis) => Promise<unknown>,
): Promise<boolean> {
  const client = new Redis({ ...at, lazyConnect: true, retryStrategy: () => null });
  client.on("error", () => {});
  try {
    await client.connect();
    await ask(client);
    return true;
  } finally {
    client.disconnect();
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
