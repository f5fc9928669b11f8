// The database as the second witness: does it tell what the receivers saw?
import { type CaseFile, groupBy, isSuccess } from "../evidence.ts";
import { maxAttempts } from "../options.ts";

export function ledgerIsReality(file: CaseFile): string[] {
  const requestOf = groupBy(file.requests, ({ deliveryId, attempt }) => `${deliveryId} ${attempt}`);
  const unrecorded = [...requestOf].flatMap(([attempt, requests]) => {
    const [deliveryId = "", number] = attempt.split(" ");
    const recorded = file.attemptsOf.get(deliveryId)?.get(Number(number));
    if (recorded === undefined) return `${attempt} was sent and is not in the ledger`;
    return requests.length > 1 ? `${attempt} was sent ${requests.length} times` : [];
  });
  const unseen = file.attempts.flatMap(({ deliveryId, number, statusCode }) => {
    const seen = requestOf.get(`${deliveryId} ${number}`)?.[0]?.status ?? null;
    return statusCode === null || statusCode === seen
      ? []
      : `${deliveryId} ${number} is recorded with ${statusCode}, the receiver ${seen === null ? "sent no status" : `sent ${seen}`}`;
  });
  return [...unrecorded, ...unseen];
}

export function attemptNumbers(file: CaseFile): string[] {
  return file.deliveries.flatMap(({ id, attempts, state }) => {
    const numbers = [...(file.attemptsOf.get(id)?.keys() ?? [])].sort((a, b) => a - b);
    const recorded = [...(file.attemptsOf.get(id)?.values() ?? [])];
    const counted = recorded.filter(({ error }) => error !== "unknown").length;
    if (numbers.some((number, index) => number !== index + 1)) return `${id} has attempts ${numbers.join()}`;
    if (numbers.length !== attempts) return `${id} counts ${attempts} attempts and has ${numbers.length}`;
    if (counted > maxAttempts) return `${id} was tried ${counted} times`;
    const isDelivered = recorded.some(({ statusCode }) => isSuccess(statusCode));
    return (state === "success") === isDelivered
      ? []
      : `${id} is ${state} ${isDelivered ? "with" : "without"} a 2xx`;
  });
}

/** The jitter takes at most a tenth; the rest is for the receiver's own delay in noticing an arrival. */
const leastOfGap = 0.9;
const toleranceMs = 60;

export function schedule(file: CaseFile): string[] {
  const { gapsMs } = file.scale;
  return [...file.requestsOf].flatMap(([deliveryId, requests]) => {
    const attempts = file.attemptsOf.get(deliveryId) ?? new Map();
    return requests.slice(1).flatMap((request, index) => {
      const before = requests[index] as (typeof requests)[number];
      const recorded = attempts.get(before.attempt);
      // after an unknown end it is owed at once; and gaps are measured between neighbours only
      if (before.attempt !== request.attempt - 1 || recorded === undefined || recorded.error === "unknown")
        return [];
      const failures = [...attempts.values()].filter(
        ({ number, error }) => number <= before.attempt && error !== "unknown",
      ).length;
      const gapMs = (gapsMs[failures - 1] ?? (gapsMs.at(-1) as number)) * leastOfGap;
      const wanted = Math.max(gapMs, recorded.statusCode === null ? 0 : (before.retryAfterMs ?? 0));
      const waited = request.arrivedAt - (before.answeredAt ?? before.arrivedAt);
      return waited < wanted - toleranceMs
        ? `${deliveryId}: attempt ${request.attempt} came after ${Math.round(waited)} ms, due after ${Math.round(wanted)}`
        : [];
    });
  });
}
