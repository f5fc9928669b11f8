// Replays: creates, schedules, starts, reads and cancels them.

import { lowestUuidAt } from "@posthorn/wire";
import type { Uuid } from "../../../model.ts";
import type { Database, Queryable } from "../../database.ts";
import { column, fields, firstRow, hasRow, rows, run, value } from "../../query.ts";
import type { DeliveryState } from "../deliveries/read.ts";
import type { PausedReason } from "../lanes/lock.ts";
import type { Filter, IdPage } from "../page.ts";
import { outcomesColumn } from "./outcomes.ts";
import type { Requester } from "./requester.ts";

export type ReplayState = "scheduled" | "running" | "finished" | "cancelled";

export const REPLAY_STATES: readonly ReplayState[] = ["scheduled", "running", "finished", "cancelled"];

/** Why a delivery was skipped; `changed`: it changed meanwhile. */
export type SkipReason = PausedReason | "changed";

/** `requested`: by a request to cancel it. Otherwise whoever scheduled it may no longer act. */
export type CancelReason = "requested" | "key_revoked" | "member_removed";

/** The outcomes of the deliveries that were queued. */
export interface ReplayOutcomes {
  readonly delivered: number;
  /** Their last attempt failed, and they will be retried. */
  readonly failed: number;
  readonly dead: number;
  /** Not attempted since they were queued, or being sent. */
  readonly waiting: number;
  /** Queued again by a later replay, which counts them from then on. */
  readonly replayedAgain: number;
}

export interface ReplayRow {
  readonly id: Uuid;
  readonly tenant: string | null;
  readonly endpointId: Uuid | null;
  readonly type: string | null;
  /** Null: events without a delivery to an endpoint that would receive them now. */
  readonly states: readonly DeliveryState[] | null;
  readonly reason: string | null;
  readonly createdAfterMs: number | null;
  readonly createdBeforeMs: number | null;
  readonly rate: number;
  readonly requestedBy: string | null;
  readonly state: ReplayState;
  readonly total: number | null;
  readonly done: number;
  readonly skipped: Readonly<Partial<Record<SkipReason, number>>>;
  readonly outcomes: ReplayOutcomes;
  readonly createdAtMs: number;
  /** Null: it started when it was created. */
  readonly startAtMs: number | null;
  /** Null: it has not started. */
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
  /** Null: it was not cancelled. */
  readonly cancelReason: CancelReason | null;
}

/** Columns of `posthorn.replays r`. */
export const replayColumns = `r.id, r.tenant, r.endpoint_id as "endpointId", r.type, to_json(r.states) as states, r.reason,
  posthorn.epoch_ms(r.created_after) as "createdAfterMs", posthorn.epoch_ms(r.created_before) as "createdBeforeMs",
  r.rate, r.requested_by as "requestedBy", r.state, r.total, r.done, r.skipped, ${outcomesColumn} as outcomes,
  posthorn.epoch_ms(r.created_at) as "createdAtMs", posthorn.epoch_ms(r.start_at) as "startAtMs",
  posthorn.epoch_ms(r.started_at) as "startedAtMs", posthorn.epoch_ms(r.ended_at) as "endedAtMs",
  r.cancel_reason as "cancelReason"`;

/** Does not find another tenant's replay if a tenant is given. */
export const findReplay = firstRow<ReplayRow, [id: Uuid, tenant: string | null]>("find replay")`
select ${replayColumns}
from posthorn.replays r
where r.id = $1::uuid
  and ($2::text is null or r.tenant = $2::text)
`;

export const listReplays = rows<ReplayRow, [IdPage & Filter<"tenant" | "state">]>(
  "list replays",
  fields("before", "limit", "tenant", "state"),
)`
select ${replayColumns}
from posthorn.replays r
where r.id < $1::uuid
  and ($3::text is null or r.tenant = $3::text)
  and ($4::text is null or r.state = $4::text)
order by r.id desc
limit $2::integer
`;

export const runningReplays = column<Uuid>("running replays")`
select r.id
from posthorn.replays r
where r.state = 'running'
order by r.id
`;

/**
 * Scheduled replays whose time has come, in the order of their times. Leaves out those of tenants with the maximum number
 * of running ones, because starting counts what matches.
 */
export const dueReplays = column<Uuid, [mostRunning: number]>("due replays")`
select r.id
from posthorn.replays r
where r.state = 'scheduled'
  and r.start_at <= posthorn.now()
  and (
    select count(*)
    from posthorn.replays other
    where other.state = 'running'
      and other.tenant is not distinct from r.tenant
  ) < $1::integer
order by r.start_at, r.id
`;

/** Null: it is not scheduled. */
export const findScheduled = firstRow<ReplayRow & Omit<ReplayRange, "total">, [id: Uuid]>(
  "find scheduled replay",
)`
select ${replayColumns}, r.position, r.before
from posthorn.replays r
where r.id = $1::uuid
  and r.state = 'scheduled'
`;

/** What a replay selects, decided when it starts. */
export interface ReplayRange {
  /** Processes ids between these two. */
  readonly position: Uuid;
  readonly before: Uuid;
  readonly total: number | null;
}

export type NewReplay = Omit<
  ReplayRow,
  "state" | "done" | "skipped" | "outcomes" | "createdAtMs" | "startedAtMs" | "endedAtMs" | "cancelReason"
> &
  Requester &
  ReplayRange;

/**
 * Without `startAtMs`, it runs at once. Returns null if there is the maximum number of replays in the same state, for this
 * tenant or, without one, for all.
 */
export async function insertReplay(
  tx: Queryable,
  replay: NewReplay,
  most: number,
): Promise<ReplayRow | null> {
  // so that replays created at the same time count each other; waits for running steps
  await lockReplays(tx);
  return await insert(tx, replay, most);
}

/** Returns false if it is no longer scheduled, or if the maximum number is running. */
export async function startScheduled(
  db: Database,
  id: Uuid,
  range: ReplayRange,
  mostRunning: number,
): Promise<boolean> {
  return await db.transaction(async (tx) => {
    await lockReplays(tx);
    return await start(tx, id, range, mostRunning);
  });
}

const lockReplays = run("lock replays")`lock table posthorn.replays in share row exclusive mode`;

const insert = firstRow<ReplayRow, [replay: NewReplay, most: number]>("insert replay", (replay, most) => [
  ...fields(
    "id",
    "tenant",
    "endpointId",
    "type",
    "states",
    "reason",
    "createdAfterMs",
    "createdBeforeMs",
  )(replay),
  ...fields("rate", "requestedBy", "total", "position", "before")(replay),
  most,
  ...fields("startAtMs", "credentialId", "userId")(replay),
])`
insert into posthorn.replays as r (
  id, tenant, endpoint_id, type, states, reason, created_after, created_before, rate, requested_by, total, position,
  before, paced_at, state, start_at, started_at, credential_id, user_id
)
select $1::uuid, $2::text, $3::uuid, $4::text, $5::text[], $6::text, to_timestamp($7::double precision / 1000),
  to_timestamp($8::double precision / 1000), $9::integer, $10::text, $11::integer, $12::uuid, $13::uuid,
  posthorn.now() - interval '1 second', asked.state, to_timestamp($15::double precision / 1000),
  case when asked.state = 'running' then posthorn.now() end, $16::text, $17::text
from (
  select case when $15::double precision is null then 'running' else 'scheduled' end as state
) asked
where (
    select count(*)
    from posthorn.replays other
    where other.state = asked.state
      and other.tenant is not distinct from $2::text
  ) < $14::integer
returning ${replayColumns}
`;

const start = hasRow<[id: Uuid, range: ReplayRange, mostRunning: number]>(
  "start scheduled replay",
  (id, range, most) => [id, ...fields("position", "before", "total")(range), most],
)`
update posthorn.replays r
set state = 'running',
  position = $2::uuid,
  before = $3::uuid,
  total = $4::integer,
  started_at = posthorn.now(),
  paced_at = posthorn.now() - interval '1 second'
where r.id = $1::uuid
  and r.state = 'scheduled'
  and (
    select count(*)
    from posthorn.replays other
    where other.state = 'running'
      and other.tenant is not distinct from r.tenant
  ) < $5::integer
returning r.id
`;

/** Returns null if it has ended. */
export const cancelReplay = firstRow<ReplayRow, [id: Uuid]>("cancel replay")`
update posthorn.replays r
set state = 'cancelled',
  cancel_reason = 'requested',
  ended_at = posthorn.now()
where r.id = $1::uuid
  and r.state in ('scheduled', 'running')
returning ${replayColumns}
`;

/** Returns an id above all current deliveries or events, so that a replay ends even if new ones arrive. */
export async function idAboveAll(db: Queryable, of: "deliveries" | "events"): Promise<Uuid> {
  const newest = await (of === "events" ? newestEvent : newestDeliveries)(db);
  // the highest UUID of its millisecond; the next millisecond may not exist
  return `${(newest.toSorted().at(-1) ?? lowestUuidAt(0)).slice(0, 14)}ffff-ffff-ffffffffffff`;
}

const newestDeliveries = column<Uuid>("newest deliveries")`
(select q.id from posthorn.queue q order by q.id desc limit 1)
union all
(select d.id from posthorn.deliveries d order by d.id desc limit 1)
`;

const newestEvent = column<Uuid>("newest event")`
select e.id
from posthorn.events e
order by e.id desc
limit 1
`;

/**
 * Returns the first id with complete history, null if all is complete. Before it only dead letters remain, so it is
 * unknown who else received an event.
 */
export const idAfterDroppedHistory = value<Uuid | null>("dropped history")`
select p.upper_bound
from posthorn.history_partitions() p
where p.parent = 'deliveries'
  and p.is_kept
order by p.upper_bound desc
limit 1
`;
