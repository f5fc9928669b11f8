// What a delivery waits for, until when, and what can be done about it.
import { formatId, type WaitReason } from "@posthorn/wire";
import type { Queryable } from "../../storage/database.ts";
import type { DeliveryRow } from "../../storage/queries/deliveries/read.ts";
import { type StoredWaitReason, type WaitRow, waitsOf } from "../../storage/queries/deliveries/waits.ts";
import { toDate } from "../page.ts";

export interface Wait {
  readonly reason: WaitReason;
  /** When the wait ends. Null if it is not known. Never in the past. */
  readonly until: Date | null;
  /** For `ordering`: the earlier delivery that has to end first. Null for other reasons, and if it has just ended. */
  readonly blockedBy: string | null;
  /** A sentence that says what ends the wait. */
  readonly remedy: string;
}

/** Returns false while delivery is off for the whole installation. */
export type IsSending = () => Promise<boolean>;

export const ALWAYS: IsSending = async () => true;

/** Reads what the rows wait for. A delivery that is due, being sent or finished waits for nothing. */
export async function readWaits(
  db: Queryable,
  deliveries: readonly DeliveryRow[],
  isSending: IsSending,
): Promise<(row: DeliveryRow) => Wait | null> {
  const unfinished = deliveries.filter(({ state }) => state !== "success" && state !== "dead");
  if (unfinished.length === 0) return () => null;
  // whatever else a delivery waits for, nothing is sent before this ends
  if (!(await isSending())) return ({ state }) => (state === "pending" || state === "failed" ? OFF : null);
  const found = await waitsOf(
    db,
    unfinished.map(({ id }) => id),
  );
  const waits = new Map(found.map((row) => [row.deliveryId, row]));
  return ({ id, state }) => {
    const wait = waits.get(id);
    return wait !== undefined && isOfState(wait, state) ? toWait(wait) : null;
  };
}

/** Returns false if an attempt has ended since the state was read. */
function isOfState({ reason }: WaitRow, state: DeliveryRow["state"]): boolean {
  if (state === "in_flight") return reason === "cap" || reason === "rate_limit";
  return state === "failed" || reason !== "retry_delay";
}

const OFF: Wait = {
  reason: "sending_off",
  until: null,
  blockedBy: null,
  remedy: "An operator has to turn delivery on.",
};

function toWait(row: WaitRow): Wait {
  const blockedBy = row.blockedBy === null ? null : formatId("dlv", row.blockedBy);
  return { reason: row.reason, until: toDate(row.untilMs), blockedBy, remedy: remedyOf(row, blockedBy) };
}

function remedyOf({ reason, untilMs }: WaitRow, blockedBy: string | null): string {
  if (blockedBy !== null)
    return `${blockedBy} of the same subject has to end first. If it is dead, retry or delete it.`;
  if (reason === "circuit" && untilMs === null)
    return "The endpoint is being probed. If the probe succeeds, the others follow. No action is needed.";
  if (reason === "rate_limit" && untilMs !== null)
    return "The receiver asked for a pause. No action is needed.";
  return REMEDIES[reason];
}

const REMEDIES: Readonly<Record<StoredWaitReason, string>> = {
  tenant_off: "Activate the tenant.",
  endpoint_disabled: "Enable the endpoint, and choose whether to deliver its backlog.",
  handshake: "The receiver has to agree to receive webhooks. The endpoint shows its last response.",
  ordering: "An earlier delivery of its subject has to end first.",
  retry_delay: "No action is needed. To send it now, retry it.",
  rate_limit: "If the receiver can handle more requests per second, raise the endpoint's rate limit.",
  circuit:
    "The endpoint failed too often. One delivery is sent as a probe; if it succeeds, the others follow. To probe now, retry a delivery.",
  cap: "The receiver has to respond faster, or the endpoint's max_in_flight has to be raised.",
};
