import { PosthornApiError } from "@posthorn/client";
import { expect, test } from "vitest";
import { CliError } from "../failure.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { poll, reportSkipped } from "./poll.ts";

function problem(status: number, code: string): PosthornApiError {
  return new PosthornApiError({
    type: "",
    title: "",
    status,
    detail: "d",
    instance: "",
    code,
    request_id: "",
  });
}

/** Each look throws what is next in line, and the last one ends it all. */
async function looksThat(...outcomes: (Error | null)[]) {
  const said: string[] = [];
  const ending = new AbortController();
  const terminal = { ending: ending.signal, printError: (text) => void said.push(text) } as Partial<Terminal>;
  let looks = 0;
  const look = async (): Promise<void> => {
    const outcome = outcomes[looks++];
    if (looks === outcomes.length) ending.abort();
    if (outcome) throw outcome;
  };
  const result = await poll(terminal as Terminal, 1, look, () => said.push("ready")).catch(
    (error: unknown) => error,
  );
  return { said, looks, result };
}

const away = new CliError("unreachable", "away");

test.each([
  ["cannot be reached", away, "The server does not respond. Waiting for it; Ctrl+C stops."],
  [
    "is too busy for this key",
    problem(429, "rate_limited"),
    "The server returned 429 (rate_limited). Waiting for it; Ctrl+C stops.",
  ],
  [
    "stops",
    problem(503, "shutting_down"),
    "The server returned 503 (shutting_down). Waiting for it; Ctrl+C stops.",
  ],
  [
    "cuts an answer off",
    new SyntaxError("Unexpected end"),
    "The server does not respond. Waiting for it; Ctrl+C stops.",
  ],
  [
    "ends in the middle of an answer",
    new TypeError("terminated", { cause: new Error("other side closed") }),
    "The server does not respond. Waiting for it; Ctrl+C stops.",
  ],
])("waits for a server that %s, and reports it once", async (_what, error, says) => {
  const { said, looks, result } = await looksThat(null, error, error, null, null);
  expect(said).toEqual(["ready", says, "The server is available again; no events were missed."]);
  expect([looks, result]).toEqual([5, undefined]);
});

test("does not wait for a server that rejects the request", async () => {
  const refused = problem(403, "forbidden");
  expect(await looksThat(null, refused, null)).toMatchObject({ looks: 2, result: refused });
});

test("does not wait if the first request fails, or for a bug", async () => {
  expect(await looksThat(away, null)).toMatchObject({ looks: 1, result: away, said: [] });
  const mistake = new TypeError("x is not a function");
  expect(await looksThat(null, mistake, null)).toMatchObject({ looks: 2, result: mistake });
});

test("skipped items are reported once", () => {
  const said: string[] = [];
  const terminal = { printError: (text: string) => void said.push(text) } as unknown as Terminal;
  const follower = (skipped: boolean) => ({ takeSkipped: () => skipped });
  reportSkipped(terminal, [follower(false), follower(false)]);
  expect(said).toEqual([]);
  reportSkipped(terminal, [follower(true), follower(true)]);
  expect(said).toHaveLength(1);
});
