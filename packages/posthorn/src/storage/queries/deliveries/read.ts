// Reads a delivery from the queue or from history.
import type { DeadReason, Uuid } from "../../../model.ts";
import { rows } from "../../query.ts";
import type { CancelReason } from "../queue/cancel.ts";

export type DeliveryState = "pending" | "in_flight" | "success" | "failed" | "dead";

export const DELIVERY_STATES: readonly DeliveryState[] = [
  "pending",
  "in_flight",
  "success",
  "failed",
  "dead",
];

/** Why a delivery ended: the result of an attempt, or a cancellation. */
export type EndReason = DeadReason | CancelReason;

const endReasons: Readonly<Record<EndReason, true>> = {
  attempts_exhausted: true,
  too_old: true,
  rejected: true,
  redirect: true,
  gone: true,
  blocked_address: true,
  invalid_request: true,
  lease_expired: true,
  endpoint_deleted: true,
  discarded: true,
  cancelled: true,
};

export const END_REASONS = Object.keys(endReasons) as readonly EndReason[];

export interface DeliveryRow {
  readonly id: Uuid;
  readonly eventId: Uuid;
  readonly endpointId: Uuid;
  readonly tenant: string;
  readonly eventType: string;
  readonly subject: string | null;
  readonly sequence: number | null;
  /** The event of which its event is an edited copy. */
  readonly editedFrom: Uuid | null;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly deadReason: string | null;
  readonly replayCount: number;
  readonly finishedMs: number | null;
}

/** Columns of `posthorn.delivery_states d` and `posthorn.events e`. */
export const deliveryColumns = `d.id, d.event_id as "eventId", d.endpoint_id as "endpointId", e.tenant,
  e.type as "eventType", e.subject, e.sequence, e.edited_from as "editedFrom", d.state, d.attempts,
  d.dead_reason as "deadReason", d.replay_count as "replayCount", posthorn.epoch_ms(d.finished_at) as "finishedMs"`;

export const findDeliveries = rows<DeliveryRow, [ids: readonly Uuid[]]>("find deliveries")`
select ${deliveryColumns}
from posthorn.delivery_states_of($1::uuid[]) d
join posthorn.events e on e.id = d.event_id
order by d.id
`;
