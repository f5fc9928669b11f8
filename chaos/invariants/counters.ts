// The third witness: what the processes that lived to the end say they did. One that was killed has taken its counters
// along, so each is held against what is known of itself alone: the ledger and the receivers know by whom.
import { type CaseFile, isSuccess } from "../evidence.ts";

/** Before all has come to rest, a count is behind by whatever is under way. */
export function counters(file: CaseFile): string[] {
  if (file.convergedAt === null) return [];
  return file.counters.flatMap((counted) => [
    ...compare(file, counted.process, "2xx", counted.succeeded, isSuccess),
    ...compare(file, counted.process, "answered", counted.answered, (status) => status !== null),
  ]);
}

/**
 * At least as many as the ledger has of it, and at most as many as receivers answered: in between is what was answered
 * and could not be written down, because the process was taken for dead meanwhile.
 */
function compare(
  file: CaseFile,
  process: string,
  what: string,
  counted: number,
  isMeant: (status: number | null) => boolean,
): string[] {
  const sent = file.requests.filter(({ sender }) => sender === process);
  const answered = sent.filter(({ status }) => isMeant(status)).length;
  const recorded = sent.filter(({ deliveryId, attempt }) =>
    isMeant(file.attemptsOf.get(deliveryId)?.get(attempt)?.statusCode ?? null),
  ).length;
  return counted >= recorded && counted <= answered
    ? []
    : [
        `${process} counts ${counted} attempts as ${what}; ${recorded} are in the ledger, receivers answered ${answered}`,
      ];
}
