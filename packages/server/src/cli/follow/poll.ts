// Polls until the command is stopped. A server that is unreachable, restarting or busy is waited for; other errors end
// the command.
import { setTimeout as sleep } from "node:timers/promises";
import { PosthornApiError } from "@posthorn/client";
import { CliError } from "../failure.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { clean } from "../terminal/text.ts";

/** `onReady` is called after the first poll. A poll that returns "done" is the last. */
export async function poll(
  terminal: Terminal,
  everyMs: number,
  pollOnce: () => Promise<unknown>,
  onReady: () => void,
): Promise<void> {
  const { ending } = terminal;
  let isUnavailable = false;
  // The first poll is not retried, to report a wrong URL at once.
  const first = await pollOnce();
  onReady();
  if (first === "done") return;
  while (!ending.aborted) {
    await sleep(everyMs, undefined, { signal: ending }).catch(() => {});
    if (ending.aborted) return;
    try {
      const found = await pollOnce();
      if (isUnavailable) terminal.printError("The server is available again; no events were missed.");
      if (found === "done") return;
      isUnavailable = false;
    } catch (error) {
      if (ending.aborted) return;
      if (!isTemporary(error)) throw error;
      if (!isUnavailable) terminal.printError(`${describeError(error)} Waiting for it; Ctrl+C stops.`);
      isUnavailable = true;
    }
  }
}

function describeError(error: unknown): string {
  return error instanceof PosthornApiError
    ? `The server returned ${error.status} (${clean(error.code)}).`
    : "The server does not respond.";
}

function isTemporary(error: unknown): boolean {
  if (error instanceof CliError) return error.failure === "unreachable";
  if (error instanceof PosthornApiError) return error.status >= 500 || error.status === 429;
  // A response that was cut off or timed out. A TypeError from our own code has no cause.
  const { name, cause } = error as Error;
  return name === "TimeoutError" || name === "SyntaxError" || (name === "TypeError" && cause !== undefined);
}

/** Reports that a poll had more than the 10,000 items it can hold. */
export function reportSkipped(terminal: Terminal, followers: readonly { takeSkipped(): boolean }[]): void {
  // reads the flag of every follower, so that none reports it again
  const skipped = followers.filter((follower) => follower.takeSkipped());
  if (skipped.length === 0) return;
  terminal.printError("There were too many items; the oldest were skipped. Filter with --tenant.");
}
