// Classifies the outcome of an HTTP request, independent of the number of attempts left.
import type { AttemptError, AttemptOutcome, OutcomeClass, RetryOn } from "../../model.ts";

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
