// The posthorn command in this process, with a terminal that remembers what was said.
import { onTestFinished } from "vitest";
import { run } from "../../packages/server/src/cli/run.ts";
import type { Terminal } from "../../packages/server/src/cli/terminal/terminal.ts";

export interface CommandOptions {
  readonly env?: Record<string, string>;
  readonly stdin?: string | Uint8Array;
  /** What a person answers when asked; without it nobody sits there. */
  readonly answers?: string;
  readonly columns?: number;
  readonly hasColors?: boolean;
}

export interface RunningCommand {
  readonly exited: Promise<CommandResult>;
  out(): string;
  err(): string;
  /** Resolves when standard output or error has it. */
  said(pattern: RegExp): Promise<void>;
  stop(): Promise<CommandResult>;
}

export interface CommandResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came
  readonly json: any;
}

export async function runCommand(
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  return await startCommand(args, options).exited;
}

export function startCommand(args: readonly string[], options: CommandOptions = {}): RunningCommand {
  const ending = new AbortController();
  let out = "";
  let err = "";
  const listeners = new Set<() => void>();
  const tell = (): void => {
    for (const listener of listeners) listener();
  };
  const terminal: Terminal = {
    env: options.env ?? {},
    stdin: (async function* () {
      yield Buffer.from(options.stdin ?? "");
    })(),
    isInteractive: options.answers !== undefined,
    columns: options.columns ?? null,
    hasColors: options.hasColors ?? false,
    ending: ending.signal,
    print: (text) => {
      out += `${text}\n`;
      tell();
    },
    printError: (text) => {
      err += `${text}\n`;
      tell();
    },
    draw: (text) => {
      err += text;
    },
    ask: async (question) => {
      err += question;
      return options.answers ?? "";
    },
  };
  const exited = run(args, terminal).then((code) => ({ code, out, err, json: parsed(out) }));
  const stop = (): Promise<CommandResult> => {
    ending.abort();
    return exited;
  };
  onTestFinished(async () => void (await stop()));
  return {
    exited,
    out: () => out,
    err: () => err,
    said: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (!pattern.test(out) && !pattern.test(err)) return;
          listeners.delete(look);
          resolve();
        };
        listeners.add(look);
        look();
        void exited.then(() => reject(new Error(`It ended without saying ${pattern}:\n${out}\n${err}`)));
      }),
    stop,
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
