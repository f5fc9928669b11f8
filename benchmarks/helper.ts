// A process of the benchmark's own: started from one file, asked by messages, and gone when its parent is.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { nodeFlags } from "./node-flags.ts";

interface Question {
  readonly id: number;
  readonly kind: string;
  readonly argument: unknown;
}

type Answer =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: string };

export class Helper {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<
    number,
    { resolve: (result: unknown) => void; reject: (error: Error) => void }
  >();
  #asked = 0;

  constructor(file: string, flags: readonly string[] = []) {
    this.#child = fork(fileURLToPath(new URL(file, import.meta.url)), {
      serialization: "advanced",
      execArgv: [...process.execArgv, ...nodeFlags, ...flags],
    });
    this.#child.on("message", (answer: Answer) => this.#hear(answer));
    this.#child.on("exit", (code) => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`${file} ended with ${code}.`));
    });
  }

  get pid(): number {
    return this.#child.pid as number;
  }

  async ask<Result>(kind: string, argument?: unknown): Promise<Result> {
    this.#asked += 1;
    const question: Question = { id: this.#asked, kind, argument };
    const result = await new Promise((resolve, reject) => {
      this.#waiting.set(question.id, { resolve, reject });
      this.#child.send(question);
    });
    return result as Result;
  }

  /** As it likes, so that it can write a profile. */
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

  #hear(answer: Answer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if ("error" in answer) waiting?.reject(new Error(answer.error));
    else waiting?.resolve(answer.result);
  }
}

type Handlers = Readonly<Record<string, (argument: never) => unknown>>;

/** In the helper: answers what the parent asks. */
export function answerParent(handlers: Handlers): void {
  // Ctrl-C reaches the whole group; the parent decides when to end.
  process.on("SIGINT", () => {});
  process.on("disconnect", () => process.exit());
  process.on("message", (question: Question) => void answer(handlers, question));
}

async function answer(handlers: Handlers, { id, kind, argument }: Question): Promise<void> {
  try {
    const result = await handlers[kind]?.(argument as never);
    process.send?.({ id, result });
  } catch (error) {
    process.send?.({ id, error: (error as Error).stack ?? String(error) });
  }
}
