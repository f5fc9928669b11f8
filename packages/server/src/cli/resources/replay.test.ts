import type { Replay } from "@posthorn/client";
import { expect, test } from "vitest";
import { describeReplay } from "./replay.ts";

const none = { delivered: 0, failed: 0, dead: 0, waiting: 0, replayed_again: 0, in_batches: 0 };
const shown = (change: Partial<Replay>): string =>
  describeReplay({
    id: "rpl_1",
    state: "finished",
    total: 155,
    done: 155,
    skipped: {},
    outcomes: none,
    start_at: null,
    cancel_reason: null,
    ...change,
  } as Replay);

test("a finished replay says what became of its deliveries, and how to ask again while some are open", () => {
  expect(shown({ outcomes: { ...none, dead: 17, waiting: 138 } })).toBe(
    [
      "rpl_1 is finished: 155 of 155 queued again.",
      "Outcomes: 17 dead, 138 waiting.",
      "Show the outcomes later: posthorn replay get rpl_1",
    ].join("\n"),
  );
  expect(shown({ outcomes: { ...none, delivered: 155 } })).toBe(
    "rpl_1 is finished: 155 of 155 queued again.\nOutcomes: 155 delivered.",
  );
});

test("every outcome has a text, and a replay that queued nothing has none", () => {
  const each = { delivered: 1, failed: 2, dead: 3, waiting: 4, replayed_again: 5, in_batches: 6 };
  expect(shown({ outcomes: each })).toContain(
    "1 delivered, 2 failed, to be retried, 3 dead, 4 waiting, 5 queued again by a later replay, 6 in batches.",
  );
  expect(shown({ done: 0, total: 0 })).not.toContain("Outcomes");
});
