// The posthorn command as people run it: built, in a process of its own.
import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { makePostgresFolder } from "../support/database/own-postgres.ts";
import { Signal } from "../support/eventually.ts";

const bin = fileURLToPath(new URL("../../packages/server/bin/posthorn.js", import.meta.url));

export function posthorn(dataDir: string, args: readonly string[], env: Record<string, string> = {}) {
  return run([process.execPath, bin, ...args], dataDir, dataDir, env);
}

export function run(
  [file = "", ...args]: readonly string[],
  cwd: string,
  dataDir: string,
  env: Record<string, string> = {},
) {
  const child = spawn(file, args, {
    cwd,
    detached: true,
    env: {
      PATH: process.env.PATH ?? "",
      PORT: "0",
      POSTHORN_PROCESSES: "1",
      POSTHORN_DATA_DIR: join(dataDir, "data"),
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const signal = new Signal();
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      output += chunk;
      signal.notify();
    });
  }
  const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
  const stop = (signalName: NodeJS.Signals = "SIGTERM") => {
    child.kill(signalName);
    return exited;
  };
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) await stop();
  });
  return {
    /** Everything written so far, to both outputs. */
    output: () => output,
    /** Resolves when it and everything that shares its output have ended. */
    exited,
    signal: (name: NodeJS.Signals) => void child.kill(name),
    /** Signals the process and everything it started, as a terminal does. */
    signalGroup: (name: NodeJS.Signals) => void process.kill(-Number(child.pid), name),
    /** Resolves with the first match as soon as it is written. */
    printed: (pattern: RegExp): Promise<RegExpExecArray> =>
      Promise.race([
        signal.until(
          () => `it prints ${pattern}:\n${output}`,
          () => pattern.exec(output),
          120_000,
        ),
        exited.then(() => {
          throw new Error(`It ended without printing ${pattern}:\n${output}`);
        }),
      ]),
    stop,
  };
}

export function makeDataDir(): string {
  const folder = makePostgresFolder("posthorn-cli-");
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
