// Deletes what no retention of a day covers. Each call deletes at most `most` rows and returns how many.
import { changes } from "../query.ts";

const daysAgo = "posthorn.now() - $1::integer * interval '24 hours'";

/** Oldest first. Locked rows are left for the next run. */
const pruneTable = (table: string, { where, order }: { readonly where: string; readonly order: string }) =>
  changes<[days: number, most: number]>(`prune ${table}`)`
delete from posthorn.${table}
where ctid = any (array(
    select old.ctid
    from posthorn.${table} old
    where ${where}
    order by old.${order}
    limit $2::integer
    for update skip locked
  ))
`;

export const pruneKeys = pruneTable("idempotency_keys", {
  where: `old.created_at < ${daysAgo}`,
  order: "created_at",
});

export const pruneAuditLog = pruneTable("audit_log", {
  where: `old.id < posthorn.lowest_uuid_at(${daysAgo})`,
  order: "id",
});

export const pruneNotifications = pruneTable("notifications", {
  where: `old.id < posthorn.lowest_uuid_at(${daysAgo})`,
  order: "id",
});

export const pruneReplays = pruneTable("replays", {
  where: `old.ended_at < ${daysAgo}`,
  order: "ended_at",
});

/** Outcomes of replays that no longer exist. */
export const pruneReplayOutcomes = pruneTable("replay_outcomes", ofNoReplay());
export const pruneReplayedDeliveries = pruneTable("replayed_deliveries", ofNoReplay());

function ofNoReplay() {
  return {
    where: `old.replay_id < posthorn.lowest_uuid_at(${daysAgo})
      and not exists (select from posthorn.replays r where r.id = old.replay_id)`,
    order: "replay_id",
  };
}

export const pruneSessions = pruneTable("sessions", {
  where: `old.expires_at <= ${daysAgo}`,
  order: "expires_at",
});

/** Rejections of discarded events that no longer exist. */
export const pruneRejections = pruneTable("rejected_events", {
  where: `old.discarded_at is not null
      and old.event_id < posthorn.lowest_uuid_at(${daysAgo})
      and not exists (select from posthorn.events e where e.id = old.event_id)`,
  order: "event_id",
});

/** Members of batches that no longer exist. */
export const pruneMembers = pruneTable("batch_events", {
  where: `old.batch_id < posthorn.lowest_uuid_at(${daysAgo})
      and not exists (select from posthorn.events e where e.id = old.batch_id)`,
  order: "batch_id",
});

/** Dead letters with their own retention period, which counts from the end of the delivery. */
// The bound on the id follows from the one on finished_at and excludes later partitions.
export const pruneDead = changes<[days: number, most: number]>("prune dead letters")`
delete from posthorn.deliveries d
where d.id = any (array(
    select old.id
    from posthorn.deliveries old
    where old.state = 'dead'
      and old.id < posthorn.lowest_uuid_at(${daysAgo})
      and old.finished_at < ${daysAgo}
      -- a dead letter that holds its subject waits for a person
      and (old.id in (select held.delivery_id from posthorn.held_subjects held)) is not true
    limit $2::integer
    for update skip locked
  ))
`;

/** Rows of deleted endpoints that no history refers to. */
// "limit 1" keeps both as separate index lookups; as a join they would read all of history. Rows in flight have no
// index by endpoint, but none is in flight a retention period after its endpoint was deleted.
export const pruneDeletedEndpoints = changes<[days: number, most: number]>("prune deleted endpoints")`
delete from posthorn.endpoints ep
where ep.id = any (array(
    select gone.id
    from posthorn.endpoints gone
    where gone.deleted_at < ${daysAgo}
      and not exists (
        select from posthorn.queue q where q.endpoint_id = gone.id and q.claimed_by is null limit 1
      )
      and not exists (select from posthorn.deliveries d where d.endpoint_id = gone.id limit 1)
    limit $2::integer
    for update skip locked
  ))
`;
