// Limits the hub's requests per minute across all processes.
import type { Queryable } from "../../database.ts";
import { firstRow, hasRow, run } from "../../query.ts";

export type Permit =
  | { readonly isAcquired: true }
  /** How long to wait, and until when in the database's time. */
  | { readonly isAcquired: false; readonly waitMs: number; readonly untilMs: number };

export async function acquirePermit(db: Queryable, name: string, perMinute: number): Promise<Permit> {
  if (await take(db, name, perMinute)) return { isAcquired: true };
  const window = await readWindow(db, name);
  return { isAcquired: false, waitMs: Math.max(window?.waitMs ?? 0, 0), untilMs: window?.untilMs ?? 0 };
}

const take = hasRow<[name: string, perMinute: number]>("acquire websub permit")`
insert into posthorn.websub_rate_limits as p (name, window_ends_at, used)
values ($1::text, posthorn.now() + interval '1 minute', 1)
on conflict (name) do update
set used = case when p.window_ends_at <= posthorn.now() then 1 else p.used + 1 end,
  window_ends_at = case
    when p.window_ends_at <= posthorn.now() then posthorn.now() + interval '1 minute'
    else p.window_ends_at
  end
where p.window_ends_at <= posthorn.now()
  or p.used < $2::integer
returning p.used
`;

const readWindow = firstRow<{ waitMs: number; untilMs: number }, [name: string]>("websub permit wait")`
select
  posthorn.epoch_ms(p.window_ends_at) - posthorn.epoch_ms(posthorn.now()) as "waitMs",
  ceil(posthorn.epoch_ms(p.window_ends_at)) as "untilMs"
from posthorn.websub_rate_limits p
where p.name = $1::text
`;

/** Deletes expired windows. */
export const prunePermits = run(
  "prune websub permits",
)`delete from posthorn.websub_rate_limits where window_ends_at < posthorn.now() - interval '1 minute'`;
