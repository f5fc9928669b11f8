import type { Grant, RecordedHealth, Uuid } from "../../../model.ts";
import { grantColumn, handshakeColumn } from "../handshakes/handshake-column.ts";
import { healthColumn } from "../health/health-column.ts";
import { type EndpointSettings, settingColumns } from "./setting-columns.ts";

export interface EndpointRow extends EndpointSettings {
  readonly id: Uuid;
  readonly tenant: string;
  readonly disabledReason: string | null;
  readonly disabledMs: number | null;
  /** Null: not a WebSub subscription. */
  readonly websubTopic: string | null;
  /** Set for WebSub subscriptions only. */
  readonly leaseEndsMs: number | null;
  /** Result of the handshake. */
  readonly grant: Grant | null;
  readonly version: number;
  readonly health: RecordedHealth | null;
  readonly createdMs: number;
  readonly updatedMs: number;
}

/** Columns of `posthorn.endpoints ep`. */
export const endpointColumns = `ep.id, ep.tenant, ${settingColumns},
  ep.disabled_reason as "disabledReason", posthorn.epoch_ms(ep.disabled_at) as "disabledMs",
  ep.websub_topic as "websubTopic", posthorn.epoch_ms(ep.lease_ends_at) as "leaseEndsMs", ep.version,
  posthorn.epoch_ms(ep.created_at) as "createdMs", posthorn.epoch_ms(ep.updated_at) as "updatedMs",
  ${healthColumn("ep.id")} as health, ${handshakeColumn("ep.id")} as handshake, ${grantColumn("ep.id")} as "grant"`;
