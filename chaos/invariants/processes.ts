// How the processes behave: they come back, end in order, keep the time, and dial nobody they must not.
import type { CaseFile, ReceivedRequest, Stretch } from "../evidence.ts";
import {
  during,
  endpointHolds,
  faultWindows,
  judge,
  lengthOutside,
  pollMs,
  windowOf,
} from "../fault-windows.ts";
import { strikesAll } from "../strikes.ts";

/** The rest is for noticing the arrival, on two cores that are not alone. */
const marginMs = 1_000;

export function recovery(file: CaseFile): string[] {
  const allowedMs = file.scale.leaseMs + pollMs + marginMs;
  return recoveries(file).flatMap(({ request, waitedMs }) =>
    waitedMs <= allowedMs
      ? []
      : `${request.deliveryId} of ${request.sender} came again after ${Math.round(waitedMs)} ms with nothing in the way, ${allowedMs} were allowed`,
  );
}

/** How long each waited while nothing else was struck that it needed: the database, or a worker that may have had it. */
export function recoveries(
  file: CaseFile,
): { request: ReceivedRequest; waitedMs: number; isExcused: boolean }[] {
  const faults = faultWindows(file);
  const holds = endpointHolds(file);
  return interruptions(file).map(({ request, killedAt, again }) => {
    if (again === null) return { request, waitedMs: Number.POSITIVE_INFINITY, isExcused: false };
    const wait: Stretch = { from: killedAt, until: Math.max(killedAt, again.at) };
    // who was struck before and did not send it has never had it
    const met = faults.filter(
      ({ victim, from }) =>
        victim === null || victim === again.sender || (victim !== request.sender && from >= killedAt),
    );
    return { request, ...judge(wait, [...met, ...during(holds.get(request.endpoint) ?? [], wait)]) };
  });
}

interface Interruption {
  readonly request: ReceivedRequest;
  readonly killedAt: number;
  /** Null: never. */
  readonly again: { readonly at: number; readonly sender: string | null } | null;
}

/** Requests that a kill broke off, and when the same delivery was sent again. */
export function interruptions(file: CaseFile): Interruption[] {
  const killedAt = new Map(
    file.exits.flatMap(({ name, asked }) => (asked?.signal === "SIGKILL" ? [[name, asked.at]] : [])),
  );
  return file.requests.flatMap((request) => {
    const at = killedAt.get(request.sender);
    if (at === undefined || request.status !== null || request.manner.startsWith("reset")) return [];
    if (request.endedAt < at || at > file.healedAt) return [];
    return [{ request, killedAt: at, again: sentAgain(file, request) }];
  });
}

/** By the ledger where the receiver was away and saw nothing. */
function sentAgain(file: CaseFile, { deliveryId, attempt }: ReceivedRequest): Interruption["again"] {
  const later = (file.requestsOf.get(deliveryId) ?? []).filter((request) => request.attempt > attempt);
  const seen = new Map(later.map((request) => [request.attempt, request]));
  const unseen = [...(file.attemptsOf.get(deliveryId)?.values() ?? [])].flatMap(({ number, startedAt }) =>
    number > attempt && startedAt !== null && !seen.has(number) ? { at: startedAt, sender: null } : [],
  );
  const all = [...later.map(({ arrivedAt, sender }) => ({ at: arrivedAt, sender })), ...unseen];
  return all.toSorted((a, b) => a.at - b.at)[0] ?? null;
}

export function convergence({ convergedAt, unsettled, deliveries, endpoints }: CaseFile): string[] {
  const ids = new Set(endpoints.map(({ id }) => id));
  return [
    ...(convergedAt === null ? unsettled : []),
    ...deliveries.flatMap(({ id, endpointId, state }) =>
      ids.has(endpointId) && state === "dead" ? `${id} is dead` : [],
    ),
  ];
}

/** What a process keeps for good shows within a run; what it has not given back yet is less than this. */
const growthAllowed = 1.5;

export function memory({ quiet, calm }: CaseFile): string[] {
  if (calm === null) return [];
  return (["api", "worker"] as const).flatMap((role) => {
    const [before, after] = [quiet.memory[role], calm.memory[role]];
    return after <= before * growthAllowed
      ? []
      : `the largest ${role} process has ${toMegabytes(after)} MB, in the quiet it had ${toMegabytes(before)}`;
  });
}

const toMegabytes = (bytes: number): number => Math.round(bytes / 1_000_000);

const graceMs = 5_000;
/** Closing what is open, on two cores that are not alone. */
const closingMs = 4_000;

export function orderlyExits(file: CaseFile): string[] {
  const untold = file.exits.flatMap(({ name, code, signal, wasReady, asked, at }) => {
    if (asked === null) return wasReady ? `${name} ended by itself with ${code ?? signal}` : [];
    if (asked.signal === "SIGKILL") return [];
    // a database that is away cannot be told that a worker leaves: then it ends late, or not in order
    const onIt = file.deeds
      .filter(({ kind, victim }) => strikesAll(kind) || (victim === name && kind !== "terminate worker"))
      .map((deed) => windowOf(file, deed));
    const tookMs = at - asked.at;
    const isDisturbed = lengthOutside({ from: asked.at, until: at }, onIt) < tookMs;
    return isDisturbed || (code === 0 && tookMs < graceMs + closingMs)
      ? []
      : `${name} was asked to end and did with ${code ?? signal} after ${Math.round(tookMs)} ms`;
  });
  return [...untold, ...file.complaints];
}

/** Seconds are cut off, and a request may wait for its connection; the SDKs allow ten times as much. */
const timestampToleranceMs = 30_000;

export function freshTimestamps({ requests }: CaseFile): string[] {
  return requests.flatMap(({ content, sender, eventId }) =>
    content !== null && Math.abs(content.timestampAheadMs) > timestampToleranceMs
      ? `${sender} signed ${eventId} for ${Math.round(content.timestampAheadMs / 1_000)} s from now`
      : [],
  );
}

export function canaries({ canaryHits }: CaseFile): string[] {
  return [...canaryHits];
}
