// The posthorn command as people run it: built, in a process of its own.
import { type ChildProcess, spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { makePostgresFolder } from "./postgres-folder.ts";

export const bin = fileURLToPath(new URL("../../packages/server/bin/posthorn.js", import.meta.url));

export interface Running {
  /** All that was written so far, to both outputs. */
  output(): string;
  /** The first match, as soon as it is there. */
  said(pattern: RegExp): Promise<RegExpExecArray>;
  readonly exited: Promise<number | null>;
  signal(name: NodeJS.Signals): void;
  /** As a terminal does it: to the process and all it started. */
  signalGroup(name: NodeJS.Signals): void;
  stop(): Promise<number | null>;
}

export function posthorn(
  dataDir: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Running {
  return run([process.execPath, bin, ...args], dataDir, dataDir, env);
}

export function run(
  [file = "", ...args]: readonly string[],
  cwd: string,
  dataDir: string,
  env: Record<string, string> = {},
): Running {
  const child: ChildProcess = spawn(file, args, {
    cwd,
    detached: true,
    env: { PATH: process.env.PATH ?? "", PORT: "0", POSTHORN_DATA_DIR: join(dataDir, "data"), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  const listeners = new Set<() => void>();
  const hear = (chunk: Buffer): void => {
    text += chunk;
    for (const listener of listeners) listener();
  };
  child.stdout?.on("data", hear);
  child.stderr?.on("data", hear);
  const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
  const running: Running = {
    output: () => text,
    exited,
    signal: (name) => void child.kill(name),
    signalGroup: (name) => void process.kill(-Number(child.pid), name),
    said: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const match = pattern.exec(text);
          if (!match) return;
          listeners.delete(look);
          resolve(match);
        };
        listeners.add(look);
        look();
        void exited.then(() => reject(new Error(`It ended without saying ${pattern}:\n${text}`)));
      }),
    stop: () => {
      child.kill("SIGTERM");
      return exited;
    },
  };
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) await running.stop();
  });
  return running;
}

export function makeDataDir(): string {
  const folder = makePostgresFolder("posthorn-cli-");
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
