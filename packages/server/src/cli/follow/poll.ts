// Looks again and again until it is told to stop. A server that is away, stops or is too busy is waited for; one that
// refuses is not.
import { setTimeout as sleep } from "node:timers/promises";
import { PosthornApiError } from "@posthorn/client";
import { CliError } from "../failure.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { clean } from "../terminal/text.ts";

/** `onReady` is called after the first look: what happens from then on is seen. A look that finds "done" is the last. */
export async function poll(
  terminal: Terminal,
  everyMs: number,
  look: () => Promise<unknown>,
  onReady: () => void,
): Promise<void> {
  const { ending } = terminal;
  let isAway = false;
  // The first look is not forgiven: a wrong address is better said at once.
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
  // An answer that was cut off, or stuck, in the middle of its body. A TypeError of ours has no cause.
  const { name, cause } = error as Error;
  return name === "TimeoutError" || name === "SyntaxError" || (name === "TypeError" && cause !== undefined);
}

/** A look holds 10,000 items at most; what is beyond is said, never dropped in silence. */
export function reportSkipped(terminal: Terminal, followers: readonly { takeSkipped(): boolean }[]): void {
  // all are asked, so that none tells a second time of what was said
  const skipped = followers.filter((follower) => follower.takeSkipped());
  if (skipped.length === 0) return;
  terminal.printError(
    "There was more than can be followed; the oldest of it is left out. Narrow it with --tenant.",
  );
}
