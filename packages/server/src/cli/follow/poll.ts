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
  look: () => Promise<unknown>,
  onReady: () => void,
): Promise<void> {
  const { ending } = terminal;
  let isAway = false;
  // The first poll is not retried, to report a wrong URL at once.
  const first = await look();
  onReady();
  if (first === "done") return;
  while (!ending.aborted) {
    await sleep(everyMs, undefined, { signal: ending }).catch(() => {});
    if (ending.aborted) return;
    try {
      const found = await look();
      if (isAway) terminal.printError("The server answers again; nothing is left out.");
      if (found === "done") return;
      isAway = false;
    } catch (error) {
      if (ending.aborted) return;
      if (!passes(error)) throw error;
      if (!isAway) terminal.printError(`${troubleOf(error)} Waiting for it; Ctrl+C stops.`);
      isAway = true;
    }
  }
}

function troubleOf(error: unknown): string {
  return error instanceof PosthornApiError
    ? `The server answers ${error.status} (${clean(error.code)}).`
    : "The server does not answer.";
}

function passes(error: unknown): boolean {
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
  terminal.printError(
    "There was more than can be followed; the oldest of it is left out. Narrow it with --tenant.",
  );
}
