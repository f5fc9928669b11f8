// The backlog: unfinished deliveries by what they wait for. Bounded: see storage/queries/installation/backlog.ts.
import { WAIT_REASONS, type WaitReason } from "@posthorn/wire";
import type { InstallationGauges } from "../../observe/metrics.ts";
import type { Queryable } from "../../storage/database.ts";
import { type BacklogRow, backlogByWait } from "../../storage/queries/installation/backlog.ts";
import { COUNTED_AT_MOST } from "../../storage/queries/installation/gauges.ts";

/** `inFlight`, `due` and `waiting` add up to `count`, except for rounding. */
export interface Backlog {
  /** Unfinished deliveries. */
  readonly count: number;
  /** False: all numbers are estimates. */
  readonly isExact: boolean;
  /** Being sent. */
  readonly inFlight: number;
  /** Sent as soon as a worker has a free slot. */
  readonly due: number;
  /** Those that should have been sent, or their endpoint probed, more than a minute ago. */
  readonly overdue: number;
  readonly waiting: Readonly<Record<WaitReason, number>>;
  readonly oldestDueAgeSeconds: number;
}

export async function readBacklog(
  db: Queryable,
  gauges: InstallationGauges,
  isSending: boolean,
): Promise<Backlog> {
  const depth = gauges.webhook_queue_depth;
  const row = await backlogByWait(db, depth);
  const isExact = depth <= COUNTED_AT_MOST;
  const factor = isExact || row.read === 0 ? 1 : depth / row.read;
  const parts: Parts = isSending ? row : withoutSending(row);
  const scaled = (count: number) => Math.round(count * factor);
  const waiting = Object.fromEntries(
    WAIT_REASONS.map((reason) => [reason, scaled(parts.waiting[reason] ?? 0)]),
  ) as Record<WaitReason, number>;
  const due = scaled(parts.due);
  const count = Math.round(depth);
  const waitingInAll = Object.values(waiting).reduce((sum, each) => sum + each, 0);
  return {
    count,
    isExact,
    inFlight: Math.max(0, count - due - waitingInAll),
    due,
    overdue: scaled(parts.overdue),
    waiting,
    oldestDueAgeSeconds: isSending ? gauges.webhook_oldest_due_age_seconds : 0,
  };
}

type Parts = Pick<BacklogRow, "due" | "overdue"> & { readonly waiting: Partial<Record<WaitReason, number>> };

/** Whatever else deliveries wait for, nothing is sent before delivery is turned on. */
function withoutSending({ due, waiting }: BacklogRow): Parts {
  const all = Object.values(waiting).reduce((sum, count) => sum + count, due);
  return { due: 0, overdue: 0, waiting: { sending_off: all } };
}
