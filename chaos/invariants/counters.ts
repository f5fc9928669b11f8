// Compares the metrics of each running process with the database and the receivers. Counters of killed processes are
// lost, so each process is compared separately.
import { type IndexedEvidence, isSuccess } from "../evidence/evidence.ts";

/** Checks nothing before convergence, because requests may be in flight. */
export function counters(evidence: IndexedEvidence): string[] {
  if (evidence.convergedAt === null) return [];
  return evidence.counters.flatMap((counted) => [
    ...compare(evidence, counted.process, "2xx", counted.succeeded, isSuccess),
    ...compare(evidence, counted.process, "responded", counted.responded, (status) => status !== null),
  ]);
}

/**
 * The count must lie between the recorded attempts and the receivers' responses. The difference are responses that could
 * not be recorded because the process was declared dead meanwhile.
 */
function compare(
  evidence: IndexedEvidence,
  process: string,
  what: string,
  counted: number,
  isMeant: (status: number | null) => boolean,
): string[] {
  const sent = evidence.requests.filter(({ sender }) => sender === process);
  const responded = sent.filter(({ status }) => isMeant(status)).length;
  const recorded = sent.filter(({ deliveryId, attempt }) =>
    isMeant(evidence.attemptsOf.get(deliveryId)?.get(attempt)?.statusCode ?? null),
  ).length;
  return counted >= recorded && counted <= responded
    ? []
    : [
        `${process} counts ${counted} attempts as ${what}; ${recorded} are recorded; receivers sent ${responded}`,
      ];
}
