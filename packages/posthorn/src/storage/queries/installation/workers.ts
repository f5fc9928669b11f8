// Lists the workers of the installation.
import { rows } from "../../query.ts";

export interface WorkerRow {
  readonly id: number;
  readonly name: string;
  readonly delivers: boolean;
  readonly leads: boolean;
  readonly startedMs: number;
  /** When its lease expires. */
  readonly untilMs: number;
  readonly isAlive: boolean;
  readonly utilisation: number;
}

/** Newest first. */
export const listWorkers = rows<WorkerRow, [limit: number]>("list workers")`
select
  w.id,
  w.name,
  w.delivers,
  exists (
    select
    from posthorn.leadership l
    where l.role = 'maintenance'
      and l.worker_id = w.id
      and l.expires_at > posthorn.now()
  ) as leads,
  posthorn.epoch_ms(w.started_at) as "startedMs",
  posthorn.epoch_ms(w.lease_expires_at) as "untilMs",
  w.lease_expires_at > posthorn.now() as "isAlive",
  w.utilisation::double precision as utilisation
from posthorn.workers w
order by w.id desc
limit $1::integer
`;
