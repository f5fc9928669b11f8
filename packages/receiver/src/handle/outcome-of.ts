// Translates a store's result into the outcome of the delivery.

import type { Reporter } from "../hooks/hooks.ts";
import type { Message } from "../model.ts";
import type { Outcome } from "../respond.ts";
import type { AcceptResult, ClaimResult } from "../store.ts";

type NotFree = Exclude<ClaimResult | AcceptResult, { kind: "claimed" | "accepted" }>;

export function outcomeOf(result: NotFree, message: Message, report: Reporter): Outcome {
  switch (result.kind) {
    case "done":
    case "waiting":
    case "dead":
      return { kind: "duplicate" };
    case "other_body":
      report.conflict(message);
      return result;
    case "stale":
      report.stale(message);
      return result;
    default:
      return result;
  }
}
