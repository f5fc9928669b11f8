// One attempt over HTTP, for every kind of destination that sends a request.
import { REDACTED } from "../../catalogue/redact.ts";
import { PosthornError } from "../../errors.ts";
import {
  type AttemptError,
  type AttemptOutcome,
  type ClaimedDelivery,
  NO_PHASES,
  type PreparedRequest,
  type Target,
} from "../../model.ts";
import type { AttemptMoment, AttemptServices, Destination } from "../destination.ts";
import { maskEcho } from "./mask-echo.ts";

export interface HttpDestination extends Destination {
  request(...parameters: Parameters<Destination["request"]>): PreparedRequest;
}

/** A request that cannot be built fails this delivery only. */
export function attemptOverHttp(
  destination: HttpDestination,
  delivery: ClaimedDelivery,
  target: Target,
  moment: AttemptMoment,
  services: AttemptServices,
): AttemptOutcome | Promise<AttemptOutcome> {
  let request: PreparedRequest;
  try {
    const sent = destination.isPublic ? { ...delivery, event: services.redact(delivery.event) } : delivery;
    request = destination.request(sent, target, moment, services.userAgent);
  } catch (error) {
    return notSent(reasonNotBuilt(error), (error as Error).message);
  }
  const outcome = services.send(request);
  if (request.confidential === undefined) return outcome;
  return outcome.then((known) => maskEcho(known, request, REDACTED));
}

export function notSent(error: AttemptError, detail: string): AttemptOutcome {
  return { kind: "failed", error, detail, durationMs: 0, phases: NO_PHASES };
}

function reasonNotBuilt(error: unknown): AttemptError {
  const isKeyMissing =
    error instanceof PosthornError && ["encryption_key_missing", "secret_unreadable"].includes(error.code);
  return isKeyMissing ? "not_signed" : "invalid_request";
}
