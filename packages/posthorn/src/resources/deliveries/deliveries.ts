// Lists deliveries, and returns single ones with their attempts.
import { formatId, parseId, uuidTimeMs } from "@posthorn/wire";
import type { Catalogue } from "../../catalogue/catalogue.ts";
import { refuseUnknown } from "../../did-you-mean.ts";
import { PosthornError } from "../../errors.ts";
import { BATCH_TYPE, type Uuid } from "../../model.ts";
import type { Queryable } from "../../storage/database.ts";
import { newestAttempts } from "../../storage/queries/attempts/list.ts";
import { membersOfBatch } from "../../storage/queries/batches/read.ts";
import {
  DELIVERY_STATES,
  type DeliveryRow,
  type DeliveryState,
  END_REASONS,
  type EndReason,
} from "../../storage/queries/deliveries/delivery-row.ts";
import { findDeliveries } from "../../storage/queries/deliveries/find.ts";
import { walkDeliveries } from "../../storage/queries/deliveries/walk.ts";
import { type Hold, holdsOf } from "../../storage/queries/endpoints/holds.ts";
import { endpointIdsOf } from "../../storage/queries/endpoints/read.ts";
import { listRetries } from "../../storage/queries/queue/list-retries.ts";
import { type Page, type PageQuery, QueryReader, toPage } from "../page.ts";
import { type AttemptView, toAttemptView, withoutResponse } from "./attempt-view.ts";

export interface DeliveryView {
  readonly id: string;
  readonly eventId: string;
  readonly endpointId: string;
  readonly tenant: string;
  readonly eventType: string;
  /** Subject and sequence of the event. */
  readonly subject: string | null;
  readonly sequence: number | null;
  readonly state: DeliveryState;
  readonly attemptCount: number;
  readonly nextRetryAt: Date | null;
  readonly deadReason: string | null;
  readonly replayCount: number;
  /** When the event was recorded, as contained in the id. */
  readonly createdAt: Date;
  readonly deliveredAt: Date | null;
  /** When it became dead: failed for good, was cancelled or discarded. */
  readonly deadAt: Date | null;
  /**
   * Why it cannot be sent: its tenant is inactive, its endpoint is disabled, or its endpoint has not agreed to webhooks.
   * Null if none of these applies or the delivery is not waiting.
   */
  readonly waitsFor: Hold | null;
}

export interface DeliveryQuery extends PageQuery {
  readonly tenant?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly state?: DeliveryState | undefined;
  readonly type?: string | undefined;
  /** The dead reason. */
  readonly reason?: EndReason | undefined;
  /** Inclusive. */
  readonly createdAfter?: Date | undefined;
  /** Exclusive. */
  readonly createdBefore?: Date | undefined;
}

export interface DeliveryScope {
  readonly tenant?: string | undefined;
  /**
   * Masks responses if the event's type has redacted paths, because a response may repeat them. Used for keys without
   * `payloads:read`. Default false.
   */
  readonly redacted?: boolean | undefined;
}

export interface DeliveryDetail extends DeliveryView {
  readonly attempts: readonly AttemptView[];
  /** The events of a batch, in order. Null if the delivery is not a batch. */
  readonly members: readonly string[] | null;
}

export interface Deliveries {
  /** Newest first. */
  list(query?: DeliveryQuery): Promise<Page<DeliveryView>>;
  /** Includes its newest attempts, at most 250. With a tenant given, another tenant's delivery is not found. */
  get(id: string, scope?: DeliveryScope): Promise<DeliveryDetail>;
  /** Lists deliveries in the state `failed`, by the time of their next attempt. */
  retryQueue(query?: RetryQueueQuery): Promise<Page<DeliveryView>>;
}

export interface RetryQueueQuery extends PageQuery {
  readonly tenant?: string | undefined;
  readonly endpoint?: string | undefined;
}

export interface DeliveriesOptions {
  readonly db: Queryable;
  readonly catalogue: Pick<Catalogue, "hiding">;
}

export function createDeliveries({ db, catalogue }: DeliveriesOptions): Deliveries {
  return { list, get, retryQueue };

  async function list(query: DeliveryQuery = {}): Promise<Page<DeliveryView>> {
    const reader = new QueryReader();
    const limit = reader.limit(query);
    const range = reader.idRange("deliveries", query);
    const tenant = reader.text("tenant", query.tenant);
    const endpointId = reader.id("endpoint", "ep", query.endpoint);
    const state = reader.oneOf("state", query.state, DELIVERY_STATES);
    const type = reader.text("type", query.type);
    const deadReason = reader.oneOf("reason", query.reason, END_REASONS);
    reader.finish(FILTERS, query);
    const endpointIds = await endpointsAsked(tenant, endpointId);
    const { rows, examinedUpTo } = await walkDeliveries(db, {
      after: range.notBefore,
      before: range.before,
      direction: "newest_first",
      limit: limit + 1,
      endpointIds,
      states: state === null ? null : [state],
      type,
      deadReason,
      endedByMs: null,
    });
    const toView = await deliveryViews(db, rows);
    return toPage("deliveries", rows, limit, toView, (row) => row.id, examinedUpTo);
  }

  async function retryQueue(query: RetryQueueQuery = {}): Promise<Page<DeliveryView>> {
    const reader = new QueryReader();
    const limit = reader.limit(query);
    const after = reader.key("retry-queue", query, RETRY_KEY);
    const tenant = reader.text("tenant", query.tenant);
    const endpointId = reader.id("endpoint", "ep", query.endpoint);
    reader.finish(["tenant", "endpoint", "limit", "cursor"], query);
    const endpointIds = await endpointsAsked(tenant, endpointId);
    const [nextAtMicros = "", id = ""] = after?.split(" ") ?? [];
    const rows = await listRetries(db, {
      after: after === null ? null : { nextAtMicros, id },
      endpointIds,
      limit: limit + 1,
    });
    const toView = await deliveryViews(db, rows);
    return toPage("retry-queue", rows, limit, toView, (row) => `${row.nextAtMicros} ${row.id}`);
  }

  /** Returns null for all endpoints. Includes a tenant's deleted endpoints, but not those of another tenant. */
  async function endpointsAsked(
    tenant: string | null,
    endpointId: Uuid | null,
  ): Promise<readonly Uuid[] | null> {
    if (tenant !== null) return await endpointIdsOf(db, tenant, endpointId);
    return endpointId === null ? null : [endpointId];
  }

  async function get(id: string, scope: DeliveryScope = {}) {
    refuseUnknown("There is no scope", scope, ["tenant", "redacted"], "invalid_query");
    const { tenant, redacted = false } = scope;
    const uuid = parseId("dlv", String(id));
    const [row] = uuid === null ? [] : await findDeliveries(db, [uuid]);
    if (uuid === null || row === undefined || (tenant !== undefined && row.tenant !== tenant))
      throw deliveryNotFound(id);
    const shown = { upTo: row.attempts, limit: MAX_SHOWN_ATTEMPTS };
    const attempts = (await newestAttempts(db, uuid, shown)).map((attempt) => toAttemptView(attempt, uuid));
    const isRedacted = redacted && (await catalogue.hiding())(row.eventType);
    const members = row.eventType === BATCH_TYPE ? await membersOfBatch(db, row.eventId) : null;
    const toView = await deliveryViews(db, [row]);
    return {
      ...toView(row),
      attempts: isRedacted ? attempts.map(withoutResponse) : attempts,
      members: members?.map((member) => formatId("evt", member)) ?? null,
    };
  }
}

/** Automatic retries stay below it, manual ones may not. Older attempts are in the endpoint's attempt list. */
export const MAX_SHOWN_ATTEMPTS = 250;

const RETRY_KEY = /^[0-9]{1,17} [0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const FILTERS = [
  "tenant",
  "endpoint",
  "state",
  "type",
  "reason",
  "createdAfter",
  "createdBefore",
  "limit",
  "cursor",
];

/** Reads what the rows wait for, and returns the function that converts them. */
export async function deliveryViews(
  db: Queryable,
  rows: readonly DeliveryRow[],
): Promise<(row: DeliveryRow) => DeliveryView> {
  const waiting = [...new Set(rows.filter(isWaiting).map(({ endpointId }) => endpointId))];
  const holds = waiting.length === 0 ? null : await holdsOf(db, waiting);
  return (row) => toDeliveryView(row, isWaiting(row) ? (holds?.get(row.endpointId) ?? null) : null);
}

function isWaiting({ state }: DeliveryRow): boolean {
  return state === "pending" || state === "failed";
}

function toDeliveryView(row: DeliveryRow, waitsFor: Hold | null): DeliveryView {
  return {
    id: formatId("dlv", row.id),
    eventId: formatId("evt", row.eventId),
    endpointId: formatId("ep", row.endpointId),
    tenant: row.tenant,
    eventType: row.eventType,
    subject: row.subject,
    sequence: row.sequence,
    state: row.state,
    attemptCount: row.attempts,
    nextRetryAt: toDate(row.nextRetryMs),
    deadReason: row.deadReason,
    replayCount: row.replayCount,
    createdAt: new Date(uuidTimeMs(row.id)),
    deliveredAt: row.state === "success" ? toDate(row.finishedMs) : null,
    deadAt: row.state === "dead" ? toDate(row.finishedMs) : null,
    waitsFor,
  };
}

function toDate(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}

/** The same message whether it never existed, belongs to another tenant, or was deleted. */
export function deliveryNotFound(id: unknown): PosthornError {
  const isId = parseId("dlv", String(id)) !== null;
  const shown = isId ? String(id) : "with that id; ids look like dlv_0198c2f0-…";
  return new PosthornError(
    "delivery_not_found",
    `There is no delivery ${shown}. List deliveries to see their ids.`,
  );
}
