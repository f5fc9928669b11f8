// The way of one delivery, on one screen:
//
//   ClaimedDelivery ─► PreparedRequest ─► AttemptOutcome ─► Decision ─► Settlement
//
// How it came to be claimed is told in event/, fan-out/ and delivery/; how it is written down in settle/.
import { RENEWAL_GRACE_MS } from "./attempt/build-notification.ts";
import { buildRequest, type Moment } from "./attempt/build-request.ts";
import { hideEcho } from "./attempt/hide-echo.ts";
import { REDACTED } from "./catalogue/redact.ts";
import { PosthornError } from "./errors.ts";
import {
  type AttemptError,
  type AttemptOutcome,
  type ClaimedDelivery,
  type Event,
  NO_PHASES,
  type PreparedRequest,
  type Settlement,
  type Target,
} from "./model.ts";
import { endAttempt } from "./observe/observer.ts";
import { isTraceparent, type Span } from "./observe/tracing.ts";
import { decide } from "./settle/decide.ts";

export interface Stages {
  readonly now: () => Date;
  readonly userAgent: string;
  /** Null when nobody traces. */
  readonly trace: (delivery: ClaimedDelivery) => Span | null;
  /** What the catalogue hides is masked in it. */
  readonly openly: (event: Event) => Event;
  /** The only network call. It never rejects for what a receiver does. */
  readonly send: (request: PreparedRequest) => Promise<AttemptOutcome>;
}

/** One attempt, from claim to settlement. Null when this process stops and broke it off: its burial records that. */
export async function deliver(
  delivery: ClaimedDelivery,
  target: Target,
  stages: Stages,
): Promise<Settlement | null> {
  const startedAt = stages.now();
  const span = stages.trace(delivery);
  const traceparent = sendable(span === null ? delivery.event.traceparent : span.traceparent);
  const request = hasEnded(target, startedAt)
    ? LEASE_ENDED
    : prepare(delivery, target, { startedAt, traceparent }, stages);
  const outcome = "kind" in request ? request : await stages.send(request);
  if (span !== null) endAttempt(span, outcome);
  if (outcome.kind === "failed" && outcome.error === "unknown") return null;
  const decision = decide(delivery, outcome, target, Math.random, stages.now().getTime());
  const kept = "kind" in request ? outcome : hideEcho(outcome, request, REDACTED);
  return { delivery, traceparent, startedAt, outcome: kept, decision };
}

function hasEnded({ websub }: Target, now: Date): boolean {
  return websub !== null && websub.leaseEndsMs + RENEWAL_GRACE_MS <= now.getTime();
}

const LEASE_ENDED: AttemptOutcome = {
  kind: "failed",
  error: "lease_ended",
  detail: "not sent: the subscription had ended",
  durationMs: 0,
  phases: NO_PHASES,
};

/** SQL may have noted anything on the event, and one that is no header would cost the delivery. */
function sendable(traceparent: string | undefined): string | undefined {
  return isTraceparent(traceparent) ? traceparent : undefined;
}

/** What cannot be made into a request fails this delivery alone, never the loop. */
function prepare(
  delivery: ClaimedDelivery,
  target: Target,
  moment: Moment,
  { openly, userAgent }: Stages,
): PreparedRequest | AttemptOutcome {
  try {
    // a topic shows its events to everybody
    const shown = target.websub === null ? delivery : { ...delivery, event: openly(delivery.event) };
    return buildRequest(shown, target, moment, userAgent);
  } catch (error) {
    const detail = (error as Error).message;
    return { kind: "failed", error: reasonNotMade(error), detail, durationMs: 0, phases: NO_PHASES };
  }
}

function reasonNotMade(error: unknown): AttemptError {
  const isKeyMissing =
    error instanceof PosthornError && ["encryption_key_missing", "secret_unreadable"].includes(error.code);
  return isKeyMissing ? "not_signed" : "invalid_request";
}
