// A tenant, its endpoints and workers in their own database, for tests of the statements of the queue.
import { uuidv7 } from "@posthorn/wire";
import type pg from "pg";
import { beforeAll } from "vitest";
import {
  type ClaimedDelivery,
  type Event,
  NO_PHASES,
  type Settlement,
  type Uuid,
} from "../../../packages/posthorn/src/model.ts";
import { Database } from "../../../packages/posthorn/src/storage/database.ts";
import { UNSET_SETTINGS } from "../../../packages/posthorn/src/storage/queries/endpoints/setting-columns.ts";
import { insertEndpoint } from "../../../packages/posthorn/src/storage/queries/endpoints/write.ts";
import { insertTenant } from "../../../packages/posthorn/src/storage/queries/tenants.ts";
import { installTestClock } from "../../../packages/posthorn/src/storage/queries/test-clock.ts";
import { registerWorker } from "../../../packages/posthorn/src/storage/queries/workers/register.ts";
import { createMigratedDatabase, createPool } from "./postgres.ts";

export const tenant = "acme";
export const leaseMs = 15_000;
export const minute = 60_000;
export const endpointSettings = { ...UNSET_SETTINGS, url: "https://receiver.example/", events: ["*"] };

/** Opens a migrated database with a test clock for all tests of a file. */
export function openQueue(): { readonly db: Database; readonly pool: pg.Pool } {
  const queue = {} as { db: Database; pool: pg.Pool };
  beforeAll(async () => {
    const database = await createMigratedDatabase();
    // durability is not tested here
    queue.pool = createPool(database.connectionString, { max: 8, options: "-c synchronous_commit=off" });
    queue.db = new Database({ database: queue.pool, schema: "posthorn" });
    await installTestClock(queue.db);
    return async () => {
      await queue.pool.end();
      await database.drop();
    };
  });
  return queue;
}

/** Deletes everything and creates the tenant. */
export async function startAnew({ db, pool }: ReturnType<typeof openQueue>): Promise<void> {
  for (const table of ["queue", "deliveries", "attempt_log", "events", "outbox", "idempotency_keys"])
    await pool.query(`delete from posthorn.${table}`);
  for (const table of ["workers", "endpoints", "subjects", "tenants"])
    await pool.query(`delete from posthorn.${table}`);
  await insertTenant(db, tenant);
}

export async function addEndpoint(
  db: Database,
  settings: Partial<typeof endpointSettings> = {},
): Promise<Uuid> {
  const id = uuidv7();
  await insertEndpoint(db, id, tenant, { ...endpointSettings, ...settings });
  return id;
}

/** Returns the worker's id. */
export async function addWorker(db: Database, lease = leaseMs): Promise<number> {
  const worker = { name: "worker", leaseMs: lease, holdsLivenessLock: false, delivers: true, socket: null };
  return (await registerWorker(db, worker)).id;
}

export function newEvent(subject: string | null = null, atMs = Date.now()): Event {
  return {
    id: uuidv7(atMs),
    tenant,
    type: "order.paid",
    apiVersion: "1",
    subject,
    sequence: null,
    payload: Buffer.from("{}"),
    createdAt: new Date(),
  };
}

export type End = "delivered" | "retry" | "long retry" | "dead";
export const retryDelays = { retry: minute, "long retry": 10 * minute };

export function toSettlement(delivery: ClaimedDelivery, end: End): Settlement {
  return {
    delivery,
    startedAt: new Date(),
    outcome: {
      kind: "responded",
      statusCode: end === "delivered" ? 200 : 500,
      responseBody: Buffer.from("body"),
      retryAfter: null,
      durationMs: 1,
      phases: NO_PHASES,
    },
    outcomeClass: end === "delivered" ? "delivered" : end === "dead" ? "permanent" : "transient",
    decision:
      end === "delivered"
        ? { kind: "delivered" }
        : end === "dead"
          ? { kind: "dead", reason: "rejected", disableEndpoint: false }
          : { kind: "retry", delayMs: retryDelays[end], isFailure: true },
  };
}
