// Waiting time of events for healthy receivers.
import { expectedAt, groupBy, type IndexedEvidence, type Interval } from "../evidence/evidence.ts";
import { percentile } from "../evidence/percentile.ts";

/** Shared cores stall for a second now and then. An endpoint that waits for another one would wait for two timeouts, 4 s. */
const timesAllowed = 3;
const marginMs = 1_000;
const share = 0.9;

export function latency(evidence: IndexedEvidence): string[] {
  const usualMs = percentile([...waitsMs(evidence, evidence.baseline).values()].flat(), share);
  const allowedMs = Math.max(timesAllowed * usualMs, usualMs + marginMs);
  const tooLong = (interval: Interval, when: string, except: string | null): string[] =>
    [...waitsMs(evidence, interval)].flatMap(([name, waits]) => {
      const waited = percentile(waits, share);
      return name === except || waited <= allowedMs
        ? []
        : `${name}: 90 % of events arrived within ${Math.round(waited)} ms of their acknowledgement ${when}; the limit is ${Math.round(allowedMs)} ms`;
    });
  const { blackHole, final } = evidence;
  return [
    ...tooLong(blackHole, `while ${blackHole.endpoint} did not respond`, blackHole.endpoint),
    ...(final === null ? [] : tooLong(final, "after recovery", null)),
  ];
}

/** Returns, by endpoint, the given time from acknowledgement to first request, cut off at the end of the interval. */
function waitsMs(evidence: IndexedEvidence, { from, until }: Interval): Map<string, number[]> {
  const firstRequestAt = new Map<string, number>();
  for (const { endpoint, eventId, arrivedAt } of evidence.requests) {
    const visit = `${endpoint} ${eventId}`;
    firstRequestAt.set(visit, Math.min(arrivedAt, firstRequestAt.get(visit) ?? arrivedAt));
  }
  const visits = evidence.publishes.flatMap((publish) => {
    const { acknowledgedAt: at, ids } = publish;
    if (at === null || at < from || at >= until) return [];
    return expectedAt(evidence, publish).map(({ name }) => {
      const firstAt = firstRequestAt.get(`${name} ${ids[0]}`) ?? until;
      return { name, waitedMs: evidence.givenMs({ from: at, until: Math.min(firstAt, until) }) };
    });
  });
  return new Map(
    [...groupBy(visits, ({ name }) => name)].map(([name, own]) => [
      name,
      own.map(({ waitedMs }) => waitedMs),
    ]),
  );
}
