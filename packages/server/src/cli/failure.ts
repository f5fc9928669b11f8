// Errors of commands: a message that says what to do, and an exit code for scripts.
import { PosthornApiError, type Problem } from "@posthorn/client";
import { CommanderError } from "commander";
import { clean } from "./terminal/text.ts";

/** Listed in the CLI reference. */
export const EXIT_CODES = {
  ok: 0,
  failed: 1,
  usage: 2,
  rejected: 3,
  unreachable: 4,
} as const;

export type Failure = Exclude<keyof typeof EXIT_CODES, "ok">;

/** An error that the user can fix; the message says how. */
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

export function failed(message: string, options?: ErrorOptions): CliError {
  return new CliError("failed", message, options);
}

export interface Described {
  readonly failure: keyof typeof EXIT_CODES;
  /** Stable: the server's error code, or else the kind of failure. */
  readonly code: string;
  readonly message: string;
  /** The problem document of the server. */
  readonly problem?: Problem;
}

/** Expected errors are described by their message; anything else is a bug and shows its stack. */
export function describeFailure(error: unknown): Described {
  if (error instanceof CliError)
    return { failure: error.failure, code: error.failure, message: error.message };
  if (error instanceof CommanderError) return fromCommander(error);
  if (error instanceof PosthornApiError) return fromServer(error);
  if (!(error instanceof Error) || !EXPECTED.has(error.name))
    return { failure: "failed", code: "failed", message: unexpected(error) };
  const failure = (error as { isOfFlags?: boolean }).isOfFlags ? "usage" : "failed";
  return { failure, code: failure, message: error.message };
}

/** By name, because importing the classes would load what throws them. */
const EXPECTED = new Set([
  "ConfigError",
  "EmbeddedPostgresError",
  "ListenError",
  "PosthornError",
  "ProcessesError",
]);

function unexpected(error: unknown): string {
  return `Posthorn failed unexpectedly.\n${error instanceof Error ? error.stack : String(error)}`;
}

/** Commander has already printed the error or the requested help. */
function fromCommander({ exitCode, message }: CommanderError): Described {
  const failure = exitCode === 0 ? "ok" : "usage";
  return { failure, code: failure, message };
}

function fromServer({ problem }: PosthornApiError): Described {
  const { status, code, detail } = problem;
  const isUnavailable = status >= 500 || code === "unexpected_response";
  return {
    failure: isUnavailable ? "unreachable" : "rejected",
    code,
    message: `${withCommandNames(detail)}${ADVICE[status] ?? ""}`,
    problem,
  };
}

/** Replaces advice about HTTP requests by the equivalent options and commands. */
function withCommandNames(detail: string): string {
  return WORDS.reduce((text, [ofApi, ofCommands]) => text.replace(ofApi, ofCommands), detail);
}

const WORDS: readonly (readonly [ofApi: RegExp, ofCommands: string])[] = [
  [/Create it with PUT \/api\/v1\/tenants\/\{tenant\}\./, "Create it with: posthorn tenants put <tenant>"],
  [/Send restore: true to bring it back/, "Use --restore to restore it"],
  [/Leave out the id to create one\./, "Use --as-new to create all of them."],
];

const ADVICE: Readonly<Record<number, string>> = {
  401: " Set a key with --key or POSTHORN_API_KEY.",
  403: " Set a key with this permission with --key or POSTHORN_API_KEY.",
};

/** The error for scripts, with the whole problem document. */
export function failureJson({ code, message, problem }: Described): object {
  return { error: { code, message, ...problem } };
}

/**
 * The error for people: the message, then one line per invalid field. A single field error that the message contains
 * already is not repeated.
 */
export function failureText({ message, problem }: Described): string {
  if (problem === undefined) return message;
  const errors = problem.errors ?? [];
  const [only] = errors;
  if (errors.length === 1 && only !== undefined && message.includes(only.message)) {
    const place = placeOf(only);
    return clean(mentionsField(message, place) ? message : `${place}: ${message}`);
  }
  const lines = errors.map((error) => `  ${clean(`${placeOf(error)}: ${error.message}`)}`);
  return [clean(message), ...lines].join("\n");
}

/** A top-level field is mentioned by its name, a nested one by its whole pointer. */
function mentionsField(message: string, place: string): boolean {
  const [, field] = /^\/?([^/]+)$/.exec(place) ?? [];
  return message.includes(field ?? place);
}

function placeOf({ pointer, parameter }: NonNullable<Problem["errors"]>[number]): string {
  return pointer || parameter || "/";
}
