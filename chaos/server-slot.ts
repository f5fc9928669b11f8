// A place for one `posthorn serve` process: it is filled, emptied by force, and filled again. Every process in it has
// a name of its own (`w1.3`), which it also sends as its user agent.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { monotonicMs } from "../benchmarks/monotonic.ts";
import type { ChaosProxy } from "../tests/support/chaos-proxy.ts";
import type { Exit } from "./evidence.ts";
import type { Edit } from "./plant.ts";

export interface SlotOptions {
  readonly name: string;
  readonly role: "api" | "worker";
  readonly port: number;
  /** Between it and the database, if anything of ours is. */
  readonly proxy: ChaosProxy | null;
  /** Settings of the server, as environment variables. */
  readonly settings: Readonly<Record<string, string>>;
  readonly scratchDir: string;
  readonly edits: readonly Edit[];
  /** How far its machine's clock is off at first. */
  readonly clockSkewMs: number;
  /** Host names and what they resolve to. */
  readonly names: Readonly<Record<string, string>>;
  readonly onExit: (exit: Exit) => void;
  /** A line of standard error that no process should write. */
  readonly onComplaint: (line: string) => void;
}

const root = fileURLToPath(new URL("..", import.meta.url));
const preload = fileURLToPath(new URL("./child/preload.mjs", import.meta.url));
const command = fileURLToPath(new URL("../packages/server/src/cli/main.ts", import.meta.url));

/** How the command says that it met what nobody foresaw. */
const bug = "Posthorn failed unexpectedly";

interface Life {
  readonly name: string;
  readonly child: ChildProcess;
  readonly gone: Promise<void>;
  isReady: boolean;
  planted: number;
  asked: Exit["asked"];
  /** Of a start that came to nothing they are no news: the database was away, and it says so. */
  readonly complaints: string[];
}

export class ServerSlot {
  readonly #options: SlotOptions;
  #life: Life | null = null;
  #generation = 0;
  #isClosed = false;
  #onReady: (() => void)[] = [];

  constructor(options: SlotOptions) {
    this.#options = options;
  }

  get role(): "api" | "worker" {
    return this.#options.role;
  }

  get proxy(): ChaosProxy | null {
    return this.#options.proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#options.port}`;
  }

  /** Of the process that is in it, if it is up and nobody has sent it a signal. */
  get liveName(): string | null {
    return this.#life?.isReady && this.#life.asked === null ? this.#life.name : null;
  }

  start(): void {
    if (this.#life !== null || this.#isClosed) return;
    this.#generation += 1;
    const name = `${this.#options.name}.${this.#generation}`;
    const child = this.#spawn(name);
    const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    const life: Life = { name, child, gone, isReady: false, planted: 0, asked: null, complaints: [] };
    this.#life = life;
    createInterface({ input: child.stderr as NodeJS.ReadableStream }).on("line", (line) =>
      this.#hear(life, line),
    );
    child.once("exit", (code, signal) => {
      this.#life = null;
      const { isReady, asked, complaints } = life;
      if (complaints.some((line) => line.includes(bug)))
        for (const line of complaints) this.#options.onComplaint(line);
      this.#options.onExit({ name, at: monotonicMs(), code, signal, wasReady: isReady, asked });
      // one that could not start, because the database was away, is started again by whoever looks after it
      if (asked === null) setTimeout(() => this.start(), 200);
    });
  }

  async untilReady(withinMs: number): Promise<void> {
    if (this.liveName !== null) return;
    await new Promise<void>((resolve, reject) => {
      const late = () => reject(new Error(`${this.#options.name} was not ready within ${withinMs} ms`));
      const timer = setTimeout(late, withinMs);
      this.#onReady.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  /** Resolves when it is gone. */
  async end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const life = this.#life;
    if (life === null) return;
    life.asked = { signal, at: monotonicMs() };
    life.child.kill(signal);
    await life.gone;
  }

  /** Of the process in it, which must be up. */
  async rssBytes(): Promise<number> {
    const { child } = this.#life as Life;
    child.send({ ask: "memory" });
    const [{ rssBytes }] = (await once(child, "message")) as [{ rssBytes: number }];
    return rssBytes;
  }

  /** The wall clock of the process in it jumps; the returned function takes the step back. */
  stepClock(byMs: number): () => void {
    const child = this.#life?.child;
    const step = (stepMs: number): void => {
      // one that is gone has taken its clock along
      if (child?.connected) child.send({ ask: "step clock", stepMs }, () => {});
    };
    step(byMs);
    return () => step(-byMs);
  }

  freeze(): void {
    this.#life?.child.kill("SIGSTOP");
  }

  thaw(): void {
    this.#life?.child.kill("SIGCONT");
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
    return spawn(process.execPath, [...flags, command, "serve", "--role", role], {
      cwd: root,
      env: {
        PATH: process.env.PATH,
        TZ: process.env.TZ,
        CHAOS_SURROUNDINGS: JSON.stringify({ edits, clockSkewMs, names }),
        PORT: String(port),
        LOG_LEVEL: "info",
        POSTHORN_DATA_DIR: dataDir,
        POSTHORN_USER_AGENT: name,
        ...settings,
      },
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
  }

  #hear(life: Life, line: string): void {
    const { edits, onComplaint } = this.#options;
    appendFileSync(join(this.#options.scratchDir, `${life.name}.log`), `${line}\n`);
    const said = readLogLine(line);
    const complain = life.isReady ? onComplaint : (text: string) => void life.complaints.push(text);
    if (said === null || said.level === "error") complain(`${life.name}: ${line}`);
    if (said?.message === "planted") life.planted += 1;
    if (said?.message !== "ready") return;
    if (life.planted !== edits.length)
      onComplaint(`${life.name}: runs without the bug that was to be planted`);
    life.isReady = true;
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
