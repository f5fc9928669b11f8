// Lists deliveries, and returns single ones with their attempts.
import { formatId, hostOf, parseId, uuidTimeMs } from "@posthorn/wire";
import type { Catalogue } from "../../catalogue/catalogue.ts";
import { refuseUnknown } from "../../did-you-mean.ts";
import type { PosthornError } from "../../errors.ts";
import { BATCH_TYPE, type Uuid } from "../../model.ts";
import type { Queryable } from "../../storage/database.ts";
import { attemptsNumbered, newestAttempts } from "../../storage/queries/attempts.ts";
import { membersOfBatch } from "../../storage/queries/batches/read.ts";
import {
  DELIVERY_STATES,
  type DeliveryRow,
  type DeliveryState,
  END_REASONS,
  type EndReason,
  findDeliveries,
} from "../../storage/queries/deliveries/read.ts";
import { walkDeliveries } from "../../storage/queries/deliveries/walk.ts";
import {
  type EndpointLabel,
  endpointIdsOf,
  labelsOfEndpoints,
} from "../../storage/queries/endpoints/read.ts";
import { listRetries } from "../../storage/queries/queue/list-retries.ts";
import {
  notFound,
  type Page,
  type PageQuery,
  readPage,
  readTimedPage,
  type TimeRangeQuery,
  toDate,
  toPage,
  UUID,
} from "../page.ts";
import { id as idField, oneOf, text } from "../read-fields.ts";
import { type AttemptView, toAttemptView, withoutResponse } from "./attempt-view.ts";
import { ALWAYS, type IsSending, readWaits, type Wait } from "./waits.ts";

export interface DeliveryView extends Omit<DeliveryRow, "attempts" | "finishedMs"> {
  /** The endpoint's name, or the host of its URL. */
  readonly endpointName: string;
  /** Without its query. */
  readonly endpointUrl: string;
  readonly attemptCount: number;
  /** `HTTP 500`, or the error of the attempt. Null if the last attempt did not fail, or there was none. */
  readonly lastError: string | null;
  /** When a failed delivery is attempted again, as far as that is known. Never in the past. */
  readonly nextRetryAt: Date | null;
  /** When the event was recorded, as contained in the id. */
  readonly createdAt: Date;
  readonly deliveredAt: Date | null;
  /** When it became dead: failed for good, was cancelled or discarded. */
  readonly deadAt: Date | null;
  /** What it waits for. Null if it is due, being sent or finished. */
  readonly waitsFor: Wait | null;
}

export interface DeliveryQuery extends TimeRangeQuery, EndpointFilter {
  readonly state?: DeliveryState | undefined;
  readonly type?: string | undefined;
  /** The dead reason. */
  readonly reason?: EndReason | undefined;
}

export interface EndpointFilter {
  readonly tenant?: string | undefined;
  readonly endpoint?: string | undefined;
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
  /** Lists deliveries in the state `failed`, by the time that their retry is scheduled for. */
  retryQueue(query?: PageQuery & EndpointFilter): Promise<Page<DeliveryView>>;
}

export interface DeliveriesOptions {
  readonly db: Queryable;
  readonly catalogue: Pick<Catalogue, "hiding">;
  /** Returns false while delivery is off for the whole installation. Default: it is on. */
  readonly isSending?: IsSending;
}

/** Filters by tenant and endpoint. */
export const OF_ENDPOINT = { tenant: text(), endpoint: idField("ep") };

const FILTERS = {
  ...OF_ENDPOINT,
  state: oneOf(DELIVERY_STATES),
  type: text(),
  reason: oneOf(END_REASONS),
};

export function createDeliveries({ db, catalogue, isSending = ALWAYS }: DeliveriesOptions): Deliveries {
  return {
    async list(query = {}) {
      const { limit, state, type, reason, ...asked } = readTimedPage("deliveries", query, FILTERS);
      const { rows, examinedUpTo } = await walkDeliveries(db, {
        after: asked.notBefore,
        before: asked.before,
        direction: "newest_first",
        limit: limit + 1,
        endpointIds: await endpointsAsked(db, asked),
        states: state === null ? null : [state],
        type,
        deadReason: reason,
      });
      const toView = await deliveryViews(db, rows, isSending);
      return toPage("deliveries", rows, limit, toView, (row) => row.id, examinedUpTo);
    },

    async retryQueue(query = {}) {
      const { limit, cursor, ...asked } = readPage("retry-queue", query, OF_ENDPOINT, `[0-9]{1,17} ${UUID}`);
      const [nextAtMicros = "", id = ""] = cursor?.split(" ") ?? [];
      const rows = await listRetries(db, {
        after: cursor === null ? null : { nextAtMicros, id },
        endpointIds: await endpointsAsked(db, asked),
        limit: limit + 1,
      });
      const toView = await deliveryViews(db, rows, isSending);
      return toPage("retry-queue", rows, limit, toView, (row) => `${row.nextAtMicros} ${row.id}`);
    },

    async get(id, scope = {}) {
      refuseUnknown("There is no scope", scope, ["tenant", "redacted"], "invalid_query");
      const { tenant, redacted = false } = scope;
      const row = await findDelivery(db, id, tenant);
      const newest = await newestAttempts(db, row.id, row.attempts, MAX_SHOWN_ATTEMPTS);
      const attempts = newest.toReversed().map((attempt) => toAttemptView(attempt, row.id));
      const isRedacted = redacted && (await catalogue.hiding())(row.eventType);
      const members = row.eventType === BATCH_TYPE ? await membersOfBatch(db, row.eventId) : null;
      const toView = await deliveryViews(db, [row], isSending);
      return {
        ...toView(row),
        attempts: isRedacted ? attempts.map(withoutResponse) : attempts,
        members: members?.map((member) => formatId("evt", member)) ?? null,
      };
    },
  };
}

/** Returns null for all endpoints. Includes a tenant's deleted endpoints, but not those of another tenant. */
export async function endpointsAsked(
  db: Queryable,
  { tenant, endpoint }: { readonly tenant: string | null; readonly endpoint: Uuid | null },
): Promise<readonly Uuid[] | null> {
  if (tenant !== null) return await endpointIdsOf(db, tenant, endpoint);
  return endpoint === null ? null : [endpoint];
}

export async function findDelivery(db: Queryable, id: string, tenant?: string): Promise<DeliveryRow> {
  const uuid = parseId("dlv", String(id));
  const [row] = uuid === null ? [] : await findDeliveries(db, [uuid]);
  if (row === undefined || (tenant !== undefined && row.tenant !== tenant)) throw deliveryNotFound(id);
  return row;
}

/** Automatic retries stay below it, manual ones may not. Older attempts are in the endpoint's attempt list. */
const MAX_SHOWN_ATTEMPTS = 250;

/** Reads the names of their endpoints, their last errors and what they wait for, and returns the function that converts them. */
export async function deliveryViews(
  db: Queryable,
  rows: readonly DeliveryRow[],
  isSending: IsSending,
): Promise<(row: DeliveryRow) => DeliveryView> {
  const endpointIds = [...new Set(rows.map(({ endpointId }) => endpointId))];
  const labels = rows.length === 0 ? new Map() : await labelsOfEndpoints(db, endpointIds);
  const errors = await lastErrorsOf(db, rows);
  const waitOf = await readWaits(db, rows, isSending);
  return (row) => ({
    ...toDeliveryView(row, labels.get(row.endpointId), waitOf(row)),
    lastError: errors.get(row.id) ?? null,
  });
}

async function lastErrorsOf(db: Queryable, rows: readonly DeliveryRow[]): Promise<ReadonlyMap<Uuid, string>> {
  const failed = rows.filter(({ state, attempts }) => state !== "success" && attempts > 0);
  if (failed.length === 0) return new Map();
  const found = await attemptsNumbered(db, failed);
  return new Map(
    found.flatMap(({ deliveryId, statusCode, error }): [Uuid, string][] => {
      if (error !== null) return [[deliveryId, error]];
      const isSuccess = statusCode !== null && statusCode >= 200 && statusCode < 300;
      return statusCode === null || isSuccess ? [] : [[deliveryId, `HTTP ${statusCode}`]];
    }),
  );
}

function toDeliveryView(
  row: DeliveryRow,
  { name, url }: EndpointLabel = { name: null, url: "" },
  waitsFor: Wait | null,
): Omit<DeliveryView, "lastError"> {
  return {
    id: formatId("dlv", row.id),
    eventId: formatId("evt", row.eventId),
    endpointId: formatId("ep", row.endpointId),
    endpointName: name ?? hostOf(url),
    endpointUrl: url,
    tenant: row.tenant,
    eventType: row.eventType,
    subject: row.subject,
    sequence: row.sequence,
    editedFrom: row.editedFrom === null ? null : formatId("evt", row.editedFrom),
    state: row.state,
    attemptCount: row.attempts,
    nextRetryAt: row.state === "failed" ? (waitsFor?.until ?? null) : null,
    deadReason: row.deadReason,
    replayCount: row.replayCount,
    createdAt: new Date(uuidTimeMs(row.id)),
    deliveredAt: row.state === "success" ? toDate(row.finishedMs) : null,
    deadAt: row.state === "dead" ? toDate(row.finishedMs) : null,
    waitsFor,
  };
}

export function deliveryNotFound(id: unknown): PosthornError {
  return notFound("delivery", "dlv", id);
}
