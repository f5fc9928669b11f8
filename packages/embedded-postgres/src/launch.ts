// Starts the server process of a cluster and waits until it accepts connections (25 ms; longer during recovery).
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Binaries } from "./binaries.ts";
import { explain, serverEnvironment } from "./cluster.ts";
import { EmbeddedPostgresError, useOwnDatabase } from "./error.ts";
import type { Home } from "./home.ts";
import { isReady, type Postmaster, previousSocketFolder } from "./postmaster.ts";
import { createSocketFolder, port } from "./socket-folder.ts";

export type Settings = Readonly<Record<string, string>>;

const pollMs = 5;
/** How long to wait for backends that outlive a killed postmaster. They end at their next wait. */
const orphanTimeoutMs = 30_000;

export async function launch(binaries: Binaries, home: Home, extra: Settings): Promise<Postmaster> {
  const deadline = performance.now() + orphanTimeoutMs;
  const args = serverArguments(home, createSocketFolder(home, previousSocketFolder(home)), extra);
  for (;;) {
    const startedAt = Date.now();
    const started = await start(binaries, home, args);
    if (started) return started;
    const log = logSince(home, startedAt);
    const hasOrphans = log.includes("pre-existing shared memory block");
    if (!hasOrphans || performance.now() > deadline) throw startFailed(home, log);
    await delay(100);
  }
}

/** Returns null if the process ended before it was ready. */
async function start(binaries: Binaries, home: Home, args: string[]): Promise<Postmaster | null> {
  const child = await spawnServer(binaries, home, args);
  while (child.exitCode === null && child.signalCode === null) {
    const ready = isReady(home, Number(child.pid));
    if (ready) return ready;
    await delay(pollMs);
  }
  return null;
}

async function spawnServer(binaries: Binaries, home: Home, args: string[]): Promise<ChildProcess> {
  const output = openSync(join(home.log, startupLog), "w");
  try {
    const child = spawn(binaries.postgres, args, {
      cwd: home.dir,
      env: serverEnvironment(),
      // In its own session, so that Ctrl-C in the terminal does not end the server: other processes may use it, and this
      // one still has to settle deliveries in flight.
      detached: true,
      stdio: ["ignore", output, output],
      ...home.account,
    });
    child.unref();
    await once(child, "spawn");
    return child;
  } catch (error) {
    throw explain(error, home);
  } finally {
    closeSync(output);
  }
}

function serverArguments(home: Home, socketDir: string, extra: Settings): string[] {
  const settings: Settings = {
    listen_addresses: "",
    unix_socket_directories: `"${socketDir.replaceAll('"', '""')}"`,
    unix_socket_permissions: "0700",
    port: String(port),
    max_connections: "100",
    shared_buffers: "128MB",
    // 10,000 deliveries per second write 20 MB of WAL, which fill 1 GB in 50 seconds. After every checkpoint the first
    // change of a page logs the whole page: 2,600 to 5,200 bytes per delivery instead of 2,000. Crash recovery reads at
    // most this much.
    max_wal_size: "4GB",
    checkpoint_timeout: "15min",
    max_logical_replication_workers: "0", // saves one idle process
    timezone: "UTC",
    ...logging(home),
    ...extra,
  };
  return [
    "-D",
    home.cluster,
    ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
  ];
}

/**
 * At most seven files, one per weekday, each truncated before it is reused. Level `log` excludes failed statements,
 * which would write payloads to the log.
 */
function logging(home: Home): Settings {
  return {
    logging_collector: "on",
    log_directory: home.log,
    log_filename: "postgres-%a.log",
    log_truncate_on_rotation: "on",
    log_rotation_age: "1d",
    log_rotation_size: "0",
    log_min_messages: "log",
    log_checkpoints: "off",
    log_timezone: "UTC",
  };
}

/** Output of PostgreSQL before its log collector runs. Overwritten by every start. */
const startupLog = "startup.log";

function logSince(home: Home, startedAt: number): string {
  return readdirSync(home.log)
    .map((name) => join(home.log, name))
    .filter((path) => statSync(path).mtimeMs >= startedAt - 1000)
    .map((path) => readFileSync(path, "utf8").trim().split("\n").slice(-20).join("\n"))
    .join("\n");
}

function startFailed(home: Home, log: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    "start_failed",
    `The embedded PostgreSQL in ${home.dir} did not start. Its log:\n${log}\n${useOwnDatabase}`,
  );
}
