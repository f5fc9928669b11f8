// Compares the database with the receivers' log.
import { groupBy, type IndexedEvidence, isSuccess } from "../evidence/evidence.ts";
import { maxAttempts } from "../options.ts";

export function ledgerMatchesRequests(evidence: IndexedEvidence): string[] {
  const requestOf = groupBy(evidence.requests, ({ deliveryId, attempt }) => `${deliveryId} ${attempt}`);
  const unrecorded = [...requestOf].flatMap(([attempt, requests]) => {
    const [deliveryId = "", number] = attempt.split(" ");
    const recorded = evidence.attemptsOf.get(deliveryId)?.get(Number(number));
    if (recorded === undefined) return `${attempt} was sent but not recorded`;
    return requests.length > 1 ? `${attempt} was sent ${requests.length} times` : [];
  });
  const unseen = evidence.attempts.flatMap(({ deliveryId, number, statusCode }) => {
    const seen = requestOf.get(`${deliveryId} ${number}`)?.[0]?.status ?? null;
    return statusCode === null || statusCode === seen
      ? []
      : `${deliveryId} ${number} is recorded with ${statusCode}; the receiver ${seen === null ? "sent no status" : `sent ${seen}`}`;
  });
  return [...unrecorded, ...unseen];
}

export function attemptNumbers(evidence: IndexedEvidence): string[] {
  return evidence.deliveries.flatMap(({ id, attempts, state }) => {
    const numbers = [...(evidence.attemptsOf.get(id)?.keys() ?? [])].sort((a, b) => a - b);
    const recorded = [...(evidence.attemptsOf.get(id)?.values() ?? [])];
    const counted = recorded.filter(({ error }) => error !== "unknown").length;
    if (numbers.some((number, index) => number !== index + 1)) return `${id} has attempts ${numbers.join()}`;
    if (numbers.length !== attempts) return `${id} counts ${attempts} attempts and has ${numbers.length}`;
    if (counted > maxAttempts) return `${id} has ${counted} attempts`;
    const isDelivered = recorded.some(({ statusCode }) => isSuccess(statusCode));
    return (state === "success") === isDelivered
      ? []
      : `${id} is ${state} ${isDelivered ? "with" : "without"} a 2xx`;
  });
}

/** Jitter shortens a delay by at most a tenth. */
const smallestShare = 0.9;
const toleranceMs = 60;

export function schedule(evidence: IndexedEvidence): string[] {
  const { gapsMs } = evidence.scale;
  return [...evidence.requestsOf].flatMap(([deliveryId, requests]) => {
    const attempts = evidence.attemptsOf.get(deliveryId) ?? new Map();
    return requests.slice(1).flatMap((request, index) => {
      const before = requests[index] as (typeof requests)[number];
      const recorded = attempts.get(before.attempt);
      // after an unknown outcome it is retried at once; delays are measured between consecutive attempts only
      if (before.attempt !== request.attempt - 1 || recorded === undefined || recorded.error === "unknown")
        return [];
      const failures = [...attempts.values()].filter(
        ({ number, error }) => number <= before.attempt && error !== "unknown",
      ).length;
      const gapMs = (gapsMs[failures - 1] ?? (gapsMs.at(-1) as number)) * smallestShare;
      const wanted = Math.max(gapMs, recorded.statusCode === null ? 0 : (before.retryAfterMs ?? 0));
      const waited = request.arrivedAt - (before.respondedAt ?? before.arrivedAt);
      return waited < wanted - toleranceMs
        ? `${deliveryId}: attempt ${request.attempt} came after ${Math.round(waited)} ms, due after ${Math.round(wanted)}`
        : [];
    });
  });
}
