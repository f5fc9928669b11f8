// A worker's life in the database: registered, renewed every second, in the end buried.
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

/** The database's time, or null when this worker has been buried. */
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
 * Held on the worker's own connection for as long as it lives: when somebody else can take it, the session is gone.
 * The first half of the key is the schema, so that two installations in one database do not meet.
 */
export async function acquireLivenessLock(
  connection: Queryable,
  workerId: number,
  schema: string,
): Promise<boolean> {
  const [row] = await connection.query<{ taken: boolean }>(lifeLockStatement, [schema, workerId]);
  return row?.taken ?? false;
}

const lifeLockStatement = statement(
  "take life lock",
  "select pg_try_advisory_lock(hashtext('posthorn worker ' || $1::text), $2::integer) as taken",
);

/** A worker that was buried goes on under a new id; the old lock must not say that the old one lives. */
export async function releaseLivenessLocks(connection: Queryable): Promise<void> {
  await connection.query(dropLifeLocksStatement);
}

const dropLifeLocksStatement = statement("drop life locks", "select pg_advisory_unlock_all()::text");
