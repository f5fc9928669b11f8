// How a delivery is read, from the queue while it is owed and from history when it has ended.
import type { Uuid } from "../../../model.ts";

export type DeliveryState = "pending" | "in_flight" | "success" | "failed" | "dead";

export const DELIVERY_STATES: readonly DeliveryState[] = [
  "pending",
  "in_flight",
  "success",
  "failed",
  "dead",
];

export interface DeliveryRow {
  readonly id: Uuid;
  readonly eventId: Uuid;
  readonly endpointId: Uuid;
  readonly tenant: string;
  readonly eventType: string;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly nextRetryMs: number | null;
  readonly deadReason: string | null;
  readonly replayCount: number;
  readonly finishedMs: number | null;
}

/** For a row of `posthorn.delivery_states` under the name `d`, and `posthorn.events e`. */
export const deliveryColumns = `d.id, d.event_id as "eventId", d.endpoint_id as "endpointId", e.tenant,
  e.type as "eventType", d.state, d.attempts, posthorn.epoch_ms(d.next_retry_at) as "nextRetryMs",
  d.dead_reason as "deadReason", d.replay_count as "replayCount", posthorn.epoch_ms(d.finished_at) as "finishedMs"`;
