import type { AttemptTrigger, ClaimedDelivery, Event, Uuid } from "../../../model.ts";
import { type EventRow, eventColumns, toEvent } from "../events/event-row.ts";

export interface ClaimedRow extends EventRow {
  id: Uuid;
  endpoint_id: Uuid;
  attempts: number;
  failures: number;
  trigger: AttemptTrigger;
  schedule_started_ms: number;
  is_ordered: boolean;
}

/** Columns of the given queue row and `posthorn.events e`. */
export function claimedColumns(queue: string): string {
  return `${queue}.id, ${queue}.endpoint_id, ${queue}.attempts, ${queue}.failures, ${queue}.trigger,
  posthorn.epoch_ms(${queue}.schedule_started_at) as schedule_started_ms,
  ${queue}.subject is not null as is_ordered, ${eventColumns}`;
}

export function toClaimed(row: ClaimedRow, event: Event = toEvent(row)): ClaimedDelivery {
  return {
    id: row.id,
    event,
    endpointId: row.endpoint_id,
    attempts: row.attempts,
    failures: row.failures,
    scheduleStartedMs: row.schedule_started_ms,
    trigger: row.trigger,
    isOrdered: row.is_ordered,
  };
}
