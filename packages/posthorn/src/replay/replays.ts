// The API of replays: create, read and cancel. The replayer does the work.

import { formatId, parseId, uuidv7 } from "@posthorn/wire";
import { refuseUnknown } from "../did-you-mean.ts";
import { PosthornError } from "../errors.ts";
import type { LoadRoutes } from "../fan-out/routes.ts";
import type { Uuid } from "../model.ts";
import { endpointNotFound } from "../resources/endpoints/changes.ts";
import { type Page, type PageQuery, QueryReader, toPage } from "../resources/page.ts";
import { tenantNotFound } from "../resources/tenants/tenants.ts";
import type { Database } from "../storage/database.ts";
import { END_REASONS, type EndReason } from "../storage/queries/deliveries/delivery-row.ts";
import { countDeliveries } from "../storage/queries/deliveries/walk.ts";
import { endpointIdsOf, tenantOfEndpoint } from "../storage/queries/endpoints/read.ts";
import { findReplay, listReplays } from "../storage/queries/replays/read.ts";
import {
  REPLAY_STATES,
  type ReplayRow,
  type ReplayState,
  type SkipReason,
} from "../storage/queries/replays/replay-row.ts";
import {
  cancelReplay,
  idAboveAll,
  idAfterDroppedHistory,
  insertReplay,
} from "../storage/queries/replays/write.ts";
import { findTenant } from "../storage/queries/tenants/read.ts";
import { endpointsOf, planStep, type Range } from "./plan-step.ts";

/** States that can be replayed. Pending deliveries and those in flight will be sent anyway. */
export type ReplayableState = "success" | "failed" | "dead";
export const REPLAYABLE_STATES: readonly ReplayableState[] = ["success", "failed", "dead"];

export interface ReplayFilter {
  readonly tenant?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly type?: string | undefined;
  /** Default `dead`. */
  readonly states?: readonly ReplayableState[] | undefined;
  /** Reason of dead deliveries; `discarded`: dropped when the endpoint was enabled. */
  readonly reason?: EndReason | undefined;
  /** Time of the event, inclusive. */
  readonly createdAfter?: Date | undefined;
  /** Exclusive. */
  readonly createdBefore?: Date | undefined;
  /** Creates missing deliveries for events that match a current subscription, instead of repeating existing ones. */
  readonly resubscribe?: boolean | undefined;
}

export interface ReplayInput extends ReplayFilter {
  /** Deliveries per second, 1 to 5,000. Default 50. */
  readonly rate?: number | undefined;
  /** Who requested it, at most 200 characters. */
  readonly requestedBy?: string | undefined;
}

export interface Replay {
  readonly id: string;
  readonly tenant: string | null;
  readonly endpoint: string | null;
  readonly type: string | null;
  /** Null with `resubscribe`. */
  readonly states: readonly ReplayableState[] | null;
  readonly reason: string | null;
  readonly createdAfter: Date | null;
  readonly createdBefore: Date | null;
  readonly resubscribe: boolean;
  readonly rate: number;
  readonly requestedBy: string | null;
  readonly state: ReplayState;
  /** Number at the start; null: too many to count. */
  readonly total: number | null;
  /** Number of enqueued deliveries. */
  readonly done: number;
  readonly skipped: Readonly<Partial<Record<SkipReason, number>>>;
  readonly createdAt: Date;
  readonly endedAt: Date | null;
}

export interface ReplayPreview {
  readonly count: number;
  /** False: `total` is a lower bound. */
  readonly isExact: boolean;
}

interface Scope {
  readonly tenant?: string | undefined;
}

export interface Replays {
  /** Starts at once, in the leading process. */
  start(input?: ReplayInput): Promise<Replay>;
  /** Counts matching deliveries without sending anything. */
  preview(filter?: ReplayFilter): Promise<ReplayPreview>;
  /** Newest first. */
  list(
    query?: PageQuery & { readonly tenant?: string | undefined; readonly state?: ReplayState | undefined },
  ): Promise<Page<Replay>>;
  /** With a tenant, finds neither another tenant's replay nor one of all tenants. */
  get(id: string, scope?: Scope): Promise<Replay>;
  /** Takes effect before the next step. Enqueued deliveries stay queued. */
  cancel(id: string, scope?: Scope): Promise<Replay>;
}

export interface ReplaysOptions {
  readonly db: Database;
  readonly nowMs: () => number;
  readonly loadRoutes: LoadRoutes;
  readonly onStarted: () => void;
}

export const DEFAULT_REPLAY_RATE = 50;
export const MAX_REPLAY_RATE = 5_000;
/** Per tenant, and for replays of all tenants. */
export const MOST_RUNNING_REPLAYS = 5;
/** Upper bound of counting before a replay starts. */
const COUNT_UP_TO = 100_000;
const PREVIEW_STEPS = 10;

export function createReplays({ db, nowMs, loadRoutes, onStarted }: ReplaysOptions): Replays {
  return { start, preview, list, get, cancel };

  async function start(input: ReplayInput = {}): Promise<Replay> {
    const asked = readInput(input);
    await checkWhose(asked);
    const range = await rangeOf(asked);
    const { count, isExact } = await countIn(range);
    const replay = { ...asked, ...range, id: uuidv7(nowMs()), total: isExact ? count : null };
    const row = await insertReplay(db, replay, MOST_RUNNING_REPLAYS);
    if (row === null) throw limitReached(asked.tenant);
    onStarted();
    return toReplay(row);
  }

  async function preview(filter: ReplayFilter = {}): Promise<ReplayPreview> {
    const asked = readInput(filter);
    await checkWhose(asked);
    return await countIn(await rangeOf(asked));
  }

  async function list(
    query: PageQuery & { tenant?: string | undefined; state?: ReplayState | undefined } = {},
  ): Promise<Page<Replay>> {
    const reader = new QueryReader();
    const limit = reader.limit(query);
    const { before } = reader.idRange("replays", query);
    const tenant = reader.text("tenant", query.tenant);
    const state = reader.oneOf("state", query.state, REPLAY_STATES);
    reader.finish(["tenant", "state", "limit", "cursor"], query);
    const rows = await listReplays(db, { before, limit: limit + 1, tenant, state });
    return toPage("replays", rows, limit, toReplay, (row) => row.id);
  }

  async function get(id: string, scope: Scope = {}): Promise<Replay> {
    return toReplay(await find(id, scope));
  }

  async function cancel(id: string, scope: Scope = {}): Promise<Replay> {
    const { id: uuid } = await find(id, scope);
    const row = await cancelReplay(db, uuid);
    if (row !== null) return toReplay(row);
    throw new PosthornError("replay_over", `The replay ${id} has already ended.`);
  }

  async function find(id: string, scope: Scope): Promise<ReplayRow> {
    refuseUnknown("There is no scope", scope, ["tenant"], "invalid_query");
    const uuid = parseId("rpl", String(id));
    const row = uuid === null ? null : await findReplay(db, uuid, scope.tenant ?? null);
    if (row === null) throw replayNotFound(id);
    return row;
  }

  /** Rejects a filter that can match nothing. */
  async function checkWhose({ tenant, endpointId }: Asked): Promise<void> {
    if (tenant !== null && (await findTenant(db, tenant)) === null) throw tenantNotFound(tenant);
    if (endpointId === null) return;
    const isThere =
      tenant === null
        ? (await tenantOfEndpoint(db, endpointId)) !== null
        : (await endpointIdsOf(db, tenant, endpointId)).length > 0;
    if (!isThere) throw endpointNotFound(formatId("ep", endpointId));
  }

  async function rangeOf(asked: Asked): Promise<Range> {
    const isAboutEvents = asked.states === null;
    const afterAll = await idAboveAll(db, isAboutEvents ? "events" : "deliveries");
    const first = isAboutEvents ? later(asked.position, await idAfterDroppedHistory(db)) : asked.position;
    return {
      ...asked,
      position: first,
      before: afterAll < asked.before ? afterAll : asked.before,
      createdAtMs: nowMs(),
    };
  }

  async function countIn(range: Range): Promise<ReplayPreview> {
    if (range.states === null) return await countMissing(range);
    return await countDeliveries(db, {
      after: range.position,
      before: range.before,
      direction: "oldest_first",
      limit: COUNT_UP_TO,
      endpointIds: await endpointsOf(db, range),
      states: range.states,
      type: range.type,
      deadReason: range.reason,
      endedByMs: null,
    });
  }

  async function countMissing(range: Range): Promise<ReplayPreview> {
    let count = 0;
    let { position } = range;
    for (let step = 0; step < PREVIEW_STEPS; step += 1) {
      const plan = await planStep(db, { ...range, position }, { limit: 0, loadRoutes });
      count += plan.deliveries.length;
      if (plan.isLast) return { count, isExact: true };
      position = plan.position;
    }
    return { count, isExact: false };
  }
}

interface Asked extends Omit<Range, "createdAtMs"> {
  readonly rate: number;
  readonly requestedBy: string | null;
  readonly createdAfterMs: number | null;
  readonly createdBeforeMs: number | null;
}

function readInput(input: ReplayInput): Asked {
  const reader = new QueryReader();
  const { createdAfter, createdBefore } = input;
  const { notBefore, before } = reader.idRange("replays", { createdAfter, createdBefore });
  const isAboutEvents = reader.yesOrNo("resubscribe", input.resubscribe);
  const asked: Asked = {
    tenant: reader.text("tenant", input.tenant),
    endpointId: reader.id("endpoint", "ep", input.endpoint),
    type: reader.text("type", input.type),
    states: isAboutEvents ? null : readStates(reader, input),
    reason: reader.oneOf("reason", input.reason, END_REASONS),
    rate: reader.whole("rate", input.rate, 1, MAX_REPLAY_RATE) ?? DEFAULT_REPLAY_RATE,
    requestedBy: reader.text("requestedBy", input.requestedBy, 200),
    createdAfterMs: createdAfter?.getTime() ?? null,
    createdBeforeMs: createdBefore?.getTime() ?? null,
    position: notBefore,
    before,
  };
  for (const field of ["states", "reason"] as const) {
    if (isAboutEvents && input[field] !== undefined)
      reader.refuse(
        field,
        `${field} says which deliveries, and resubscribe is about events without one. Leave one of them out.`,
      );
  }
  reader.finish(FIELDS, input, "invalid_replay");
  return asked;
}

function readStates(reader: QueryReader, { states, reason }: ReplayInput): readonly ReplayableState[] {
  if (states === undefined) return ["dead"];
  const isList = Array.isArray(states) && states.length > 0;
  if (!isList || !states.every((state) => REPLAYABLE_STATES.includes(state))) {
    reader.refuse(
      "states",
      `states is a list of ${REPLAYABLE_STATES.join(", ")}; what is pending or in flight is on its way.`,
    );
    return ["dead"];
  }
  if (reason !== undefined && !states.includes("dead"))
    reader.refuse("reason", "reason says why a delivery is dead: add dead to states, or leave states out.");
  return [...new Set(states)];
}

const FIELDS = [
  "tenant",
  "endpoint",
  "type",
  "states",
  "reason",
  "createdAfter",
  "createdBefore",
  "resubscribe",
  "rate",
  "requestedBy",
];

function later(a: Uuid, b: Uuid): Uuid {
  return a > b ? a : b;
}

function toReplay(row: ReplayRow): Replay {
  return {
    id: formatId("rpl", row.id),
    tenant: row.tenant,
    endpoint: row.endpointId === null ? null : formatId("ep", row.endpointId),
    type: row.type,
    states: row.states as readonly ReplayableState[] | null,
    reason: row.reason,
    createdAfter: toDate(row.createdAfterMs),
    createdBefore: toDate(row.createdBeforeMs),
    resubscribe: row.states === null,
    rate: row.rate,
    requestedBy: row.requestedBy,
    state: row.state,
    total: row.total,
    done: row.done,
    skipped: row.skipped,
    createdAt: new Date(row.createdAtMs),
    endedAt: toDate(row.endedAtMs),
  };
}

function toDate(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}

function replayNotFound(id: unknown): PosthornError {
  const shown = parseId("rpl", String(id)) === null ? "with that id" : String(id);
  return new PosthornError("replay_not_found", `There is no replay ${shown}. List replays to see their ids.`);
}

function limitReached(tenant: string | null): PosthornError {
  const whose = tenant === null ? "of all tenants" : "of this tenant";
  return new PosthornError(
    "replay_limit_reached",
    `${MOST_RUNNING_REPLAYS} replays ${whose} are running, which is the maximum. Wait for one to end, or cancel one.`,
  );
}
