// The API of replays: create or schedule, read and cancel. The replayer does the work.
import { formatId, parseId, uuidv7 } from "@posthorn/wire";
import { refuseUnknown } from "../did-you-mean.ts";
import { type InputProblem, PosthornError } from "../errors.ts";
import type { LoadRoutes } from "../fan-out/routes.ts";
import { endpointNotFound } from "../resources/endpoints/changes.ts";
import {
  date,
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
import type { Database, Queryable } from "../storage/database.ts";
import { END_REASONS, type EndReason } from "../storage/queries/deliveries/read.ts";
import { endpointIdsOf, tenantOfEndpoint } from "../storage/queries/endpoints/read.ts";
import {
  cancelReplay,
  findReplay,
  insertReplay,
  listReplays,
  type NewReplay,
  REPLAY_STATES,
  type ReplayOutcomes,
  type ReplayRow,
  type ReplayState,
} from "../storage/queries/replays/replays.ts";
import { lockRequester, type Requester } from "../storage/queries/replays/requester.ts";
import { findTenant } from "../storage/queries/tenants.ts";
import type { Range } from "./plan-step.ts";
import { type CountedRange, countRange, rangeNow } from "./replay-range.ts";

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
  /** When to start; by default at once. What it selects is decided then. At most 90 days ahead. */
  readonly startAt?: Date | undefined;
  /** Who requested it, at most 200 characters. */
  readonly requestedBy?: string | undefined;
  /** Id of the key, token or portal link it is requested with. Revoking that cancels the replay if it is still scheduled. */
  readonly credential?: string | undefined;
  /** The member of the tenant who requests it. Removing the member cancels the replay if it is still scheduled. */
  readonly user?: string | undefined;
}

export interface Replay extends Omit<ReplayRow, "endpointId" | "states" | "outcomes" | `${string}Ms`> {
  readonly endpoint: string | null;
  /** Null with `resubscribe`. */
  readonly states: readonly ReplayableState[] | null;
  readonly createdAfter: Date | null;
  readonly createdBefore: Date | null;
  readonly resubscribe: boolean;
  /** Number at the start; null: too many to count, or not started. */
  readonly total: number | null;
  /** Number of enqueued deliveries. */
  readonly done: number;
  /** Their outcomes at this time. */
  readonly outcomes: ReplayOutcomes & {
    /** Added to the next batch of their endpoint, whose own delivery has the outcome. */
    readonly inBatches: number;
  };
  readonly createdAt: Date;
  /** Null: it started when it was created. */
  readonly startAt: Date | null;
  /** Null: it has not started. */
  readonly startedAt: Date | null;
  readonly endedAt: Date | null;
}

export type ReplayPreview = CountedRange;

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
export const MOST_RUNNING_REPLAYS = 5;
const MOST_SCHEDULED_REPLAYS = 50;
const MAX_DAYS_AHEAD = 90;
const DAY_MS = 86_400_000;

export function createReplays({ db, nowMs, loadRoutes, onStarted }: ReplaysOptions) {
  return { start, preview, list, get, cancel };

  /** Starts at once, or at `startAt`, in the leading process. */
  async function start(input: ReplayInput = {}): Promise<Replay> {
    const asked = readInput(input, nowMs());
    await checkWhose(asked);
    const id = uuidv7(nowMs());
    if (asked.startAtMs !== null)
      return toReplay(await insert({ ...asked, id, total: null }, MOST_SCHEDULED_REPLAYS));
    const range = await rangeNow(db, asked, nowMs());
    const { count, isExact } = await countRange(db, range, loadRoutes);
    const row = await insert({ ...range, id, total: isExact ? count : null }, MOST_RUNNING_REPLAYS);
    onStarted();
    return toReplay(row);
  }

  /** Counts matching deliveries without sending anything. */
  async function preview(filter: ReplayFilter = {}): Promise<ReplayPreview> {
    const asked = readInput(filter, nowMs());
    await checkWhose(asked);
    return await countRange(db, await rangeNow(db, asked, nowMs()), loadRoutes);
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

  /** Takes effect before the start or the next step. Enqueued deliveries stay queued. */
  async function cancel(id: string, scope: Scope = {}): Promise<Replay> {
    const { id: uuid } = await find(id, scope);
    const row = await cancelReplay(db, uuid);
    if (row !== null) return toReplay(row);
    throw new PosthornError("replay_finished", `The replay ${id} has already ended.`);
  }

  async function insert(replay: NewReplay, most: number): Promise<ReplayRow> {
    const row = await db.transaction(async (tx) => {
      if (replay.startAtMs !== null) await checkRequester(tx, replay, replay.startAtMs);
      return await insertReplay(tx, replay, most);
    });
    if (row === null) throw limitReached(replay, most);
    return row;
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
}

interface Asked extends Omit<Range, "startedAtMs"> {
  readonly rate: number;
  readonly requestedBy: string | null;
  readonly credentialId: string | null;
  readonly userId: string | null;
  readonly createdAfterMs: number | null;
  readonly createdBeforeMs: number | null;
  readonly startAtMs: number | null;
}

function readInput(input: ReplayInput, nowMs: number): Asked {
  if (typeof input !== "object" || input === null)
    throw new PosthornError("invalid_replay", `Pass an object with ${Object.keys(FIELDS).join(", ")}.`);
  const problems: InputProblem[] = [];
  checkTogether(input, problems);
  checkStart(input.startAt, nowMs, problems);
  const {
    endpoint,
    states,
    resubscribe,
    rate,
    startAt,
    createdAfter,
    createdBefore,
    user,
    credential,
    ...asked
  } = field.readFields("invalid_replay", "There is no filter", input, FIELDS, problems);
  const { notBefore: position, before } = idRange({ createdAfter, createdBefore });
  return {
    ...asked,
    endpointId: endpoint,
    userId: user,
    credentialId: credential,
    states: resubscribe === true ? null : [...new Set(states ?? ["dead" as const])],
    rate: rate ?? DEFAULT_REPLAY_RATE,
    createdAfterMs: input.createdAfter?.getTime() ?? null,
    createdBeforeMs: input.createdBefore?.getTime() ?? null,
    startAtMs: startAt?.getTime() ?? null,
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

/** An invalid date is reported by its field. */
function checkStart(startAt: Date | undefined, nowMs: number, problems: InputProblem[]): void {
  const ms = startAt instanceof Date ? startAt.getTime() : Number.NaN;
  if (ms > nowMs && ms <= nowMs + MAX_DAYS_AHEAD * DAY_MS) return;
  if (Number.isNaN(ms)) return;
  problems.push({
    pointer: "/startAt",
    message: `startAt must be in the future and at most ${MAX_DAYS_AHEAD} days ahead. Leave it out to start at once.`,
  });
}

const FIELDS = {
  ...TIME_RANGE,
  startAt: date,
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
  credential: field.text(200),
  user: field.text(200),
};

function toReplay({
  endpointId,
  createdAfterMs,
  createdBeforeMs,
  createdAtMs,
  startAtMs,
  startedAtMs,
  endedAtMs,
  ...row
}: ReplayRow): Replay {
  return {
    ...row,
    id: formatId("rpl", row.id),
    endpoint: endpointId === null ? null : formatId("ep", endpointId),
    states: row.states as readonly ReplayableState[] | null,
    resubscribe: row.states === null,
    outcomes: { ...row.outcomes, inBatches: Math.max(0, row.done - sumOf(row.outcomes)) },
    createdAfter: toDate(createdAfterMs),
    createdBefore: toDate(createdBeforeMs),
    createdAt: new Date(createdAtMs),
    startAt: toDate(startAtMs),
    startedAt: toDate(startedAtMs),
    endedAt: toDate(endedAtMs),
  };
}

function sumOf(outcomes: ReplayOutcomes): number {
  return Object.values(outcomes).reduce((sum, count) => sum + count, 0);
}

/** Whoever schedules it must be allowed to act when it starts. */
async function checkRequester(tx: Queryable, requester: Requester, startAtMs: number): Promise<void> {
  const endsMs = await lockRequester(tx, requester);
  if (endsMs === null || (endsMs !== undefined && endsMs > startAtMs)) return;
  const message =
    endsMs === undefined
      ? "The key or the member that schedules the replay no longer exists. Use another key."
      : `The key expires at ${new Date(endsMs).toISOString()}, before the replay would start. Use a key that is valid then, or start it earlier.`;
  throw new PosthornError("invalid_replay", message, { problems: [{ pointer: "/startAt", message }] });
}

function limitReached({ tenant, startAtMs }: NewReplay, most: number): PosthornError {
  const whose = tenant === null ? "of all tenants" : "of this tenant";
  const what = startAtMs === null ? "running" : "scheduled";
  return new PosthornError(
    "replay_limit_reached",
    `${most} replays ${whose} are ${what}, which is the maximum. Wait for one to end, or cancel one.`,
  );
}
