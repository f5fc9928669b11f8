// What the model of delivery-life.integration.test.ts remembers, and the world it begins in.
import { uuidv7 } from "@posthorn/wire";
import type pg from "pg";
import type { AttemptTrigger, ClaimedDelivery, Uuid } from "../../../packages/posthorn/src/model.ts";
import type { Database } from "../../../packages/posthorn/src/storage/database.ts";
import { UNSET_SETTINGS } from "../../../packages/posthorn/src/storage/queries/endpoints/setting-columns.ts";
import { insertEndpoint } from "../../../packages/posthorn/src/storage/queries/endpoints/write.ts";
import { insertTenant } from "../../../packages/posthorn/src/storage/queries/tenants/save.ts";
import { registerWorker } from "../../../packages/posthorn/src/storage/queries/workers/register.ts";

export const tenant = "acme";
export const leaseMs = 15_000;
export const minute = 60_000;

export type State = "pending" | "in_flight" | "failed" | "success" | "dead";

export interface Delivery {
  readonly id: Uuid;
  readonly endpoint: Uuid;
  state: State;
  claimedBy: number | null;
  /** What each attempt came to, by whom, and why it was made. */
  readonly attempts: string[];
  /** Why the next attempt is made. */
  trigger: AttemptTrigger;
  failures: number;
  dueMs: number;
}

export interface Lane {
  owner: number | null;
  readyMs: number | null;
  isPaused: boolean;
}

/** One process's memory; it does not know that it was buried. */
export interface Worker {
  readonly id: number;
  readonly lanes: Set<Uuid>;
  readonly held: Map<Uuid, ClaimedDelivery>;
}

export interface Model {
  readonly db: Database;
  readonly pool: pg.Pool;
  nowMs: number;
  routingVersion: number;
  readonly deliveries: Map<Uuid, Delivery>;
  readonly lanes: Map<Uuid, Lane>;
  /** Registered ones, and when their leases end. */
  readonly leases: Map<number, number>;
  /** Three processes; a crashed one leaves its place empty. */
  readonly processes: (Worker | undefined)[];
  /** What buried workers still have in memory, and may say late. */
  readonly ghosts: Worker[];
  readonly events: Set<Uuid>;
  readonly outbox: Map<Uuid, readonly Uuid[]>;
  readonly keys: Map<string, Uuid>;
}

/** The real side: only what a step needs to compare with. */
export interface World {
  readonly endpoints: readonly Uuid[];
  before: ReadonlyMap<Uuid, State>;
}

export async function createWorld(db: Database, pool: pg.Pool): Promise<{ model: Model; real: World }> {
  for (const table of ["queue", "deliveries", "attempts", "events", "outbox", "idempotency_keys", "workers"])
    await pool.query(`delete from posthorn.${table}`);
  await pool.query("delete from posthorn.endpoints; delete from posthorn.tenants");
  await insertTenant(db, tenant);
  const endpoints = [uuidv7(), uuidv7(), uuidv7()];
  for (const id of endpoints) await insertEndpoint(db, id, tenant, endpointSettings);
  const { rows } = await pool.query("select routing_version::float8 as version from posthorn.tenants");
  const model: Model = {
    db,
    pool,
    nowMs: 0,
    routingVersion: rows[0].version,
    deliveries: new Map(),
    lanes: new Map(endpoints.map((id) => [id, { owner: null, readyMs: null, isPaused: false }])),
    leases: new Map(),
    processes: [undefined, undefined, undefined],
    ghosts: [],
    events: new Set(),
    outbox: new Map(),
    keys: new Map(),
  };
  for (const slot of [0, 1, 2]) await startProcess(model, slot);
  return { model, real: { endpoints, before: new Map() } };
}

export const endpointSettings = { ...UNSET_SETTINGS, url: "https://receiver.example/", events: ["*"] };

export async function startProcess(model: Model, slot: number): Promise<void> {
  const { id } = await registerWorker(model.db, {
    name: `process ${slot}`,
    leaseMs,
    holdsLivenessLock: false,
    delivers: true,
  });
  model.leases.set(id, model.nowMs + leaseMs);
  model.processes[slot] = { id, lanes: new Set(), held: new Map() };
}

export const isAlive = (model: Model, worker: Worker): boolean => model.leases.has(worker.id);
export const laneOf = (model: Model, endpoint: Uuid): Lane => model.lanes.get(endpoint) as Lane;

export function owedIn(model: Model, endpoint: Uuid): Delivery[] {
  return [...model.deliveries.values()].filter(
    (delivery) =>
      delivery.endpoint === endpoint && (delivery.state === "pending" || delivery.state === "failed"),
  );
}

export function firstDue(model: Model, endpoint: Uuid): number | null {
  const due = owedIn(model, endpoint).map((delivery) => delivery.dueMs);
  return due.length === 0 ? null : Math.min(...due);
}

export function unclaim(delivery: Delivery): void {
  delivery.claimedBy = null;
  delivery.state = delivery.failures > 0 ? "failed" : "pending";
}

export function freeLane(model: Model, endpoint: Uuid): void {
  const lane = laneOf(model, endpoint);
  lane.owner = null;
  lane.readyMs = firstDue(model, endpoint);
}
