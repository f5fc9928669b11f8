// Counts the deliveries of the events of a page by their state.
import type { Uuid } from "../../../model.ts";
import { rows } from "../../query.ts";
import type { DeliveryState } from "../deliveries/read.ts";

export interface EventStateCount {
  readonly eventId: Uuid;
  readonly state: DeliveryState;
  readonly count: number;
}

/** Deliveries counted for the events of a millisecond: a page of 250 with 20 endpoints each. */
export const MOST_COUNTED = 5_000;

/** Events without deliveries have no row. */
export const countStatesOfEvents = rows<EventStateCount, [eventIds: readonly Uuid[]]>(
  "count states of events",
  (eventIds) => [eventIds, MOST_COUNTED],
)`
select s.event_id as "eventId", s.state, count(*)::integer as count
from posthorn.delivery_states_of_events($1::uuid[], $2::integer) s
group by s.event_id, s.state
`;

export interface BatchPlace {
  readonly eventId: Uuid;
  readonly endpointId: Uuid;
  /** Event id of the batch; null: not created yet. */
  readonly batchId: Uuid | null;
}

/** Returns the batches that the events are in or wait for. */
export const batchesOfEvents = rows<BatchPlace, [eventIds: readonly Uuid[]]>("batches of events")`
select m.event_id as "eventId", m.endpoint_id as "endpointId", m.batch_id as "batchId"
from posthorn.batch_events m
where m.event_id = any ($1::uuid[])
union all
select c.event_id, c.endpoint_id, null
from posthorn.pending_batch_events c
where c.event_id = any ($1::uuid[])
`;

/** Returns those of the events that wait for fan-out. */
export const eventsInOutbox = rows<{ readonly eventId: Uuid }, [eventIds: readonly Uuid[]]>(
  "events in outbox",
)`
select o.event_id as "eventId"
from posthorn.outbox o
where o.event_id = any ($1::uuid[])
`;
