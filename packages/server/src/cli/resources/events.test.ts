import { expect, test } from "vitest";
import { outcomeText } from "./events.ts";

const counts = { deliveries: 0, delivered: 0, failed: 0, dead: 0, waiting: 0 };
const rejection = {
  code: "invalid_event",
  pointer: "/data/amount",
  message: "…",
  rejected_at: "2026-11-20T00:00:00Z",
} as const;

test("a rejected event is listed as rejected or discarded, and one without endpoints as such", () => {
  const outcome = { ...counts, state: "unmatched" } as const;
  expect(outcomeText({ outcome, rejection: null })).toBe("no subscriber");
  expect(outcomeText({ outcome, rejection: { ...rejection, discarded_at: null } })).toBe("rejected");
  const discarded = { ...rejection, discarded_at: "2026-11-20T00:01:00Z" };
  expect(outcomeText({ outcome, rejection: discarded })).toBe("discarded");
});
