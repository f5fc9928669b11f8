// Reads what deliveries wait for, as the view posthorn.waits decides.
import type { WaitReason } from "@posthorn/wire";
import type { Uuid } from "../../../model.ts";
import { rows } from "../../query.ts";

/** `sending_off` is not in the view: the mode of delivery is not in the database alone. */
export type StoredWaitReason = Exclude<WaitReason, "sending_off">;

export interface WaitRow {
  readonly deliveryId: Uuid;
  readonly reason: StoredWaitReason;
  /** Null if it is not known. */
  readonly untilMs: number | null;
  /** The earlier delivery that has to end first. Null for other reasons. */
  readonly blockedBy: Uuid | null;
}

/** Returns only deliveries that wait for something. */
export const waitsOf = rows<WaitRow, [deliveryIds: readonly Uuid[]]>("waits of deliveries")`
select w.delivery_id as "deliveryId", w.reason, posthorn.epoch_ms(w.until) as "untilMs",
  case when w.reason = 'ordering' then w.blocked_by end as "blockedBy"
from posthorn.waits w
where w.delivery_id = any ($1::uuid[])
  and w.reason is not null
`;
