// How long events wait while nothing is wrong with their own receivers.
import { type CaseFile, expectedAt, groupBy, type Stretch } from "../evidence.ts";
import { percentile } from "../percentile.ts";

/**
 * Two cores that are not alone stand still for a second now and then, and nine in ten are slow in a quiet that begins
 * with a cold start; an endpoint that waits for another one waits for two timeouts, which are 4 s.
 */
const timesAllowed = 3;
const marginMs = 1_000;
const share = 0.9;

export function latency(file: CaseFile): string[] {
  const usualMs = percentile([...waitsMs(file, file.quiet).values()].flat(), share);
  const allowedMs = Math.max(timesAllowed * usualMs, usualMs + marginMs);
  const tooLong = (stretch: Stretch, when: string, except: string | null): string[] =>
    [...waitsMs(file, stretch)].flatMap(([name, waits]) => {
      const waited = percentile(waits, share);
      return name === except || waited <= allowedMs
        ? []
        : `${name} got one event in ten ${Math.round(waited)} ms after its acknowledgement or later ${when}, ${Math.round(allowedMs)} are allowed`;
    });
  const { blackHole, calm } = file;
  return [
    ...tooLong(blackHole, `while ${blackHole.endpoint} answered nothing`, blackHole.endpoint),
    ...(calm === null ? [] : tooLong(calm, "when all was well again", null)),
  ];
}

/** By endpoint, from the acknowledgement to the first request; what comes after the stretch has waited until its end. */
function waitsMs(file: CaseFile, { from, until }: Stretch): Map<string, number[]> {
  const firstRequestAt = new Map<string, number>();
  for (const { endpoint, eventId, arrivedAt } of file.requests) {
    const visit = `${endpoint} ${eventId}`;
    firstRequestAt.set(visit, Math.min(arrivedAt, firstRequestAt.get(visit) ?? arrivedAt));
  }
  const visits = file.publishes.flatMap((publish) => {
    const { acknowledgedAt: at, ids } = publish;
    if (at === null || at < from || at >= until) return [];
    return expectedAt(file, publish).map(({ name }) => {
      const firstAt = firstRequestAt.get(`${name} ${ids[0]}`) ?? until;
      return { name, waitedMs: Math.min(firstAt, until) - at };
    });
  });
  return new Map(
    [...groupBy(visits, ({ name }) => name)].map(([name, own]) => [
      name,
      own.map(({ waitedMs }) => waitedMs),
    ]),
  );
}
