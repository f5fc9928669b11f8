// The posthorn command in this process, with a terminal that records its output.
import { expect, onTestFinished } from "vitest";
import { run } from "../../../packages/server/src/cli/run.ts";
import type { Terminal } from "../../../packages/server/src/cli/terminal/terminal.ts";
import { Signal } from "../eventually.ts";
import { adminKey, type StartOptions, sharedServer } from "./start-server.ts";

export interface CommandOptions {
  readonly env?: Record<string, string>;
  readonly stdin?: string | Uint8Array;
  /** The answer to a question; without it the terminal is not interactive. */
  readonly answers?: string;
}

export interface CommandResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read any response
  readonly json: any;
}

type Value = string | number | readonly string[];
type RunLine<Result> = (texts: TemplateStringsArray, ...values: Value[]) => Result;

/** The arguments of a command line. A value is one argument, an array several. */
export const argv: RunLine<string[]> = (texts, ...values) => {
  const line = String.raw({ raw: texts }, ...values.map((_, index) => `\0${index}\0`));
  return line.split(/\s+/).flatMap((word) => {
    const whole = values[Number(/^\0(\d+)\0$/.exec(word)?.[1])];
    return Array.isArray(whole) ? whole : word.replace(/\0(\d+)\0/g, (_, index) => String(values[index]));
  });
};

/** Runs a command line as in posthorn`tenants list`; with options as in posthorn({ stdin })`publish a.b --data -`. */
export interface RunCommand extends RunLine<Promise<CommandResult>> {
  (options: CommandOptions): RunLine<Promise<CommandResult>>;
}

/** `env` returns the environment of each command. */
export function commandsIn(env: () => Record<string, string>): RunCommand {
  const runWith =
    (options: CommandOptions): RunLine<Promise<CommandResult>> =>
    (...line) =>
      startCommand(argv(...line), { ...options, env: { ...env(), ...options.env } }).exited;
  const run = (first: CommandOptions | TemplateStringsArray, ...values: Value[]) =>
    "raw" in first ? runWith({})(first, ...values) : runWith(first);
  return run as RunCommand;
}

/** Runs commands without a server. */
export const posthorn = commandsIn(() => ({}));

export function startCommand(args: readonly string[], options: CommandOptions = {}) {
  const ending = new AbortController();
  let out = "";
  let err = "";
  const signal = new Signal();
  const terminal: Terminal = {
    env: options.env ?? {},
    stdin: (async function* () {
      yield Buffer.from(options.stdin ?? "");
    })(),
    isInteractive: options.answers !== undefined,
    columns: null,
    hasColors: false,
    ending: ending.signal,
    print: (text) => {
      out += `${text}\n`;
      signal.notify();
    },
    write: async (bytes) => {
      out += Buffer.from(bytes).toString();
    },
    printError: (text) => {
      err += `${text}\n`;
      signal.notify();
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
    /** Resolves as soon as standard output or error contains a match. */
    printed: (pattern: RegExp): Promise<unknown> =>
      Promise.race([
        signal.until(
          () => `it prints ${pattern}:\n${out}\n${err}`,
          () => pattern.test(out) || pattern.test(err),
        ),
        exited.then(() => {
          throw new Error(`It ended without printing ${pattern}:\n${out}\n${err}`);
        }),
      ]),
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

/** The server of a test file and the command that talks to it. */
export function useCommandServer(options: StartOptions = {}) {
  const server = sharedServer({ posthorn: { retryPolicy: "1h" }, ...options });
  /** Runs a command with the admin key of the server. */
  const posthorn = commandsIn(() => ({ POSTHORN_URL: server.url, POSTHORN_API_KEY: adminKey }));
  return {
    server,
    posthorn,
    makeEndpoint: async (tenant: string, url: string): Promise<string> => {
      await posthorn`tenants put ${tenant}`;
      return (await posthorn`endpoints create ${url} --tenant ${tenant} --json`).json.id;
    },
    /** Returns the delivery of an event with one endpoint as soon as it is in that state. */
    deliveryOf: async (event: string, state: string): Promise<{ id: string }> => {
      const find = async () => (await posthorn`events get ${event} --json`).json.deliveries[0];
      await expect.poll(async () => (await find())?.state).toBe(state);
      return await find();
    },
  };
}
