// What is due is sent, unless something stands in the way that must.
import { type CaseFile, groupBy, type ReceivedRequest, type Stretch } from "../evidence.ts";
import { during, endpointHolds, faultWindows, judge, lowestIndex, overlaps } from "../fault-windows.ts";

const promisedMs = 1_000;
/**
 * A worker behind a pooler hears no hints and looks once a second, after its last look has ended; then it fetches,
 * connects, and the receiver has to notice. On two cores 1.17 s was the most of 11,000 attempts with a load of 5, and
 * 1.67 s of 2,700 with a load of 20, where statements took five seconds.
 */
const slackMs = 1_000;

export function liveness(file: CaseFile): string[] {
  return waits(file).flatMap(({ request, waitedMs }) =>
    waitedMs <= promisedMs + slackMs
      ? []
      : `${request.deliveryId} ${request.attempt} came to ${request.endpoint} ${Math.round(waitedMs)} ms after it was due, with nothing in the way`,
  );
}

/** From when an attempt was due until it came; what is excused by a fault or by the endpoint itself does not count. */
export function waits(file: CaseFile): { request: ReceivedRequest; waitedMs: number; isExcused: boolean }[] {
  const faults = faultWindows(file);
  const holds = endpointHolds(file);
  const turnAt = turns(file);
  return [...groupBy(file.requests, ({ endpoint }) => endpoint)].flatMap(([endpoint, unsorted]) => {
    const requests = unsorted.toSorted((a, b) => a.arrivedAt - b.arrivedAt);
    return requests.flatMap((request) => {
      const owedAt = dueAt(file, request);
      if (owedAt === null) return [];
      const until = request.arrivedAt;
      const wait: Stretch = { from: Math.min(until, Math.max(owedAt, turnAt(request))), until };
      const owner = requests[lowestIndex(requests, ({ arrivedAt }) => arrivedAt >= wait.from) - 1]?.sender;
      const met = faults.filter((window) => overlaps(window, wait));
      // it may have gone from hand to hand: whichever worker was struck may have had it in between
      const hasMoved =
        owner !== request.sender || met.some(({ victim }) => victim === null || victim === owner);
      const excuses = [...(hasMoved ? met : []), ...during(holds.get(endpoint) ?? [], wait)];
      return { request, ...judge(wait, excuses) };
    });
  });
}

/** Null when nobody can tell: an event whose publisher heard nothing, a delivery whose last attempt has no known end. */
function dueAt(file: CaseFile, { deliveryId, attempt, content, eventId }: ReceivedRequest): number | null {
  if (attempt > 1) return file.attemptsOf.get(deliveryId)?.get(attempt - 1)?.nextRetryAt ?? null;
  const publish = file.publishOf.get(content?.key ?? "");
  return publish?.ids[0] === eventId ? publish.acknowledgedAt : null;
}

/** At an endpoint with order: when the last request of an earlier event of its subject had ended. */
function turns(file: CaseFile): (request: ReceivedRequest) => number {
  const endedAt = new Map<string, number>();
  const isOrdered = ({ endpoint, content }: ReceivedRequest) =>
    content !== null && file.endpointNamed.get(endpoint)?.isOrdered === true;
  const lines = groupBy(file.requests.filter(isOrdered), (it) => `${it.endpoint} ${it.content?.subject}`);
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
