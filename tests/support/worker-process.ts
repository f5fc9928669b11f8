// Starts worker-child.ts and listens to what it tells.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { PosthornOptions } from "posthorn";
import { bundleProgram } from "./bundle-program.ts";

export interface WorkerProcess {
  readonly pid: number;
  /** Also its user agent: the receiver sees who sent. */
  readonly name: string;
  readonly started: Promise<void>;
  readonly hasStarted: boolean;
  readonly hasEnded: boolean;
  /** Monotonic time of `kill`. */
  readonly killedAt: number | null;
  /** kill -9, and waits until it is gone. */
  kill(): Promise<void>;
  /** SIGTERM; resolves to the exit code. */
  terminate(): Promise<number | null>;
}

export interface Told {
  readonly level: "warn" | "error";
  readonly message: string;
  readonly fields: Record<string, unknown>;
}

const program = await bundleProgram(new URL("./worker-child.ts", import.meta.url));
const root = fileURLToPath(new URL("../..", import.meta.url));

export function startWorker(
  options: PosthornOptions & { readonly userAgent: string },
  onTold: (told: Told) => void = () => {},
): WorkerProcess {
  const child = spawn(process.execPath, [program, JSON.stringify(options)], {
    cwd: root,
    env: { PATH: process.env.PATH, TZ: process.env.TZ },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit") as Promise<[number | null]>;
  let hasStarted = false;
  let killedAt: number | null = null;
  const started = new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const [what, message, fields] = JSON.parse(line);
      if (what !== "started") {
        onTold({ level: what, message, fields });
        return;
      }
      hasStarted = true;
      resolve();
    });
    void ended.then(([code]) => reject(new Error(`${options.userAgent} ended before it started: ${code}`)));
  });
  started.catch(() => {}); // whoever waits for it is told
  return {
    pid: child.pid as number,
    name: options.userAgent,
    started,
    get hasStarted() {
      return hasStarted;
    },
    get hasEnded() {
      return child.exitCode !== null || child.signalCode !== null;
    },
    get killedAt() {
      return killedAt;
    },
    async kill() {
      killedAt ??= performance.now();
      child.kill("SIGKILL");
      await ended;
    },
    async terminate() {
      child.kill("SIGTERM");
      return (await ended)[0];
    },
  };
}
