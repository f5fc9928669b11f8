// Races between statements, with a database whose replies the test controls.
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { gate } from "../../../../tests/support/gate.ts";
import type { Target } from "../model.ts";
import type { Observer } from "../observe/observer.ts";
import type { Database, Queryable } from "../storage/database.ts";
import type { Hints } from "./hints.ts";
import { LaneKeeper } from "./lane-keeper.ts";
import { Lanes } from "./lanes.ts";
import type { Lease } from "./lease.ts";
import { SharedLock } from "./shared-lock.ts";

test("a delivery that is recovered while its lane is being released is released too", async () => {
  const endpointId = randomUUID();
  const id = randomUUID();
  const locking = gate();
  const locked = gate([{ endpoint_id: endpointId }]);
  const releasedIds: unknown[] = [];
  const lanes = new Lanes({ concurrency: 10, clock: { now: () => -60_000, databaseMs: () => 0 } });
  const target = {
    endpointId,
    tenant: "acme",
    version: 1,
    maxInFlight: 5,
    maxInFlightBurst: 50,
    rateLimit: null,
  };
  const lane = lanes.open({ ...target, allowedPerMinute: null } as Target, null);
  const replies: Record<string, (values: readonly unknown[]) => unknown> = {
    "survey lanes": () => [
      {
        endpointId,
        targetVersion: 1,
        dueInMs: null,
        limitedBy: null,
        sending: null,
        inFlightLimit: null,
        probeAtMs: null,
      },
    ],
    "lock lanes to release": () => {
      locking.open();
      return locked.opened;
    },
    "recover claimed": () => [
      { id, event_id: id, endpoint_id: endpointId, payload: Buffer.alloc(1), is_ordered: false },
    ],
    "release deliveries": ([, ids]) => releasedIds.push(ids),
  };
  const db: Queryable = {
    query: async <Row>({ name }: { name: string }, values: readonly unknown[] = []) =>
      ((await replies[name]?.(values)) ?? []) as Row[],
  };
  const keeper = new LaneKeeper({
    db: { ...db, transaction: (work: (tx: Queryable) => unknown) => work(db) } as unknown as Database,
    lanes,
    lease: { workerId: 1, others: 1, takeLanesToYield: () => 0 } as unknown as Lease,
    hints: {} as Hints,
    claims: new SharedLock(),
    observer: {} as Observer,
    addQueueRows: async () => {},
    onRecovered: () => {},
    targets: { byIds: async () => new Map() },
  });

  const surveyed = keeper.survey();
  await locking.opened;
  await keeper.reconcile();
  locked.open();
  await surveyed;
  expect(lane.state).toBe("closed");
  expect(lanes.isIdle).toBe(true);
  expect(releasedIds).toEqual([[id]]);
});
