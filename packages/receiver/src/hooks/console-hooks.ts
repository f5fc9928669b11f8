// The default hooks, which print to the console: a minimal setup should not hide errors.
import { errorLine } from "../handle/decide-failure.ts";
import type { FailureInfo, Hooks, MessageInfo, RejectedRequest } from "./hooks.ts";

/** Anyone can cause rejections, so they must not fill the disk. */
const REJECTIONS_PER_MINUTE = 5;
const MINUTE_MS = 60_000;

export type ConsoleHooks = Required<Pick<Hooks, "onRejected" | "onConflict" | "onFailure" | "onDead">>;

export function consoleHooks(): ConsoleHooks {
  return {
    onRejected: rejectionPrinter(),
    onConflict: (message: MessageInfo) =>
      print("error", `${named(message)} was received again with a different body and was rejected with 422`),
    onFailure: ({ message, error, failures }: FailureInfo) =>
      print(
        "error",
        message === null ? errorLine(error) : `${failedAt(message, failures)}: ${errorLine(error)}`,
      ),
    onDead: ({ message, error }: FailureInfo) =>
      print("error", `${message && named(message)} is now a dead letter: ${errorLine(error)}`),
  };
}

export function warnNotStarted(): void {
  print(
    "warn",
    "a message was accepted into the inbox, but start() was not called in this process; another process must process it",
  );
}

function rejectionPrinter() {
  let minuteEndsAt = 0;
  let printed = 0;
  let suppressed = 0;
  return ({ status, source, reason, detail }: RejectedRequest): void => {
    if (performance.now() >= minuteEndsAt) {
      if (suppressed > 0) print("warn", `${suppressed} more requests were rejected in the last minute`);
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
      `a request${source === null ? "" : ` to ${source}`} was rejected with ${status}, ${reason}: ${detail}`,
    );
  };
}

/** 0 means that the store failed, not the handler. */
function failedAt(message: MessageInfo, failures: number): string {
  return failures === 0
    ? `the store failed for ${named(message)}`
    : `${named(message)} failed, attempt ${failures}`;
}

function named({ source, id, type }: MessageInfo): string {
  return `${type} ${id} from ${source}`;
}

/** The text may come from the sender: print one line, without control characters. */
export function print(level: "error" | "warn", text: string): void {
  // biome-ignore lint/suspicious/noConsole: printing is what this file is for
  console[level](`[posthorn receiver] ${text.replace(/\p{Cc}+/gu, " ")}`);
}
