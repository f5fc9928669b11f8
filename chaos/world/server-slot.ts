// A slot for one `posthorn serve` process, which is killed and started again. Each process has its own name (`w1.3`),
// which is also its user agent.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { monotonicMs } from "../../benchmarks/system/monotonic.ts";
import type { ChaosProxy } from "../../tests/support/database/chaos-proxy.ts";
import type { Exit } from "../evidence/evidence.ts";
import type { Edit } from "../plant.ts";

/** Returns true when the time is over. */
export type Deadline = () => boolean;

export interface SlotOptions {
  readonly name: string;
  /** A worker also serves the API, so it sends its own events at once. */
  readonly role: "api" | "worker";
  readonly port: number;
  /** The proxy between it and the database, if any. */
  readonly proxy: ChaosProxy | null;
  /** Server settings as environment variables. */
  readonly settings: Readonly<Record<string, string>>;
  readonly scratchDir: string;
  readonly edits: readonly Edit[];
  /** The initial error of its clock. */
  readonly clockSkewMs: number;
  /** Host names and the addresses they resolve to. */
  readonly names: Readonly<Record<string, string>>;
  readonly onExit: (exit: Exit) => void;
  /** Called with lines on standard error that no process should write. */
  readonly onUnexpectedOutput: (line: string) => void;
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const preload = fileURLToPath(new URL("../child/preload.mjs", import.meta.url));
const command = fileURLToPath(new URL("../../packages/server/src/cli/main.ts", import.meta.url));

/** How the command reports an unexpected error. */
const bug = "Posthorn failed unexpectedly";

interface ServerProcess {
  readonly name: string;
  readonly child: ChildProcess;
  readonly gone: Promise<void>;
  isReady: boolean;
  planted: number;
  signalSent: Exit["signalSent"];
  /** Reported only for unexpected errors if the start failed, because the database may have been unavailable. */
  readonly unexpectedOutput: string[];
}

export class ServerSlot {
  readonly role: SlotOptions["role"];
  readonly proxy: ChaosProxy | null;
  readonly url: string;
  readonly #options: SlotOptions;
  #process: ServerProcess | null = null;
  #generation = 0;
  #isClosed = false;
  #onReady: (() => void)[] = [];

  constructor(options: SlotOptions) {
    this.#options = options;
    this.role = options.role;
    this.proxy = options.proxy;
    this.url = `http://127.0.0.1:${options.port}`;
  }

  /** The name of the process if it is ready and was sent no signal, else null. */
  get liveName(): string | null {
    return this.#process?.isReady && this.#process.signalSent === null ? this.#process.name : null;
  }

  start(): void {
    if (this.#process !== null || this.#isClosed) return;
    this.#generation += 1;
    const name = `${this.#options.name}.${this.#generation}`;
    const child = this.#spawn(name);
    const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    const started: ServerProcess = {
      name,
      child,
      gone,
      isReady: false,
      planted: 0,
      signalSent: null,
      unexpectedOutput: [],
    };
    this.#process = started;
    createInterface({ input: child.stderr as NodeJS.ReadableStream }).on("line", (line) =>
      this.#readLine(started, line),
    );
    child.once("exit", (code, signal) => {
      this.#process = null;
      const { isReady, signalSent, unexpectedOutput } = started;
      if (unexpectedOutput.some((line) => line.includes(bug)))
        for (const line of unexpectedOutput) this.#options.onUnexpectedOutput(line);
      this.#options.onExit({ name, at: monotonicMs(), code, signal, wasReady: isReady, signalSent });
      // like a supervisor, restarts a process that could not start because the database was unavailable
      if (signalSent === null) setTimeout(() => this.start(), 200);
    });
  }

  async untilReady(isOver: Deadline): Promise<void> {
    if (this.liveName !== null) return;
    await new Promise<void>((resolve, reject) => {
      const timer = setInterval(() => {
        if (isOver()) reject(new Error(`${this.#options.name} was not ready in time`));
      }, 1_000);
      this.#onReady.push(() => {
        clearInterval(timer);
        resolve();
      });
    });
  }

  /** Resolves when the process has exited. */
  async end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const started = this.#process;
    if (started === null) return;
    started.signalSent = { signal, at: monotonicMs() };
    started.child.kill(signal);
    await started.gone;
  }

  /** Returns the memory of the process, which must be ready. */
  async rssBytes(): Promise<number> {
    const { child } = this.#process as ServerProcess;
    child.send({ ask: "memory" });
    const [{ rssBytes }] = (await once(child, "message")) as [{ rssBytes: number }];
    return rssBytes;
  }

  /** Moves the wall clock of the process; the returned function moves it back. */
  stepClock(byMs: number): () => void {
    const child = this.#process?.child;
    const step = (stepMs: number): void => {
      if (child?.connected) child.send({ ask: "step clock", stepMs }, () => {});
    };
    step(byMs);
    return () => step(-byMs);
  }

  freeze(): void {
    this.#process?.child.kill("SIGSTOP");
  }

  thaw(): void {
    this.#process?.child.kill("SIGCONT");
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.end("SIGKILL");
  }

  #spawn(name: string): ChildProcess {
    const { role, port, settings, scratchDir, edits, clockSkewMs, names } = this.#options;
    const dataDir = join(scratchDir, this.#options.name);
    mkdirSync(dataDir, { recursive: true });
    const flags = ["--conditions=posthorn-source", "--import", preload, "--import", "tsx"];
    return spawn(process.execPath, [...flags, command, "serve", "--role", role === "worker" ? "all" : role], {
      cwd: root,
      env: {
        PATH: process.env.PATH,
        TZ: process.env.TZ,
        CHAOS_ENVIRONMENT: JSON.stringify({ edits, clockSkewMs, names }),
        PORT: String(port),
        LOG_LEVEL: "info",
        POSTHORN_PROCESSES: "1",
        POSTHORN_DATA_DIR: dataDir,
        POSTHORN_USER_AGENT: name,
        ...settings,
      },
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
  }

  #readLine(started: ServerProcess, line: string): void {
    const { edits, onUnexpectedOutput } = this.#options;
    appendFileSync(join(this.#options.scratchDir, `${started.name}.log`), `${line}\n`);
    const parsed = readLogLine(line);
    const report = started.isReady
      ? onUnexpectedOutput
      : (text: string) => void started.unexpectedOutput.push(text);
    if (parsed === null || parsed.level === "error") report(`${started.name}: ${line}`);
    if (parsed?.message === "planted") started.planted += 1;
    if (parsed?.message !== "ready") return;
    if (started.planted !== edits.length) onUnexpectedOutput(`${started.name}: the bug was not planted`);
    started.isReady = true;
    for (const resolve of this.#onReady.splice(0)) resolve();
  }
}

function readLogLine(line: string): { level: string; message: string } | null {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
