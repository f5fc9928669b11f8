// Destinations that send one HTTP request per attempt, and the meaning of its outcome.
import { REDACTED } from "../../catalogue/redact.ts";
import { PosthornError } from "../../errors.ts";
import {
  type AttemptError,
  type AttemptOutcome,
  notSent,
  type OutcomeClass,
  type PreparedRequest,
  type RetryOn,
} from "../../model.ts";
import type { Destination } from "../destination.ts";
import { maskEcho } from "./mask-echo.ts";

type HttpKind = Partial<Omit<Destination, "request">> & {
  readonly request: (...parameters: Parameters<Destination["request"]>) => PreparedRequest;
};

/** A kind needs a request; the rest defaults to that of a webhook. */
export function httpDestination({ request, isPublic = false, ...kind }: HttpKind): Destination {
  return {
    mayStart: true,
    allowedPerMinute: null,
    acceptsReplays: true,
    isPermanent: true,
    accepts: () => true,
    interpret: classify,
    /** A request that cannot be built fails this delivery only. */
    attempt(delivery, target, moment, services) {
      let prepared: PreparedRequest;
      try {
        const sent = isPublic ? { ...delivery, event: services.redact(delivery.event) } : delivery;
        prepared = request(sent, target, moment, target.userAgent);
      } catch (error) {
        return notSent({ error: reasonNotBuilt(error), detail: (error as Error).message });
      }
      const outcome = services.dispatchers.send(prepared, services.signal);
      if (prepared.confidential === undefined) return outcome;
      return outcome.then((known) => maskEcho(known, prepared, REDACTED));
    },
    ...kind,
    isPublic,
    request,
  };
}

function reasonNotBuilt(error: unknown): AttemptError {
  const isKeyMissing =
    error instanceof PosthornError && ["encryption_key_missing", "secret_unreadable"].includes(error.code);
  return isKeyMissing ? "not_signed" : "invalid_request";
}

/** Classifies the outcome of an HTTP request, independent of the number of attempts left. */
export function classify(outcome: AttemptOutcome, retryOn: RetryOn): OutcomeClass {
  if (outcome.kind === "failed") return BY_ERROR[outcome.error];
  if (outcome.statusCode === 409 && outcome.retryAfter !== null) return "later";
  return classifyStatus(outcome.statusCode, retryOn);
}

function classifyStatus(status: number, retryOn: RetryOn): OutcomeClass {
  if (status >= 200 && status <= 299) return "delivered";
  if (status === 410) return "gone";
  if (retryOn === "every") return "transient";
  if (status === 408 || status === 429) return "transient";
  // A status outside 100–599 counts as a 5xx (RFC 9110 §15). A 1xx never ends a response.
  return status >= 300 && status <= 499 ? "permanent" : "transient";
}

// Our own refusals are permanent regardless of `retryOn`: the receiver never got the request, and an attacker would
// want fast retries of a blocked address.
const BY_ERROR: Readonly<Record<AttemptError, OutcomeClass>> = {
  timeout: "transient",
  dns_error: "transient",
  connection_refused: "transient",
  connection_reset: "transient",
  connection_error: "transient",
  tls_error: "transient",
  bad_response: "transient",
  headers_too_large: "transient",
  // a key is missing in this process: the operator can fix it, and the customer must not lose the delivery
  not_signed: "transient",
  unknown: "transient",
  blocked_address: "permanent",
  invalid_request: "permanent",
  // nothing was sent: the subscriber's lease has ended
  lease_expired: "permanent",
};

const NOT_OF_RECEIVERS: readonly string[] = ["not_signed", "unknown", "invalid_request", "lease_expired"];

/** The errors that depend on the receiver. */
export const RECEIVER_ERRORS = (Object.keys(BY_ERROR) as AttemptError[]).filter(
  (error) => !NOT_OF_RECEIVERS.includes(error),
);
