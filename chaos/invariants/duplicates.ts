// How often something is sent.
import { type CaseFile, isSuccess, type ReceivedRequest } from "../evidence.ts";

export function noAttemptAfterSuccess(file: CaseFile): string[] {
  return [...file.attemptsOf].flatMap(([deliveryId, attempts]) => {
    const success = [...attempts.values()].find(({ statusCode }) => isSuccess(statusCode))?.number;
    if (success === undefined) return [];
    const later = [
      ...[...attempts.keys()].filter((number) => number > success),
      ...(file.requestsOf.get(deliveryId) ?? []).flatMap(({ attempt }) => (attempt > success ? attempt : [])),
    ];
    return later.map((number) => `${deliveryId}: attempt ${number} after the success of ${success}`);
  });
}

/** Requests of a delivery that were answered 2xx, beyond the first. */
export function duplicates(file: CaseFile): ReceivedRequest[] {
  return [...file.requestsOf.values()].flatMap((requests) =>
    requests.filter(({ status }) => isSuccess(status)).slice(1),
  );
}

/**
 * Attempts that reached the receiver and whose end the sender could not know: it died, or hung up before the answer
 * came, or was hung up on.
 */
export function unknownEnds(file: CaseFile, deliveryId: string): number {
  const attempts = file.attemptsOf.get(deliveryId);
  return (file.requestsOf.get(deliveryId) ?? []).filter(({ attempt, content }) => {
    const error = attempts?.get(attempt)?.error ?? null;
    return content !== null && error !== null && ambiguous.has(error);
  }).length;
}

const ambiguous = new Set(["unknown", "timeout", "connection_reset"]);

export function duplicateBound(file: CaseFile): string[] {
  return [...file.requestsOf].flatMap(([deliveryId, requests]) => {
    const extra = requests.filter(({ status }) => isSuccess(status)).length - 1;
    const bound = unknownEnds(file, deliveryId);
    return extra > bound ? `${deliveryId}: taken ${extra + 1} times, with ${bound} unknown ends` : [];
  });
}

export function quietHasNoDuplicates({ requestsOf, quiet, calm }: CaseFile): string[] {
  return [...requestsOf].flatMap(([deliveryId, requests]) => {
    const isBefore = requests.every(({ endedAt }) => endedAt < quiet.until);
    const isAfter = calm !== null && requests.every(({ arrivedAt }) => arrivedAt >= calm.from);
    return (isBefore || isAfter) && requests.length > 1
      ? `${deliveryId} was sent ${requests.length} times`
      : [];
  });
}
