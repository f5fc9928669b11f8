import { expect, onTestFinished, test, vi } from "vitest";
import {
  type FollowOptions,
  follow,
  parseMessages,
  SILENCE_LIMIT_MS,
  type StreamState,
  waitMs,
} from "./follow.ts";

interface Followed {
  readonly states: StreamState[];
  readonly asked: (string | null)[];
  readonly waits: number[];
  readonly data: string[];
}

/** Follows a stream with these responses in turn; ends after the last one. */
async function followed(
  answers: readonly (() => Response | Promise<Response>)[],
  given: Partial<FollowOptions> = {},
): Promise<Followed> {
  const controller = new AbortController();
  const seen: Followed = { states: [], asked: [], waits: [], data: [] };
  const waiting = [...answers];
  await follow({
    lastId: null,
    signal: controller.signal,
    random: () => 0,
    nowMs: () => 0,
    onState: (state) => seen.states.push(state),
    onMessage: ({ data }) => seen.data.push(data),
    request: async (lastId) => {
      seen.asked.push(lastId);
      const result = waiting.shift();
      if (result !== undefined) return await result();
      controller.abort();
      throw new Error("given up");
    },
    pause: async (ms) => void seen.waits.push(ms),
    ...given,
  });
  return seen;
}

const says = (text: string) => () => new Response(text);
const refuses =
  (status: number, headers: Record<string, string> = {}) =>
  () =>
    new Response("", { status, headers });
const isAway = () => Promise.reject(new TypeError("Failed to fetch"));

test("a broken stream is reported as lost and resumes after the last message", async () => {
  const { states, asked, data } = await followed([
    says("id: 7\nevent: changes\ndata: a\n\nid: 9\nevent: heartbeat\ndata: {}\n\n"),
    says("id: 12\nevent: changes\ndata: b\n\n"),
  ]);
  expect(states).toEqual(["connecting", "live", "lost", "live", "lost"]);
  expect(asked).toEqual([null, "9", "12"]);
  expect(data).toEqual(["a", "{}", "b"]);
});

test("a stream resumes after the last message of another tab", async () => {
  expect((await followed([], { lastId: "5" })).asked).toEqual(["5"]);
});

test("an unreachable server is retried with backoff, at least every 15 s", async () => {
  const { waits } = await followed(Array.from({ length: 7 }, () => isAway));
  expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000]);
});

test("streams that break at once count as failures, and a stable one resets the backoff", async () => {
  expect((await followed([says(""), says(""), says("")])).waits).toEqual([1_000, 2_000, 4_000]);
  let now = 0;
  const { waits } = await followed([isAway, isAway, says(""), isAway], { nowMs: () => (now += 5_000) });
  expect(waits).toEqual([1_000, 2_000, 1_000, 2_000]);
});

test("Retry-After of an overloaded server is respected", async () => {
  const full = refuses(429, { "retry-after": "5" });
  const stopping = refuses(503, { "retry-after": "2" });
  expect((await followed([full, stopping, refuses(503), full])).waits).toEqual([5_000, 2_000, 4_000, 8_000]);
});

test("waits have jitter and last at most 90 s, regardless of Retry-After", () => {
  expect(waitMs(1, 0, 0.5)).toBe(1_250);
  expect(waitMs(1, 86_400_000, 1)).toBe(90_000);
});

test("a stream without a session or permission is not reopened", async () => {
  for (const [status, state] of [
    [401, "over"],
    [403, "refused"],
  ] as const) {
    const { states, asked } = await followed([says(""), refuses(status), says("")]);
    expect([states.at(-1), asked.length]).toEqual([state, 2]);
  }
});

test("a silent connection is aborted", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let signal: AbortSignal | undefined;
  const silent = (_: string | null, given: AbortSignal) => {
    signal = given;
    return new Promise<Response>((_resolve, reject) => given.addEventListener("abort", reject));
  };
  const controller = new AbortController();
  const isFinished = followed([], {
    request: silent,
    signal: controller.signal,
    pause: async () => controller.abort(),
  });
  await vi.advanceTimersByTimeAsync(SILENCE_LIMIT_MS - 1);
  expect(signal?.aborted).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(signal?.aborted).toBe(true);
  await isFinished;
});

test("complete messages are returned, and an incomplete one is kept", () => {
  const { messages, rest } = parseMessages('id: 7\nevent: changes\ndata: {"a":1}\n\nid: 8\nda');
  expect(messages).toEqual([{ id: "7", event: "changes", data: '{"a":1}' }]);
  expect(rest).toBe("id: 8\nda");
});

test("comments and messages without data are ignored", () => {
  expect(parseMessages(": still here\n\nretry: 2000\n\n")).toEqual({ messages: [], rest: "" });
});
