// Repeated requests.
import { type IndexedEvidence, isSuccess, type ReceivedRequest } from "../evidence/evidence.ts";

export function noAttemptAfterSuccess(evidence: IndexedEvidence): string[] {
  return [...evidence.attemptsOf].flatMap(([deliveryId, attempts]) => {
    const success = [...attempts.values()].find(({ statusCode }) => isSuccess(statusCode))?.number;
    if (success === undefined) return [];
    const later = [
      ...[...attempts.keys()].filter((number) => number > success),
      ...(evidence.requestsOf.get(deliveryId) ?? []).flatMap(({ attempt }) =>
        attempt > success ? attempt : [],
      ),
    ];
    return later.map((number) => `${deliveryId}: attempt ${number} after the success of ${success}`);
  });
}

/** Returns the requests of each delivery with a 2xx beyond the first. */
export function duplicates(evidence: IndexedEvidence): ReceivedRequest[] {
  return [...evidence.requestsOf.values()].flatMap((requests) =>
    requests.filter(({ status }) => isSuccess(status)).slice(1),
  );
}

/** Counts attempts that reached the receiver and whose outcome the sender could not know: it died, timed out, or lost the connection. */
export function unknownOutcomes(evidence: IndexedEvidence, deliveryId: string): number {
  const attempts = evidence.attemptsOf.get(deliveryId);
  return (evidence.requestsOf.get(deliveryId) ?? []).filter(({ attempt, content }) => {
    const error = attempts?.get(attempt)?.error ?? null;
    return content !== null && error !== null && ambiguous.has(error);
  }).length;
}

const ambiguous = new Set(["unknown", "timeout", "connection_reset"]);

export function duplicateBound(evidence: IndexedEvidence): string[] {
  return [...evidence.requestsOf].flatMap(([deliveryId, requests]) => {
    const extra = requests.filter(({ status }) => isSuccess(status)).length - 1;
    const bound = unknownOutcomes(evidence, deliveryId);
    return extra > bound ? `${deliveryId}: accepted ${extra + 1} times, with ${bound} unknown outcomes` : [];
  });
}

export function baselineHasNoDuplicates({ requestsOf, baseline, final }: IndexedEvidence): string[] {
  return [...requestsOf].flatMap(([deliveryId, requests]) => {
    const isBefore = requests.every(({ endedAt }) => endedAt < baseline.until);
    const isAfter = final !== null && requests.every(({ arrivedAt }) => arrivedAt >= final.from);
    return (isBefore || isAfter) && requests.length > 1
      ? `${deliveryId} was sent ${requests.length} times`
      : [];
  });
}
