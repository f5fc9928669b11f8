import type { Uuid } from "../../../model.ts";
import type { DeliveryState } from "../deliveries/delivery-row.ts";

export type ReplayState = "running" | "finished" | "cancelled";

export const REPLAY_STATES: readonly ReplayState[] = ["running", "finished", "cancelled"];

/** Why a delivery was skipped; `changed`: it changed meanwhile. */
export type SkipReason =
  | "endpoint_deleted"
  | "endpoint_disabled"
  | "endpoint_not_agreed"
  | "tenant_inactive"
  | "changed";

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
  readonly createdAtMs: number;
  readonly endedAtMs: number | null;
}

/** Columns of `posthorn.replays r`. */
export const replayColumns = `r.id, r.tenant, r.endpoint_id as "endpointId", r.type, to_json(r.states) as states, r.reason,
  posthorn.epoch_ms(r.created_after) as "createdAfterMs", posthorn.epoch_ms(r.created_before) as "createdBeforeMs",
  r.rate, r.requested_by as "requestedBy", r.state, r.total, r.done, r.skipped,
  posthorn.epoch_ms(r.created_at) as "createdAtMs", posthorn.epoch_ms(r.ended_at) as "endedAtMs"`;
