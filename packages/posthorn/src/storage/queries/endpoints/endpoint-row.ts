// How an endpoint is read; null in a setting means: as the deployment is set.
import type {
  AuthorizationType,
  BatchSettings,
  FifoOnDead,
  FilterInput,
  Grant,
  HandshakeSettings,
  Ordering,
  PayloadFormat,
  RecordedHealth,
  RetryOn,
  RetryPolicy,
  SignatureSettings,
  Uuid,
} from "../../../model.ts";
import { grantColumn, handshakeColumn } from "../handshakes/handshake-column.ts";
import { healthColumn } from "../health/health-column.ts";

export interface EndpointRow {
  readonly id: Uuid;
  readonly tenant: string;
  readonly url: string;
  readonly description: string | null;
  readonly events: readonly string[];
  readonly isActive: boolean;
  readonly disabledReason: string | null;
  readonly disabledMs: number | null;
  readonly format: PayloadFormat | null;
  readonly signature: Partial<SignatureSettings> | null;
  readonly headers: Readonly<Record<string, string>> | null;
  readonly timeoutMs: number | null;
  readonly maxInFlight: number | null;
  readonly rateLimit: number | null;
  readonly retryPolicy: RetryPolicy | null;
  readonly retryOn: RetryOn | null;
  readonly ordering: Ordering | null;
  readonly fifoOnDead: FifoOnDead | null;
  readonly filter: FilterInput | null;
  readonly batch: Partial<BatchSettings> | null;
  /** Null: it is no WebSub subscription. */
  readonly websubTopic: string | null;
  /** Of a subscription only. */
  readonly leaseEndsMs: number | null;
  readonly authorization: AuthorizationType | null;
  readonly handshake: HandshakeSettings | null;
  /** What came of it. */
  readonly grant: Grant | null;
  readonly version: number;
  readonly health: RecordedHealth | null;
  readonly createdMs: number;
  readonly updatedMs: number;
}

/** For `posthorn.endpoints ep`. */
export const endpointColumns = `ep.id, ep.tenant, ep.url, ep.description, to_json(ep.events) as events,
  ep.is_active as "isActive", ep.disabled_reason as "disabledReason",
  posthorn.epoch_ms(ep.disabled_at) as "disabledMs", ep.format, ep.signature, ep.headers,
  ep.timeout_ms as "timeoutMs", ep.max_in_flight as "maxInFlight", ep.rate_limit as "rateLimit",
  ep.retry_policy as "retryPolicy", ep.retry_on as "retryOn", ep.ordering, ep.fifo_on_dead as "fifoOnDead",
  ep.filter, ep.batch, ep.websub_topic as "websubTopic", posthorn.epoch_ms(ep.lease_ends_at) as "leaseEndsMs",
  ep.authorization_type as authorization, ep.version,
  posthorn.epoch_ms(ep.created_at) as "createdMs", posthorn.epoch_ms(ep.updated_at) as "updatedMs",
  ${healthColumn("ep.id")} as health, ${handshakeColumn("ep.id")} as handshake, ${grantColumn("ep.id")} as "grant"`;
