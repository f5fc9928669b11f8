// How a command fails: with a sentence that says what to do, and an exit code that a script can tell apart.
import { PosthornApiError, type Problem } from "@posthorn/client";
import { EmbeddedPostgresError } from "@posthorn/embedded-postgres";
import { CommanderError } from "commander";
import { isPosthornError } from "../api/problem.ts";
import { ConfigError } from "../config.ts";
import { ListenError } from "../server.ts";
import { EncryptionKeyError } from "./local/encryption-keys.ts";
import { StartError } from "./local/installation.ts";
import { KeyFileError } from "./local/key-file.ts";
import { clean } from "./terminal/text.ts";

/** The reference of the command lists them. */
export const EXIT_CODES = {
  ok: 0,
  failed: 1,
  usage: 2,
  refused: 3,
  unreachable: 4,
} as const;

export type Failure = Exclude<keyof typeof EXIT_CODES, "ok">;

export class CliError extends Error {
  override readonly name = "CliError";
  readonly failure: Failure;

  constructor(failure: Failure, message: string, options?: ErrorOptions) {
    super(message, options);
    this.failure = failure;
  }
}

export function usage(message: string): CliError {
  return new CliError("usage", message);
}

export interface Described {
  readonly failure: keyof typeof EXIT_CODES;
  /** Stable: the server's code for what it refused, otherwise the kind of failure. */
  readonly code: string;
  readonly message: string;
  /** What the server answered, whole. */
  readonly problem?: Problem;
}

/** What a person can set right is a sentence; anything else is a bug and shows its stack. */
export function describeFailure(error: unknown): Described {
  if (error instanceof CliError)
    return { failure: error.failure, code: error.failure, message: error.message };
  if (error instanceof CommanderError) return fromCommander(error);
  if (error instanceof PosthornApiError) return fromServer(error);
  if (error instanceof ConfigError && error.isOfFlags)
    return { failure: "usage", code: "usage", message: error.message };
  const isExpected =
    [ConfigError, EmbeddedPostgresError, EncryptionKeyError, KeyFileError, ListenError, StartError].some(
      (kind) => error instanceof kind,
    ) || isPosthornError(error);
  const message = isExpected
    ? (error as Error).message
    : `Posthorn failed unexpectedly.\n${error instanceof Error ? error.stack : String(error)}`;
  return { failure: "failed", code: "failed", message };
}

/** It has printed what is wrong, or the help that was asked for, by itself. */
function fromCommander({ exitCode, message }: CommanderError): Described {
  const failure = exitCode === 0 ? "ok" : "usage";
  return { failure, code: failure, message };
}

function fromServer({ problem }: PosthornApiError): Described {
  const { status, code, detail } = problem;
  const isAway = status >= 500 || code === "unexpected_answer";
  return {
    failure: isAway ? "unreachable" : "refused",
    code,
    message: `${withCommandNames(detail)}${ADVICE[status] ?? ""}`,
    problem,
  };
}

/** The server says what to send; here one gives an option or another command. */
function withCommandNames(detail: string): string {
  return WORDS.reduce((text, [ofApi, ofCommands]) => text.replace(ofApi, ofCommands), detail);
}

const WORDS: readonly (readonly [ofApi: RegExp, ofCommands: string])[] = [
  [/Make it with PUT \/api\/v1\/tenants\/\{tenant\}\./, "Make it with: posthorn tenants put <tenant>"],
  [/Send restore: true to bring it back/, "Give --restore to bring it back"],
  [/Leave the id out to make one\./, "Give --as-new to make all of them anew."],
];

const ADVICE: Readonly<Record<number, string>> = {
  401: " Give a key with --key or in POSTHORN_API_KEY.",
  403: " Give a key that may do this with --key or in POSTHORN_API_KEY.",
};

/** For a script: whatever is known. */
export function failureJson({ code, message, problem }: Described): object {
  return { error: { code, message, ...problem } };
}

/**
 * For a person: the sentence, and below it the places that are wrong; a single one that it tells already is not told twice.
 * What a server says is a line each, whatever is in it.
 */
export function failureText({ message, problem }: Described): string {
  if (problem === undefined) return message;
  const errors = problem.errors ?? [];
  const [only] = errors;
  if (errors.length === 1 && only !== undefined && message.includes(only.message)) {
    const place = placeOf(only);
    return clean(mentionsField(message, place) ? message : `${place}: ${message}`);
  }
  const places = errors.map((error) => `  ${clean(`${placeOf(error)}: ${error.message}`)}`);
  return [clean(message), ...places].join("\n");
}

/** A field is told by its name; a place within one by its whole pointer, since many have a "type" in them. */
function mentionsField(message: string, place: string): boolean {
  const [, field] = /^\/?([^/]+)$/.exec(place) ?? [];
  return message.includes(field ?? place);
}

function placeOf({ pointer, parameter }: NonNullable<Problem["errors"]>[number]): string {
  return pointer || parameter || "/";
}
