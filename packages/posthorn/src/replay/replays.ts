// The API of replays: create, read and cancel. The replayer does the work.
import { formatId, parseId, uuidv7 } from "@posthorn/wire";
import { refuseUnknown } from "../did-you-mean.ts";
import { type InputProblem, PosthornError } from "../errors.ts";
import type { LoadRoutes } from "../fan-out/routes.ts";
import type { Uuid } from "../model.ts";
import { endpointsAsked } from "../resources/deliveries/deliveries.ts";
import { endpointNotFound } from "../resources/endpoints/changes.ts";
import {
  idRange,
  notFound,
  type Page,
  type PageQuery,
  readIdPage,
  TIME_RANGE,
  toDate,
  toPage,
} from "../resources/page.ts";
import * as field from "../resources/read-fields.ts";
import { tenantNotFound } from "../resources/tenants/tenants.ts";
import type { Database } from "../storage/database.ts";
import { END_REASONS, type EndReason } from "../storage/queries/deliveries/read.ts";
import { countDeliveries } from "../storage/queries/deliveries/walk.ts";
import { endpointIdsOf, tenantOfEndpoint } from "../storage/queries/endpoints/read.ts";
import {
  cancelReplay,
  findReplay,
  idAboveAll,
  idAfterDroppedHistory,
  insertReplay,
  listReplays,
  REPLAY_STATES,
  type ReplayRow,
  type ReplayState,
} from "../storage/queries/replays/replays.ts";
import { findTenant } from "../storage/queries/tenants.ts";
import { planStep, type Range } from "./plan-step.ts";

/** States that can be replayed. Pending deliveries and those in flight will be sent anyway. */
export type ReplayableState = "success" | "failed" | "dead";
const REPLAYABLE_STATES: readonly ReplayableState[] = ["success", "failed", "dead"];

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

export interface Replay extends Omit<ReplayRow, "endpointId" | "states" | `${string}Ms`> {
  readonly endpoint: string | null;
  /** Null with `resubscribe`. */
  readonly states: readonly ReplayableState[] | null;
  readonly createdAfter: Date | null;
  readonly createdBefore: Date | null;
  readonly resubscribe: boolean;
  /** Number at the start; null: too many to count. */
  readonly total: number | null;
  /** Number of enqueued deliveries. */
  readonly done: number;
  readonly createdAt: Date;
  readonly endedAt: Date | null;
}

export interface ReplayPreview {
  readonly count: number;
  /** False: `total` is a lower bound. */
  readonly isExact: boolean;
}

export interface Scope {
  readonly tenant?: string | undefined;
}

export interface ReplayQuery extends PageQuery, Scope {
  readonly state?: ReplayState | undefined;
}

export interface ReplaysOptions {
  readonly db: Database;
  readonly nowMs: () => number;
  readonly loadRoutes: LoadRoutes;
  readonly onStarted: () => void;
}

const DEFAULT_REPLAY_RATE = 50;
const MAX_REPLAY_RATE = 5_000;
/** Per tenant, and for replays of all tenants. */
const MOST_RUNNING_REPLAYS = 5;
/** Upper bound of counting before a replay starts. */
const COUNT_UP_TO = 100_000;
const PREVIEW_STEPS = 10;

export function createReplays({ db, nowMs, loadRoutes, onStarted }: ReplaysOptions) {
  return { start, preview, list, get, cancel };

  /** Starts at once, in the leading process. */
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

  /** Counts matching deliveries without sending anything. */
  async function preview(filter: ReplayFilter = {}): Promise<ReplayPreview> {
    const asked = readInput(filter);
    await checkWhose(asked);
    return await countIn(await rangeOf(asked));
  }

  /** Newest first. */
  async function list(query: ReplayQuery = {}): Promise<Page<Replay>> {
    const filters = { tenant: field.text(), state: field.oneOf(REPLAY_STATES) };
    const { limit, ...asked } = readIdPage("replays", query, filters);
    const rows = await listReplays(db, { ...asked, limit: limit + 1 });
    return toPage("replays", rows, limit, toReplay, (row) => row.id);
  }

  /** With a tenant, finds neither another tenant's replay nor one of all tenants. */
  async function get(id: string, scope: Scope = {}): Promise<Replay> {
    return toReplay(await find(id, scope));
  }

  /** Takes effect before the next step. Enqueued deliveries stay queued. */
  async function cancel(id: string, scope: Scope = {}): Promise<Replay> {
    const { id: uuid } = await find(id, scope);
    const row = await cancelReplay(db, uuid);
    if (row !== null) return toReplay(row);
    throw new PosthornError("replay_finished", `The replay ${id} has already ended.`);
  }

  async function find(id: string, scope: Scope): Promise<ReplayRow> {
    refuseUnknown("There is no scope", scope, ["tenant"], "invalid_query");
    const uuid = parseId("rpl", String(id));
    const row = uuid === null ? null : await findReplay(db, uuid, scope.tenant ?? null);
    if (row === null) throw notFound("replay", "rpl", id);
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
      endpointIds: await endpointsAsked(db, { ...range, endpoint: range.endpointId }),
      states: range.states,
      type: range.type,
      deadReason: range.reason,
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
  const problems: InputProblem[] = [];
  checkTogether(input, problems);
  const { endpoint, states, resubscribe, rate, createdAfter, createdBefore, ...asked } = field.readFields(
    "invalid_replay",
    "There is no filter",
    input,
    FIELDS,
    problems,
  );
  const { notBefore: position, before } = idRange({ createdAfter, createdBefore });
  return {
    ...asked,
    endpointId: endpoint,
    states: resubscribe === true ? null : [...new Set(states ?? ["dead" as const])],
    rate: rate ?? DEFAULT_REPLAY_RATE,
    createdAfterMs: input.createdAfter?.getTime() ?? null,
    createdBeforeMs: input.createdBefore?.getTime() ?? null,
    position,
    before,
  };
}

function checkTogether(input: ReplayInput, problems: InputProblem[]): void {
  const { states, reason, resubscribe } = input;
  const refuse = (name: string, message: string) => problems.push({ pointer: `/${name}`, message });
  for (const name of ["states", "reason"] as const) {
    if (resubscribe === true && input[name] !== undefined)
      refuse(
        name,
        `${name} selects deliveries, and resubscribe selects events without one. Use only one of them.`,
      );
  }
  if (resubscribe !== true && reason !== undefined && Array.isArray(states) && !states.includes("dead"))
    refuse("reason", "reason applies only to dead deliveries: add dead to states, or leave states out.");
}

const FIELDS = {
  ...TIME_RANGE,
  resubscribe: field.boolean,
  tenant: field.text(),
  endpoint: field.id("ep"),
  type: field.text(),
  states: field.optional<readonly ReplayableState[]>(
    (states) =>
      Array.isArray(states) &&
      states.length > 0 &&
      states.every((state) => REPLAYABLE_STATES.includes(state)),
    `is a list of ${REPLAYABLE_STATES.join(", ")}; pending and in-flight deliveries are sent anyway.`,
  ),
  reason: field.oneOf(END_REASONS),
  rate: field.integer(1, MAX_REPLAY_RATE),
  requestedBy: field.text(200),
};

function later(a: Uuid, b: Uuid | null): Uuid {
  return b !== null && b > a ? b : a;
}

function toReplay({
  endpointId,
  createdAfterMs,
  createdBeforeMs,
  createdAtMs,
  endedAtMs,
  ...row
}: ReplayRow): Replay {
  return {
    ...row,
    id: formatId("rpl", row.id),
    endpoint: endpointId === null ? null : formatId("ep", endpointId),
    states: row.states as readonly ReplayableState[] | null,
    resubscribe: row.states === null,
    createdAfter: toDate(createdAfterMs),
    createdBefore: toDate(createdBeforeMs),
    createdAt: new Date(createdAtMs),
    endedAt: toDate(endedAtMs),
  };
}

function limitReached(tenant: string | null): PosthornError {
  const whose = tenant === null ? "of all tenants" : "of this tenant";
  return new PosthornError(
    "replay_limit_reached",
    `${MOST_RUNNING_REPLAYS} replays ${whose} are running, which is the maximum. Wait for one to end, or cancel one.`,
  );
}
