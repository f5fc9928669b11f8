// The terminal that commands use instead of `process`, so that tests can replace it.
import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import type { Environment } from "../../config.ts";

export interface Terminal {
  readonly env: Environment;
  readonly stdin: AsyncIterable<Uint8Array | string>;
  /** True if a person can answer questions and see progress. */
  readonly isInteractive: boolean;
  /** Width of standard output; null for a file or a pipe, where nothing is cut. */
  readonly columns: number | null;
  readonly hasColors: boolean;
  /** Aborted by the first SIGINT or SIGTERM. */
  readonly ending: AbortSignal;
  /** Prints a result to standard output. */
  print(text: string): void;
  /** Writes bytes to standard output; resolves when it takes more. */
  write(bytes: Uint8Array): Promise<void>;
  /** Prints an error or a note to standard error. */
  printError(text: string): void;
  /** Writes text without a line end to standard error, for progress. */
  draw(text: string): void;
  ask(question: string): Promise<string>;
}

export function processTerminal(): Terminal {
  const { stdin, stdout, stderr, env } = process;
  // `posthorn events list | head` closes the output early, which is not an error.
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
    write: async (bytes) => {
      if (!stdout.write(bytes)) await once(stdout, "drain");
    },
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

/** https://no-color.org: any non-empty value disables colours. */
export function wantsColors(env: Environment, isTerminal: boolean): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== "0";
  return isTerminal && env.TERM !== "dumb";
}

/** The first signal ends the command gracefully; the listener is then removed, so the next one kills the process. */
function endingBySignal(): AbortController {
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => controller.abort());
  return controller;
}
