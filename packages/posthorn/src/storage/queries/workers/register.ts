// Registers workers and renews their leases.
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

export async function registerWorker(
  db: Queryable,
  worker: {
    readonly name: string;
    readonly leaseMs: number;
    readonly holdsLivenessLock: boolean;
    readonly delivers: boolean;
  },
): Promise<{ readonly id: number; readonly nowMs: number }> {
  const [row] = await db.query<{ id: number; nowMs: number }>(registerStatement, [
    worker.name,
    worker.leaseMs,
    worker.holdsLivenessLock,
    worker.delivers,
  ]);
  return row as { id: number; nowMs: number };
}

const registerStatement = statement(
  "register worker",
  `
insert into posthorn.workers (name, lease_expires_at, holds_liveness_lock, delivers)
values ($1::text, posthorn.now() + $2::double precision * interval '1 millisecond', $3::boolean, $4::boolean)
returning id, posthorn.epoch_ms(posthorn.now()) as "nowMs"
`,
);

/** Returns the database's time, or null if this worker was reaped. */
export async function renewWorker(
  db: Queryable,
  workerId: number,
  leaseMs: number,
  utilisation: number,
): Promise<number | null> {
  const [row] = await db.query<{ now_ms: number }>(renewStatement, [workerId, leaseMs, utilisation]);
  return row?.now_ms ?? null;
}

const renewStatement = statement(
  "renew worker",
  `
update posthorn.workers
set lease_expires_at = posthorn.now() + $2::double precision * interval '1 millisecond',
  utilisation = $3::real
where id = $1::integer
returning posthorn.epoch_ms(posthorn.now()) as now_ms
`,
);

/**
 * Acquires the liveness lock on the worker's own connection. If another session can acquire it, the worker's session has
 * ended. The first half of the key is the schema, to separate installations in one database.
 */
export async function acquireLivenessLock(
  connection: Queryable,
  workerId: number,
  schema: string,
): Promise<boolean> {
  const [row] = await connection.query<{ acquired: boolean }>(livenessLockStatement, [schema, workerId]);
  return row?.acquired ?? false;
}

const livenessLockStatement = statement(
  "acquire liveness lock",
  "select pg_try_advisory_lock(hashtext('posthorn worker ' || $1::text), $2::integer) as acquired",
);

/**
 * Releases the locks of earlier ids. A reaped worker continues under a new id, and its old lock must not keep the old
 * one alive.
 */
export async function releaseLivenessLocks(connection: Queryable): Promise<void> {
  await connection.query(releaseLocksStatement);
}

const releaseLocksStatement = statement("release liveness locks", "select pg_advisory_unlock_all()::text");
