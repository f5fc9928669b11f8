// Disables and enables endpoints. The lane of a disabled endpoint is paused and keeps its backlog, which is delivered or
// discarded when the endpoint is enabled.
import { parseId } from "@posthorn/wire";
import { enqueuePendingEvents } from "../../batching/enqueue-pending-events.ts";
import type { DisableCause, Uuid } from "../../model.ts";
import type { Database, Queryable } from "../../storage/database.ts";
import { type EndpointRow, lockEndpoint, tenantOfEndpoint } from "../../storage/queries/endpoints/read.ts";
import { disableEndpoint, markDeleted } from "../../storage/queries/endpoints/write.ts";
import { lockLane } from "../../storage/queries/lanes/lock.ts";
import { ownerOfLane } from "../../storage/queries/lanes/read.ts";
import { cancelQueued } from "../../storage/queries/queue/cancel.ts";
import { oneOf, readFields } from "../read-fields.ts";
import type { EndpointChanges } from "./changes.ts";
import type { Endpoint, Endpoints } from "./endpoints.ts";

export interface EnableOptions {
  /** `deliver` (default) the backlog, or `discard` it: its deliveries become dead with the reason `discarded`. */
  readonly backlog?: "deliver" | "discard" | undefined;
}

interface EndpointSwitchOptions extends Pick<Endpoints, "get"> {
  readonly setActive: (tenant: string, id: string, isActive: boolean) => Promise<Endpoint>;
  readonly db: Database;
  readonly changes: EndpointChanges;
  /** Called in the transaction that disables. */
  readonly announce: (tx: Queryable, disabled: EndpointRow) => Promise<void>;
  /** Called after that transaction has committed. */
  readonly onDisabled: () => void;
}

const BACKLOG = { backlog: oneOf(["deliver", "discard"]) };
/** The lane's owner is notified of a pause, and polls every second in any case. */
const RELEASE_TIMEOUT_MS = 3_000;
const POLL_MS = 50;

export function createEndpointSwitch(options: EndpointSwitchOptions) {
  const { db, changes, get, setActive, announce, onDisabled } = options;
  return {
    disable: (tenant: string, id: string): Promise<Endpoint> => setActive(tenant, id, false),
    enable,
    disableAfter,
  };

  async function enable(tenant: string, id: string, enableOptions: EnableOptions = {}): Promise<Endpoint> {
    const { backlog } = readFields("invalid_endpoint", "Enabling has no option", enableOptions, BACKLOG);
    const current = await get(tenant, id);
    if (current.isActive) return current;
    // before the lane is opened, so that no discarded delivery can be sent
    if (backlog === "discard") await discard(parseId("ep", id) as Uuid);
    return await setActive(tenant, id, true);
  }

  async function disableAfter(
    endpointId: Uuid,
    cause: DisableCause,
    url: string | null = null,
  ): Promise<boolean> {
    const tenant = await tenantOfEndpoint(db, endpointId);
    if (tenant === null) return false;
    const end = await changes.change<"ended" | "disabled" | null>(tenant, async (tx) => {
      const current = await lockEndpoint(tx, tenant, endpointId);
      if (current === null || (url !== null && current.url !== url)) return { result: null, endpointIds: [] };
      if (current.leaseEndsMs !== null) {
        await markDeleted(tx, [endpointId]);
        return { result: "ended", endpointIds: [endpointId] };
      }
      const disabled = await disableEndpoint(tx, endpointId, cause);
      if (disabled === null) return { result: null, endpointIds: [] };
      await announce(tx, disabled);
      return { result: "disabled", endpointIds: [endpointId] };
    });
    if (end === "disabled") onDisabled();
    // only its subscriber could enable it, and would subscribe again
    if (end === "ended") await cancelQueued(db, [endpointId]);
    return end !== null;
  }

  async function discard(endpointId: Uuid): Promise<void> {
    await waitForRelease(endpointId);
    while ((await enqueueWaiting(endpointId)) > 0);
    await cancelQueued(db, [endpointId], "discarded", { onlyWhilePaused: true });
  }

  /** Creates the deliveries of events that wait for a batch, so that they can be discarded; not if the lane is active. */
  async function enqueueWaiting(endpointId: Uuid): Promise<number> {
    return await db.transaction(async (tx) => {
      const lane = await lockLane(tx, endpointId);
      if (lane === undefined || lane.pausedReason === null) return 0;
      return await enqueuePendingEvents(tx, endpointId, lane.isOrdered);
    });
  }

  /** Right after a pause the lane's owner still holds claimed deliveries; it releases them together with the lane. */
  async function waitForRelease(endpointId: Uuid): Promise<void> {
    const deadline = performance.now() + RELEASE_TIMEOUT_MS;
    while ((await ownerOfLane(db, endpointId)) !== null && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }
}
