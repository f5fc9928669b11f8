// A child process of the benchmark, started from one file and controlled by messages. It exits with its parent.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { nodeFlags } from "./node-flags.ts";

interface Message {
  readonly id: number;
  readonly kind: string;
  readonly argument: unknown;
}

type Reply =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: string };

export class Subprocess {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<
    number,
    { resolve: (result: unknown) => void; reject: (error: Error) => void }
  >();
  #lastId = 0;

  constructor(file: URL, flags: readonly string[] = []) {
    this.#child = fork(fileURLToPath(file), {
      serialization: "advanced",
      execArgv: [...process.execArgv, ...nodeFlags, ...flags],
    });
    this.#child.on("message", (reply: Reply) => this.#receive(reply));
    this.#child.on("exit", (code) => {
      for (const { reject } of this.#waiting.values())
        reject(new Error(`${file.pathname} ended with ${code}.`));
    });
  }

  get pid(): number {
    return this.#child.pid as number;
  }

  async call<Result>(kind: string, argument?: unknown): Promise<Result> {
    this.#lastId += 1;
    const message: Message = { id: this.#lastId, kind, argument };
    const result = await new Promise((resolve, reject) => {
      this.#waiting.set(message.id, { resolve, reject });
      this.#child.send(message);
    });
    return result as Result;
  }

  /** Stops gracefully, so that it can write a profile. */
  async end(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.disconnect();
    await ended;
  }

  stop(): void {
    if (this.#child.connected) this.#child.disconnect();
    this.#child.kill("SIGKILL");
  }

  #receive(reply: Reply): void {
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if ("error" in reply) waiting?.reject(new Error(reply.error));
    else waiting?.resolve(reply.result);
  }
}

type Handlers = Readonly<Record<string, (argument: never) => unknown>>;

/** Runs in the child process: handles the parent's messages. */
export function handleMessages(handlers: Handlers): void {
  // Ctrl-C reaches the whole process group; the parent decides when to stop.
  process.on("SIGINT", () => {});
  process.on("disconnect", () => process.exit());
  process.on("message", (message: Message) => void handle(handlers, message));
}

async function handle(handlers: Handlers, { id, kind, argument }: Message): Promise<void> {
  try {
    const result = await handlers[kind]?.(argument as never);
    process.send?.({ id, result });
  } catch (error) {
    process.send?.({ id, error: (error as Error).stack ?? String(error) });
  }
}
