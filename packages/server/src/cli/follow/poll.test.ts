import { PosthornApiError } from "@posthorn/client";
import { expect, test } from "vitest";
import { CliError } from "../failure.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { poll, reportSkipped } from "./poll.ts";

function problem(status: number, code: string): PosthornApiError {
  const texts = { type: "", title: "", detail: "d", instance: "", request_id: "" };
  return new PosthornApiError({ ...texts, status, code });
}

/** Each poll throws the next error, and the last one aborts. */
async function pollsThat(...outcomes: (Error | null)[]) {
  const printed: string[] = [];
  const ending = new AbortController();
  const terminal = {
    ending: ending.signal,
    printError: (text) => void printed.push(text),
  } as Partial<Terminal>;
  let polls = 0;
  const pollOnce = async (): Promise<void> => {
    const outcome = outcomes[polls++];
    if (polls === outcomes.length) ending.abort();
    if (outcome) throw outcome;
  };
  const result = await poll(terminal as Terminal, 1, pollOnce, () => printed.push("ready")).catch(
    (error: unknown) => error,
  );
  return { printed, polls, result };
}

const away = new CliError("unreachable", "away");
const silent = "The server does not respond.";

test.each([
  ["cannot be reached", away, silent],
  ["is too busy for this key", problem(429, "rate_limited"), "The server returned 429 (rate_limited)."],
  ["stops", problem(503, "shutting_down"), "The server returned 503 (shutting_down)."],
  ["cuts a response off", new SyntaxError("Unexpected end"), silent],
  ["ends in the middle of a response", new TypeError("terminated", { cause: new Error("closed") }), silent],
])("waits for a server that %s, and reports it once", async (_what, error, says) => {
  expect(await pollsThat(null, error, error, null, null)).toEqual({
    printed: [
      "ready",
      `${says} Waiting for it; Ctrl+C stops.`,
      "The server is available again; no events were missed.",
    ],
    polls: 5,
    result: undefined,
  });
});

test("does not wait if the first request fails, if a request is rejected, or for a bug", async () => {
  expect(await pollsThat(away, null)).toMatchObject({ polls: 1, result: away, printed: [] });
  for (const result of [problem(403, "forbidden"), new TypeError("x is not a function")])
    expect(await pollsThat(null, result, null)).toMatchObject({ polls: 2, result });
});

test("skipped items are reported once", () => {
  const printed: string[] = [];
  const terminal = { printError: (text: string) => void printed.push(text) } as unknown as Terminal;
  const follower = (skipped: boolean) => ({ takeSkipped: () => skipped });
  reportSkipped(terminal, [follower(false), follower(false)]);
  expect(printed).toEqual([]);
  reportSkipped(terminal, [follower(true), follower(true)]);
  expect(printed).toHaveLength(1);
});
