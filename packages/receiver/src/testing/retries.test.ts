// Held against the sender's own decision, so that a test with `deliver` sees what a receiver will see.
import { RETRY_PRESETS } from "@posthorn/wire";
import { expect, test } from "vitest";
import { WEBHOOK } from "../../../posthorn/src/destinations/webhook/webhook.ts";
import {
  type AttemptOutcome,
  type ClaimedDelivery,
  type Decision,
  NO_PHASES,
} from "../../../posthorn/src/model.ts";
import { decide } from "../../../posthorn/src/settle/decide.ts";
import { type AttemptState, COURIER_GAPS_MS, type Next, nextAttempt } from "./retries.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const HOUR_MS = 3_600_000;

test("the gaps are Posthorn's default", () => {
  expect(RETRY_PRESETS.courier).toEqual({ kind: "gaps", gapsMs: COURIER_GAPS_MS });
});

test("after every answer the next attempt comes when Posthorn's would", () => {
  let compared = 0;
  for (const status of [
    null,
    100,
    200,
    202,
    299,
    302,
    400,
    401,
    404,
    408,
    409,
    410,
    413,
    422,
    429,
    500,
    503,
  ]) {
    for (const retryAfter of [null, 0, 30, 90_000]) {
      for (const [attempts, failures, waitedMs] of [
        [0, 0, 0],
        [3, 1, 2 * HOUR_MS],
        [9, 4, 23 * HOUR_MS],
        [20, 5, 25 * HOUR_MS],
      ] as const) {
        const state: AttemptState = { attempts, failures, waitedMs };
        const expected = posthornDecides(status, retryAfter, state);
        expect(nextAttempt(status, retryAfter, state), JSON.stringify([status, retryAfter, state])).toEqual(
          expected,
        );
        compared += 1;
      }
    }
  }
  expect(compared).toBe(17 * 4 * 4);
});

function posthornDecides(status: number | null, retryAfter: number | null, state: AttemptState): Next {
  const outcome: AttemptOutcome =
    status === null
      ? { kind: "failed", error: "timeout", detail: "", durationMs: 0, phases: NO_PHASES }
      : {
          kind: "answered",
          statusCode: status,
          responseBody: new Uint8Array(),
          retryAfter: retryAfter === null ? null : String(retryAfter),
          durationMs: 0,
          phases: NO_PHASES,
        };
  const { attempts, failures, waitedMs } = state;
  const delivery = { attempts, failures, scheduleStartedMs: NOW - waitedMs } as ClaimedDelivery;
  const target = {
    destination: WEBHOOK,
    retryPolicy: RETRY_PRESETS.courier,
    retryOn: "transient",
  } as const;
  return asNext(decide(delivery, outcome, target, () => 0.5, NOW));
}

function asNext(decision: Decision): Next {
  if (decision.kind === "delivered") return { kind: "delivered" };
  if (decision.kind === "dead") return { kind: "dead" };
  return { kind: "retry", afterMs: decision.delayMs, isFailure: decision.isFailure };
}
