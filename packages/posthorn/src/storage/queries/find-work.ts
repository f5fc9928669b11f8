// Reads in one statement which loops have work.
import { onlyRow } from "../query.ts";

export interface Work {
  readonly hasWaitingEvents: boolean;
  readonly hasReadyLanes: boolean;
  readonly hasPendingBatches: boolean;
  readonly hasDueReplays: boolean;
  readonly hasIncidents: boolean;
  readonly catalogueVersion: number;
  /** 0 without a stored mode of delivery. */
  readonly deliveryModeVersion: number;
}

// Ordered like an index, because an index scan skips dead rows that are not vacuumed yet.
export const findWork = onlyRow<Work>("find work")`
select
  (select o.event_id from posthorn.outbox o order by o.event_id limit 1) is not null as "hasWaitingEvents",
  (
    select l.ready_at
    from posthorn.lanes l
    where l.owner is null
      and not l.paused
      and l.ready_at <= posthorn.now()
    order by l.ready_at
    limit 1
  ) is not null as "hasReadyLanes",
  (
    select b.endpoint_id
    from posthorn.pending_batch_events b
    order by b.endpoint_id
    limit 1
  ) is not null as "hasPendingBatches",
  (
    exists (select from posthorn.replays r where r.state = 'running')
    or exists (select from posthorn.replays r where r.state = 'scheduled' and r.start_at <= posthorn.now())
  ) as "hasDueReplays",
  (select i.position from posthorn.incidents i order by i.position limit 1) is not null as "hasIncidents",
  (select c.version from posthorn.catalogue c) as "catalogueVersion",
  (select coalesce(max(m.version), 0) from posthorn.delivery_modes m) as "deliveryModeVersion"
`;
