// Recovery, convergence, memory, exits, clocks and forbidden addresses.
import type { IndexedEvidence, Interval, ReceivedRequest } from "../evidence/evidence.ts";
import {
  during,
  endpointHolds,
  faultWindows,
  judge,
  lengthOutside,
  pollMs,
  windowOf,
} from "../evidence/fault-windows.ts";
import { hitsDatabase } from "../faults/faults.ts";

/** Tolerance for two shared cores. */
const marginMs = 1_000;

export function recovery(evidence: IndexedEvidence): string[] {
  const allowedMs = evidence.scale.leaseMs + pollMs + marginMs;
  return recoveries(evidence).flatMap(({ request, waitedMs }) =>
    waitedMs <= allowedMs
      ? []
      : `${request.deliveryId} of ${request.sender} was sent again after ${Math.round(waitedMs)} ms without an excuse; the limit is ${allowedMs} ms`,
  );
}

/** Returns how much given time each interrupted request waited, unless excused by faults on the database or its workers. */
export function recoveries(
  evidence: IndexedEvidence,
): { request: ReceivedRequest; waitedMs: number; isExcused: boolean }[] {
  const faults = faultWindows(evidence);
  const holds = endpointHolds(evidence);
  return interruptions(evidence).map(({ request, killedAt, again }) => {
    if (again === null) return { request, waitedMs: Number.POSITIVE_INFINITY, isExcused: false };
    const wait: Interval = { from: killedAt, until: Math.max(killedAt, again.at) };
    // a worker with an earlier fault that did not send it never owned it
    const met = faults.filter(
      ({ victim, from }) =>
        victim === null || victim === again.sender || (victim !== request.sender && from >= killedAt),
    );
    return {
      request,
      ...judge(evidence, wait, [...met, ...during(holds.get(request.endpoint) ?? [], wait)]),
    };
  });
}

interface Interruption {
  readonly request: ReceivedRequest;
  readonly killedAt: number;
  /** Null if it was never sent again. */
  readonly again: { readonly at: number; readonly sender: string | null } | null;
}

/** Returns the requests interrupted by a kill, and when the delivery was sent again. */
export function interruptions(evidence: IndexedEvidence): Interruption[] {
  const killedAt = new Map(
    evidence.exits.flatMap(({ name, signalSent }) =>
      signalSent?.signal === "SIGKILL" ? [[name, signalSent.at]] : [],
    ),
  );
  return evidence.requests.flatMap((request) => {
    const at = killedAt.get(request.sender);
    if (at === undefined || request.status !== null || request.behaviour.startsWith("reset")) return [];
    if (request.endedAt < at || at > evidence.healedAt) return [];
    return [{ request, killedAt: at, again: sentAgain(evidence, request) }];
  });
}

/** Uses the database if the receiver was unreachable. */
function sentAgain(
  evidence: IndexedEvidence,
  { deliveryId, attempt }: ReceivedRequest,
): Interruption["again"] {
  const later = (evidence.requestsOf.get(deliveryId) ?? []).filter((request) => request.attempt > attempt);
  const seen = new Map(later.map((request) => [request.attempt, request]));
  const unseen = [...(evidence.attemptsOf.get(deliveryId)?.values() ?? [])].flatMap(
    ({ number, startedAt }) =>
      number > attempt && startedAt !== null && !seen.has(number) ? { at: startedAt, sender: null } : [],
  );
  const all = [...later.map(({ arrivedAt, sender }) => ({ at: arrivedAt, sender })), ...unseen];
  return all.toSorted((a, b) => a.at - b.at)[0] ?? null;
}

export function convergence({ convergedAt, unsettled, deliveries, endpoints }: IndexedEvidence): string[] {
  const ids = new Set(endpoints.map(({ id }) => id));
  return [
    ...(convergedAt === null ? unsettled : []),
    ...deliveries.flatMap(({ id, endpointId, state }) =>
      ids.has(endpointId) && state === "dead" ? `${id} is dead` : [],
    ),
  ];
}

/** A leak exceeds this within a run; memory not yet returned to the system does not. */
const growthAllowed = 1.5;

export function memory({ baseline, final }: IndexedEvidence): string[] {
  if (final === null) return [];
  return (["api", "worker"] as const).flatMap((role) => {
    const [before, after] = [baseline.memory[role], final.memory[role]];
    return after <= before * growthAllowed
      ? []
      : `the largest ${role} process uses ${toMegabytes(after)} MB; in the baseline it used ${toMegabytes(before)} MB`;
  });
}

const toMegabytes = (bytes: number): number => Math.round(bytes / 1_000_000);

const graceMs = 5_000;
/** Tolerance for closing connections on two shared cores. */
const closingMs = 4_000;

export function orderlyExits(evidence: IndexedEvidence): string[] {
  const unexpected = evidence.exits.flatMap(({ name, code, signal, wasReady, signalSent, at }) => {
    if (signalSent === null) return wasReady ? `${name} exited unexpectedly with ${code ?? signal}` : [];
    if (signalSent.signal === "SIGKILL") return [];
    // while the database is unavailable a worker cannot deregister, and exits late or with an error
    const onIt = evidence.injectedFaults
      .filter(({ kind, victim }) => hitsDatabase(kind) || (victim === name && kind !== "terminate worker"))
      .map((injected) => windowOf(evidence, injected));
    const ending: Interval = { from: signalSent.at, until: at };
    const wallMs = at - signalSent.at;
    const tookMs = evidence.givenMs(ending);
    const isDisturbed = lengthOutside(ending, onIt) < wallMs;
    // it stops at the end of the grace period, also if the machine gave it less
    const isCutShort = wallMs >= graceMs && tookMs < graceMs;
    return isDisturbed || isCutShort || (code === 0 && tookMs < graceMs + closingMs)
      ? []
      : `${name} exited after SIGTERM with ${code ?? signal} after ${Math.round(tookMs)} ms`;
  });
  return [...unexpected, ...evidence.unexpectedOutput];
}

/** Timestamps are whole seconds, and a request may wait for its connection; SDKs allow ten times as much. */
const timestampToleranceMs = 30_000;

export function freshTimestamps({ requests }: IndexedEvidence): string[] {
  return requests.flatMap(({ content, sender, eventId }) =>
    content !== null && Math.abs(content.timestampAheadMs) > timestampToleranceMs
      ? `${sender} signed ${eventId} with a timestamp that is off by ${Math.round(content.timestampAheadMs / 1_000)} s`
      : [],
  );
}

export function canaries({ canaryHits }: IndexedEvidence): string[] {
  return [...canaryHits];
}
