// How the processes behave: they come back, end in order, keep the time, and dial nobody they must not.
import type { CaseFile, Deed, ReceivedRequest } from "../evidence.ts";
import { strikesAll } from "../strikes.ts";

/** Renewals are looked at every 200 ms, ready lanes every 500 ms; the rest is for two cores that are not alone. */
const marginMs = 4_000;
/** A statement is given up for lost after 5 s, and only then a new connection is made. */
const afterEffectMs = 6_000;

export function recovery(file: CaseFile): string[] {
  return interruptions(file).flatMap(({ request, killedAt, againAt }) => {
    const waited = (againAt ?? Number.POSITIVE_INFINITY) - killedAt;
    const allowed = allowedMs(file, killedAt, againAt ?? file.convergedAt ?? killedAt);
    return waited <= allowed
      ? []
      : `${request.deliveryId} of ${request.sender} came again after ${Math.round(waited)} ms, ${Math.round(allowed)} were allowed`;
  });
}

/** Requests that a kill broke off, and when the same delivery came again. */
export function interruptions(
  file: CaseFile,
): { request: ReceivedRequest; killedAt: number; againAt: number | undefined }[] {
  const killedAt = new Map(
    file.exits.flatMap(({ name, asked }) => (asked?.signal === "SIGKILL" ? [[name, asked.at]] : [])),
  );
  return file.requests.flatMap((request) => {
    const at = killedAt.get(request.sender);
    if (at === undefined || request.status !== null || request.manner.startsWith("reset")) return [];
    if (request.endedAt < at || at > file.healedAt) return [];
    const again = file.requestsOf.get(request.deliveryId)?.find(({ attempt }) => attempt > request.attempt);
    return [{ request, killedAt: at, againAt: again?.arrivedAt }];
  });
}

/** Lease, poll and margin; once more for every worker that was struck meanwhile, and as long as the database was. */
function allowedMs(file: CaseFile, from: number, until: number): number {
  const struck = file.deeds.filter(
    ({ victim, at, until: end }) => victim?.startsWith("w") && at < until && end + afterEffectMs > from,
  );
  const database = file.deeds.filter(({ kind }) => strikesAll(kind));
  return (file.scale.leaseMs + marginMs) * (1 + struck.length) + overlapMs(database, from, until);
}

function overlapMs(deeds: readonly Deed[], from: number, until: number): number {
  let total = 0;
  let covered = from;
  for (const deed of deeds.toSorted((a, b) => a.at - b.at)) {
    const end = Math.min(until, deed.until + afterEffectMs);
    total += Math.max(0, end - Math.max(covered, deed.at));
    covered = Math.max(covered, end);
  }
  return total;
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

export function orderlyExits(file: CaseFile): string[] {
  const untold = file.exits.flatMap(({ name, code, signal, wasReady, asked, at }) => {
    if (asked === null) return wasReady ? `${name} ended by itself with ${code ?? signal}` : [];
    if (asked.signal === "SIGKILL") return [];
    // a database that is away cannot be told that a worker leaves: then it ends late, or not in order
    const onIt = file.deeds.filter(
      ({ kind, victim }) => strikesAll(kind) || (victim === name && kind !== "terminate worker"),
    );
    const isDisturbed = overlapMs(onIt, asked.at, at) > 0;
    const tookMs = at - asked.at;
    return isDisturbed || (code === 0 && tookMs < graceMs + marginMs)
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
