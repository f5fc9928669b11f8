// Looks again and again until it is told to stop. A server that is away, stops or is too busy is waited for; one that
// refuses is not.
import { setTimeout as sleep } from "node:timers/promises";
import { PosthornApiError } from "@posthorn/client";
import { CliError } from "../failure.ts";
import type { Terminal } from "../terminal/terminal.ts";

export async function keepLooking(
  terminal: Terminal,
  everyMs: number,
  look: () => Promise<void>,
): Promise<void> {
  const { ending } = terminal;
  let isAway = false;
  // The first look is not forgiven: a wrong address is better said at once.
  await look();
  while (!ending.aborted) {
    await sleep(everyMs, undefined, { signal: ending }).catch(() => {});
    if (ending.aborted) return;
    try {
      await look();
      if (isAway) terminal.complain("The server answers again; nothing is left out.");
      isAway = false;
    } catch (error) {
      if (ending.aborted) return;
      if (!passes(error)) throw error;
      if (!isAway) terminal.complain("The server does not answer. Waiting for it; Ctrl+C stops.");
      isAway = true;
    }
  }
}

function passes(error: unknown): boolean {
  if (error instanceof CliError) return error.failure === "unreachable";
  if (error instanceof PosthornApiError) return error.status >= 500 || error.status === 429;
  // An answer that was cut off in the middle of its body.
  return error instanceof TypeError || error instanceof SyntaxError;
}
