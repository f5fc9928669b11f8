// The terminal as a command sees it. Tests hand in one of their own, so that no command touches `process` itself.
import { createInterface } from "node:readline/promises";
import type { Environment } from "../../config.ts";

export interface Terminal {
  readonly env: Environment;
  readonly stdin: AsyncIterable<Uint8Array | string>;
  /** Somebody sits there who can be asked, and to whom progress means something. */
  readonly isInteractive: boolean;
  /** Of standard output; null when it is a file or a pipe, where nothing is cut. */
  readonly columns: number | null;
  readonly hasColors: boolean;
  /** Aborted by the first Ctrl+C, or by whoever ends the process in order. */
  readonly ending: AbortSignal;
  /** To standard output: what was asked for. */
  print(text: string): void;
  /** To standard error: complaints and remarks. */
  printError(text: string): void;
  /** To standard error, as it is: progress that is written over. */
  draw(text: string): void;
  ask(question: string): Promise<string>;
}

export function processTerminal(): Terminal {
  const { stdin, stdout, stderr, env } = process;
  // `posthorn events list | head` closes our output early: that is no failure.
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
  let ending: AbortController | undefined;
  return {
    env,
    stdin,
    isInteractive: Boolean(stdin.isTTY && stderr.isTTY) && !env.CI,
    columns: stdout.isTTY ? stdout.columns : null,
    hasColors: wantsColors(env, stdout.isTTY),
    get ending() {
      ending ??= endingBySignal();
      return ending.signal;
    },
    print: (text) => void stdout.write(`${text}\n`),
    printError: (text) => void stderr.write(`${text}\n`),
    draw: (text) => void stderr.write(text),
    async ask(question) {
      const lines = createInterface({ input: stdin, output: stderr });
      try {
        return await lines.question(question);
      } finally {
        lines.close();
      }
    },
  };
}

/** https://no-color.org: any value but the empty one turns colours off. */
export function wantsColors(env: Environment, isTerminal: boolean): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== "0";
  return isTerminal && env.TERM !== "dumb";
}

/** The first signal ends in order; the listener is gone after it, so the next one ends at once. */
function endingBySignal(): AbortController {
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => controller.abort());
  return controller;
}
