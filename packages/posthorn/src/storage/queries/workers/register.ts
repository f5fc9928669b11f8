// Registers workers and renews their leases.
import type { Uuid } from "../../../model.ts";
import { fields, onlyRow, run, value } from "../../query.ts";

export interface NewWorker {
  readonly name: string;
  readonly leaseMs: number;
  readonly holdsLivenessLock: boolean;
  readonly delivers: boolean;
  /** The Unix socket on which it receives deliveries of other processes. */
  readonly socket: string | null;
}

export const registerWorker = onlyRow<{ readonly id: number; readonly nowMs: number }, [worker: NewWorker]>(
  "register worker",
  fields("name", "leaseMs", "holdsLivenessLock", "delivers", "socket"),
)`
insert into posthorn.workers (name, lease_expires_at, holds_liveness_lock, delivers, socket)
values ($1::text, posthorn.now() + $2::double precision * interval '1 millisecond', $3::boolean, $4::boolean, $5::text)
returning id, posthorn.epoch_ms(posthorn.now()) as "nowMs"
`;

/** Returns the database's time, or null if this worker was reaped. */
export const renewWorker = value<
  number | null,
  [workerId: number, leaseMs: number, utilisation: number, lanes: number, claimsSince: Uuid]
>("renew worker")`
update posthorn.workers
set lease_expires_at = posthorn.now() + $2::double precision * interval '1 millisecond',
  utilisation = $3::real,
  lanes = $4::integer,
  claims_since = greatest(claims_since, $5::uuid)
where id = $1::integer
returning posthorn.epoch_ms(posthorn.now())
`;

/**
 * Acquires the liveness lock on the worker's own connection. If another session can acquire it, the worker's session has
 * ended. The first half of the key is the schema, to separate installations in one database.
 */
export const acquireLivenessLock = value<boolean, [workerId: number, schema: string]>(
  "acquire liveness lock",
  (workerId, schema) => [schema, workerId],
)`select pg_try_advisory_lock(hashtext('posthorn worker ' || $1::text), $2::integer) as acquired`;

/**
 * Releases the locks of earlier ids. A reaped worker continues under a new id, and its old lock must not keep the old
 * one alive.
 */
export const releaseLivenessLocks = run("release liveness locks")`select pg_advisory_unlock_all()::text`;
