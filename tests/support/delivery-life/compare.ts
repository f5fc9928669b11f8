// After every step: the tables are as the model says, and keep their invariants whatever the model says.
import { expect } from "vitest";
import type { Uuid } from "../../../packages/posthorn/src/model.ts";
import { type Delivery, laneOf, type Model, type State, type World } from "./model.ts";

/** Real time goes on under the model's: less than this in one run, and no two times of the model are this close. */
const driftMs = 9_000;

const born = ["pending", "in_flight"];
/** From → to. Leaving success or dead takes a retry by hand, ending without an attempt takes a discard. */
const transitions: Record<State, readonly string[]> = {
  pending: ["in_flight"],
  in_flight: ["pending", "failed", "success", "dead"],
  failed: ["in_flight"],
  success: [],
  dead: [],
};
const transitionsBy: Record<string, Partial<Record<State, readonly string[]>>> = {
  retry: { failed: ["pending"], success: ["pending"], dead: ["pending"] },
  discard: { pending: ["dead"], failed: ["dead"] },
  // fetches and settles at once
  done: { pending: ["success"], failed: ["success"] },
};

interface Snapshot {
  readonly deliveries: {
    id: Uuid;
    endpoint: Uuid;
    state: State;
    claimedBy: number | null;
    failures: number;
    dueIn: number | null;
    attempts: number;
  }[];
  readonly lanes: { id: Uuid; owner: number | null; readyIn: number | null; paused: boolean }[];
  readonly workers: number[];
  readonly attempts: { id: Uuid; numbers: number[]; ends: string[] }[];
  readonly events: Uuid[];
  readonly outbox: Uuid[];
}

export async function compare(model: Model, real: World, stepName: string): Promise<void> {
  const { rows } = await model.pool.query<{ snapshot: Snapshot }>(snapshotText);
  const { snapshot } = rows[0] as { snapshot: Snapshot };
  checkInvariants(snapshot);
  checkTransitions(snapshot, real, stepName);
  compareDeliveries(snapshot, model);
  const lanes = snapshot.lanes.map(({ id, owner, paused, readyIn }) => [
    id,
    { owner, isPaused: paused, isReady: readyIn !== null },
  ]);
  expect(Object.fromEntries(lanes)).toEqual(
    Object.fromEntries(
      [...model.lanes].map(([id, { owner, isPaused, readyMs }]) => [
        id,
        { owner, isPaused, isReady: readyMs !== null },
      ]),
    ),
  );
  for (const { id, readyIn } of snapshot.lanes) expectNear(readyIn, laneOf(model, id).readyMs, model);
  expect(new Set(snapshot.workers)).toEqual(new Set(model.leases.keys()));
  // rolled back means: never existed
  expect(new Set(snapshot.events)).toEqual(model.events);
  expect(new Set(snapshot.outbox)).toEqual(new Set(model.outbox.keys()));
}

/** What must be true of the tables by themselves, whatever the model thinks. */
function checkInvariants({ deliveries, lanes, workers, attempts }: Snapshot): void {
  expect(new Set(deliveries.map(({ id }) => id)).size, "in queue or history exactly once").toBe(
    deliveries.length,
  );
  const laneById = new Map(lanes.map((lane) => [lane.id, lane]));
  for (const lane of lanes) if (lane.owner !== null) expect(workers).toContain(lane.owner);
  for (const { endpoint, claimedBy, dueIn } of deliveries) {
    const lane = laneById.get(endpoint) as Snapshot["lanes"][number];
    if (claimedBy !== null) expect(claimedBy, "only the lane's owner holds its rows").toBe(lane.owner);
    if (dueIn === null || lane.owner !== null || lane.paused) continue;
    expect(lane.readyIn, "a row in a lane that nobody owns and nobody looks at").not.toBeNull();
    expect(lane.readyIn).toBeLessThanOrEqual(dueIn);
  }
  const counts = new Map(deliveries.map(({ id, attempts }) => [id, attempts]));
  for (const { id, numbers } of attempts)
    expect(numbers).toEqual(Array.from({ length: counts.get(id) ?? 0 }, (_, i) => i + 1));
}

function checkTransitions(snapshot: Snapshot, real: World, stepName: string): void {
  const more = transitionsBy[stepName.split(" ", 1)[0] as string] ?? {};
  const after = new Map(snapshot.deliveries.map(({ id, state }) => [id, state]));
  for (const [id, state] of after) {
    const from = real.before.get(id);
    if (from === state) continue;
    const allowed =
      from === undefined
        ? [...born, ...(stepName === "done" ? ["success"] : [])]
        : [...transitions[from], ...(more[from] ?? [])];
    expect(allowed, `${from ?? "nothing"} to ${state} by "${stepName}"`).toContain(state);
  }
  for (const id of real.before.keys()) expect(after.has(id), "a delivery is never lost").toBe(true);
  real.before = after;
}

function compareDeliveries(snapshot: Snapshot, model: Model): void {
  const ends = new Map(snapshot.attempts.map((row) => [row.id, row.ends]));
  const actual = snapshot.deliveries.map(({ id, endpoint, state, claimedBy, failures }) => [
    id,
    { endpoint, state, claimedBy, failures, attempts: ends.get(id) ?? [] },
  ]);
  const foretold = [...model.deliveries.values()].map(
    ({ id, endpoint, state, claimedBy, failures, attempts }) => [
      id,
      {
        endpoint,
        state,
        claimedBy,
        failures: state === "success" || state === "dead" ? 0 : failures,
        attempts,
      },
    ],
  );
  expect(Object.fromEntries(actual)).toEqual(Object.fromEntries(foretold));
  for (const { id, dueIn, claimedBy } of snapshot.deliveries)
    if (dueIn !== null && claimedBy === null)
      expectNear(dueIn, (model.deliveries.get(id) as Delivery).dueMs, model);
}

function expectNear(actualIn: number | null, foretoldMs: number | null, model: Model): void {
  if (actualIn === null || foretoldMs === null) return;
  expect(Math.abs(actualIn - (foretoldMs - model.nowMs))).toBeLessThan(driftMs);
}

const snapshotText = `
select json_build_object(
  'deliveries', coalesce((
    select json_agg(json_build_object(
      'id', d.id, 'endpoint', d.endpoint_id, 'state', d.state, 'attempts', d.attempts, 'claimedBy', q.claimed_by,
      'failures', coalesce(q.failures, 0),
      'dueIn', posthorn.epoch_ms(q.next_at) - posthorn.epoch_ms(posthorn.now())))
    from posthorn.delivery_states d
    left join posthorn.queue q on q.id = d.id), '[]'),
  'lanes', (
    select json_agg(json_build_object(
      'id', l.endpoint_id, 'owner', l.owner, 'paused', l.paused,
      'readyIn', posthorn.epoch_ms(l.ready_at) - posthorn.epoch_ms(posthorn.now())))
    from posthorn.lanes l),
  'workers', coalesce((select json_agg(w.id) from posthorn.workers w), '[]'),
  'attempts', coalesce((
    select json_agg(list)
    from (
      select a.delivery_id as id, json_agg(a.number order by a.number) as numbers,
        json_agg(coalesce(a.error, 'answered') || ' ' || a.worker || ' ' || a.trigger order by a.number) as ends
      from posthorn.attempts a
      group by a.delivery_id
    ) list), '[]'),
  'events', coalesce((select json_agg(e.id) from posthorn.events e), '[]'),
  'outbox', coalesce((select json_agg(o.event_id) from posthorn.outbox o), '[]')
) as snapshot
`;
