// Compares with the sender's own decision, so that `deliver` retries as Posthorn does.
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
import { type AttemptState, type Next, nextAttempt } from "./retries.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const HOUR_MS = 3_600_000;

test("after every response the next attempt has the same delay as Posthorn's", () => {
  const statuses = [100, 200, 202, 299, 302, 400, 401, 404, 408, 409, 410, 413, 422, 429, 500, 503];
  for (const status of [null, ...statuses]) {
    for (const retryAfter of [null, 0, 30, 90_000]) {
      for (const state of [
        { attempts: 0, failures: 0, waitedMs: 0 },
        { attempts: 3, failures: 1, waitedMs: 2 * HOUR_MS },
        { attempts: 9, failures: 4, waitedMs: 23 * HOUR_MS },
        { attempts: 20, failures: 5, waitedMs: 25 * HOUR_MS },
      ]) {
        const next = nextAttempt(status, retryAfter, state);
        expect({ status, retryAfter, state, next }).toMatchObject({
          next: posthornDecides(status, retryAfter, state),
        });
      }
    }
  }
});

function posthornDecides(status: number | null, retryAfter: number | null, state: AttemptState): Next {
  const outcome: AttemptOutcome =
    status === null
      ? { kind: "failed", error: "timeout", detail: "", durationMs: 0, phases: NO_PHASES }
      : {
          kind: "responded",
          statusCode: status,
          responseBody: new Uint8Array(),
          retryAfter: retryAfter === null ? null : String(retryAfter),
          durationMs: 0,
          phases: NO_PHASES,
        };
  const { attempts, failures, waitedMs } = state;
  const delivery = { attempts, failures, scheduleStartedMs: NOW - waitedMs } as ClaimedDelivery;
  const outcomeClass = WEBHOOK.interpret(outcome, "transient");
  const target = { retryPolicy: RETRY_PRESETS.courier };
  return asNext(decide(delivery, outcome, outcomeClass, target, () => 0.5, NOW));
}

function asNext(decision: Decision): Next {
  if (decision.kind === "delivered") return { kind: "delivered" };
  if (decision.kind === "dead") return { kind: "dead" };
  return { kind: "retry", afterMs: decision.delayMs, isFailure: decision.isFailure };
}
