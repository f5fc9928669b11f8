// Due deliveries are sent in time.
import { groupBy, type IndexedEvidence, type Interval, type ReceivedRequest } from "../evidence/evidence.ts";
import { during, endpointHolds, faultWindows, judge, overlaps } from "../evidence/fault-windows.ts";
import { lowestIndex } from "../evidence/lowest-index.ts";

const promisedMs = 1_000;
/**
 * A worker that misses a notification surveys its lanes once a second; then it fetches and connects. A lane that is yielded
 * while every worker is busy is left to others for a second and claimed by a poll within half a second, so that half a
 * second is left for the statements.
 */
const slackMs = 1_000;

export function liveness(evidence: IndexedEvidence): string[] {
  return waits(evidence).flatMap(({ request, waitedMs }) =>
    waitedMs <= promisedMs + slackMs
      ? []
      : `${request.deliveryId} ${request.attempt} reached ${request.endpoint} ${Math.round(waitedMs)} ms after it was due, without an excuse`,
  );
}

/** Returns the given time from when each attempt was due until it arrived, unless excused by faults or the endpoint. */
export function waits(
  evidence: IndexedEvidence,
): { request: ReceivedRequest; waitedMs: number; isExcused: boolean }[] {
  const faults = faultWindows(evidence);
  const holds = endpointHolds(evidence);
  const turnAt = turns(evidence);
  return [...groupBy(evidence.requests, ({ endpoint }) => endpoint)].flatMap(([endpoint, unsorted]) => {
    const requests = unsorted.toSorted((a, b) => a.arrivedAt - b.arrivedAt);
    return requests.flatMap((request) => {
      const firstDueAt = dueAt(evidence, request);
      if (firstDueAt === null) return [];
      const until = request.arrivedAt;
      const wait: Interval = { from: Math.min(until, Math.max(firstDueAt, turnAt(request))), until };
      const owner = requests[lowestIndex(requests, ({ arrivedAt }) => arrivedAt >= wait.from) - 1]?.sender;
      const met = faults.filter((window) => overlaps(window, wait));
      // the lane may have moved between workers, so a fault on any of them may have delayed it
      const hasMoved =
        owner !== request.sender || met.some(({ victim }) => victim === null || victim === owner);
      const excuses = [...(hasMoved ? met : []), ...during(holds.get(endpoint) ?? [], wait)];
      return { request, ...judge(evidence, wait, excuses) };
    });
  });
}

/** Returns null if unknown: the publisher got no reply, or the previous attempt has an unknown outcome. */
function dueAt(
  evidence: IndexedEvidence,
  { deliveryId, attempt, content, eventId }: ReceivedRequest,
): number | null {
  if (attempt > 1) return evidence.attemptsOf.get(deliveryId)?.get(attempt - 1)?.nextRetryAt ?? null;
  const publish = evidence.publishOf.get(content?.key ?? "");
  return publish?.ids[0] === eventId ? publish.acknowledgedAt : null;
}

/** Returns, for ordered endpoints, when the last request of an earlier event of the subject ended. */
function turns(evidence: IndexedEvidence): (request: ReceivedRequest) => number {
  const endedAt = new Map<string, number>();
  const isOrdered = ({ endpoint, content }: ReceivedRequest) =>
    content?.subject != null && evidence.endpointNamed.get(endpoint)?.isOrdered === true;
  const lines = groupBy(evidence.requests.filter(isOrdered), (it) => `${it.endpoint} ${it.content?.subject}`);
  for (const line of lines.values()) {
    const turns = [...groupBy(line, ({ content }) => content?.sequence as number)];
    let earlier = Number.NEGATIVE_INFINITY;
    for (const [, requests] of turns.sort(([a], [b]) => a - b)) {
      for (const { deliveryId } of requests) endedAt.set(deliveryId, earlier);
      for (const request of requests) earlier = Math.max(earlier, request.endedAt);
    }
  }
  return ({ deliveryId }) => endedAt.get(deliveryId) ?? Number.NEGATIVE_INFINITY;
}
