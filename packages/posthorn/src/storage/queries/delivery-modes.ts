// The mode of delivery of the installation. The newest row is in effect.
import type { DeliveryMode } from "../../model.ts";
import type { Database, Queryable } from "../database.ts";
import { fields, firstRow, onlyRow, run } from "../query.ts";

export interface DeliveryModeRow {
  readonly version: number;
  /** Null: the start-up setting. */
  readonly mode: DeliveryMode | null;
  readonly sinceMs: number;
  readonly changedBy: string | null;
  readonly note: string | null;
  readonly dropped: number;
}

/** Columns of `posthorn.delivery_modes m`. */
const columns = `m.version, m.mode, posthorn.epoch_ms(m.since) as "sinceMs", m.changed_by as "changedBy", m.note,
  m.dropped::double precision as dropped`;

export const currentDeliveryMode = firstRow<DeliveryModeRow>("current delivery mode")`
select ${columns}
from posthorn.delivery_modes m
order by m.version desc
limit 1
`;

/** Returns the mode, which cannot change until the transaction ends. */
export async function keepDeliveryMode(tx: Queryable): Promise<DeliveryModeRow | null> {
  await lockAgainstChange(tx);
  return await currentDeliveryMode(tx);
}

export interface NewDeliveryMode {
  readonly mode: DeliveryMode | null;
  readonly changedBy: string | null;
  readonly note: string | null;
}

/** Waits until events that are being dropped are stored. */
export async function setDeliveryMode(db: Database, set: NewDeliveryMode): Promise<DeliveryModeRow> {
  return await db.transaction(async (tx) => {
    await lockToChange(tx);
    return await insert(tx, set);
  });
}

// the weakest two modes of which the second waits for the first, and not for readers
const lockAgainstChange = run("keep delivery mode")`lock table posthorn.delivery_modes in row share mode`;
const lockToChange = run("lock delivery mode")`lock table posthorn.delivery_modes in exclusive mode`;

const insert = onlyRow<DeliveryModeRow, [NewDeliveryMode]>(
  "set delivery mode",
  fields("mode", "changedBy", "note"),
)`
insert into posthorn.delivery_modes as m (mode, changed_by, note)
values ($1::text, $2::text, $3::text)
returning ${columns}
`;

/** Counts for the row that was in effect. If there is none yet, it creates one for the start-up setting. */
export const addDropped = run<[version: number, dropped: number]>("add dropped events")`
with counted as (
  update posthorn.delivery_modes m
  set dropped = m.dropped + $2::bigint
  where m.version = $1::integer
  returning 1
)
insert into posthorn.delivery_modes (dropped)
select $2::bigint
where not exists (select from counted)
  and $1::integer = 0
`;
