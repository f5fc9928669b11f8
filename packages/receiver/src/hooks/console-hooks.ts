// What is printed where nobody listens: ten lines of setup should not be silent about what goes wrong.
import { errorLine } from "../handle/decide-failure.ts";
import type { FailureInfo, Hooks, MessageInfo, RejectedRequest } from "./hooks.ts";

/** Anybody can have requests refused, and a full disk helps nobody. */
const REJECTIONS_PER_MINUTE = 5;
const MINUTE_MS = 60_000;

export type ConsoleHooks = Required<Pick<Hooks, "onRejected" | "onConflict" | "onFailure" | "onDead">>;

export function consoleHooks(): ConsoleHooks {
  return {
    onRejected: rejectionPrinter(),
    onConflict: (message: MessageInfo) =>
      print("error", `${named(message)} came again with another body, and was answered with 422`),
    onFailure: ({ message, error, tries }: FailureInfo) =>
      print(
        "error",
        message === null ? errorLine(error) : `${failedAt(message, tries)}: ${errorLine(error)}`,
      ),
    onDead: ({ message, error }: FailureInfo) =>
      print("error", `${message && named(message)} is a dead letter now: ${errorLine(error)}`),
  };
}

export function warnNotStarted(): void {
  print(
    "warn",
    "a message is in the inbox and start() was not called here; another process must have called it",
  );
}

function rejectionPrinter() {
  let minuteEndsAt = 0;
  let printed = 0;
  let suppressed = 0;
  return ({ status, source, reason, detail }: RejectedRequest): void => {
    if (performance.now() >= minuteEndsAt) {
      if (suppressed > 0) print("warn", `${suppressed} more requests were refused in the minute before`);
      minuteEndsAt = performance.now() + MINUTE_MS;
      printed = 0;
      suppressed = 0;
    }
    if (printed === REJECTIONS_PER_MINUTE) {
      suppressed += 1;
      return;
    }
    printed += 1;
    print(
      "warn",
      `a request${source === null ? "" : ` to ${source}`} was refused with ${status}, ${reason}: ${detail}`,
    );
  };
}

/** 0: it was no try of the handler's. */
function failedAt(message: MessageInfo, tries: number): string {
  return tries === 0 ? `the store failed at ${named(message)}` : `${named(message)} failed, try ${tries}`;
}

function named({ source, id, type }: MessageInfo): string {
  return `${type} ${id} of ${source}`;
}

/** Some of it is the sender's own text: one line, and nothing that moves the cursor. */
export function print(level: "error" | "warn", text: string): void {
  // biome-ignore lint/suspicious/noConsole: printing is what this file is for
  console[level](`[posthorn receiver] ${text.replace(/\p{Cc}+/gu, " ")}`);
}
