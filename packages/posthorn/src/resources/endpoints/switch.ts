// Disables and enables endpoints. The lane of a disabled endpoint is paused and keeps its backlog, which is delivered or
// discarded when the endpoint is enabled.
import { parseId } from "@posthorn/wire";
import { enqueuePendingEvents } from "../../batching/enqueue-pending-events.ts";
import { refuseUnknown } from "../../did-you-mean.ts";
import { PosthornError } from "../../errors.ts";
import type { DisableCause, Uuid } from "../../model.ts";
import type { Database, Queryable } from "../../storage/database.ts";
import type { EndpointRow } from "../../storage/queries/endpoints/endpoint-row.ts";
import { tenantOfEndpoint } from "../../storage/queries/endpoints/read.ts";
import { disableEndpoint } from "../../storage/queries/endpoints/write.ts";
import { ownerOfLane } from "../../storage/queries/lanes/owner.ts";
import { cancelQueued } from "../../storage/queries/queue/cancel.ts";
import { lockLanes } from "../../storage/queries/queue/requeue-many.ts";
import { subscriptionOf } from "../../storage/queries/websub/subscriptions.ts";
import type { EndpointChanges } from "./changes.ts";
import type { Endpoint, Endpoints } from "./endpoints.ts";
import { endSubscriptions } from "./subscription-end.ts";

export interface EnableOptions {
  /** `deliver` (default) the backlog, or `discard` it: its deliveries become dead with the reason `discarded`. */
  readonly backlog?: "deliver" | "discard" | undefined;
}

export interface EndpointSwitchOptions extends Pick<Endpoints, "get" | "update"> {
  readonly db: Database;
  readonly changes: EndpointChanges;
  /** Called in the transaction that disables. */
  readonly announce: (tx: Queryable, disabled: EndpointRow) => Promise<void>;
  /** Called after that transaction has committed. */
  readonly onDisabled: () => void;
}

export type EndpointSwitch = Pick<Endpoints, "disable" | "enable" | "disableAfter">;

const BACKLOG = ["deliver", "discard"];
/** The lane's owner is notified of a pause, and polls every second in any case. */
const RELEASE_TIMEOUT_MS = 3_000;
const POLL_MS = 50;

export function createEndpointSwitch(options: EndpointSwitchOptions): EndpointSwitch {
  const { db, changes, get, update, announce, onDisabled } = options;
  return { disable, enable, disableAfter };

  async function disable(tenant: string, id: string): Promise<Endpoint> {
    return await update(tenant, id, { isActive: false });
  }

  async function enable(tenant: string, id: string, enableOptions: EnableOptions = {}): Promise<Endpoint> {
    const backlog = readBacklog(enableOptions);
    const current = await get(tenant, id);
    if (current.isActive) return current;
    // before the lane is opened, so that no discarded delivery can be sent
    if (backlog === "discard") await discard(parseId("ep", id) as Uuid);
    return await update(tenant, id, { isActive: true });
  }

  async function disableAfter(
    endpointId: Uuid,
    cause: DisableCause,
    url: string | null = null,
  ): Promise<boolean> {
    const tenant = await tenantOfEndpoint(db, endpointId);
    if (tenant === null) return false;
    const end = await changes.change(tenant, async (tx) => {
      const subscription = await subscriptionOf(tx, endpointId);
      if (subscription !== null) {
        const isMeant = url === null || subscription.callback === url;
        if (isMeant) await endSubscriptions(tx, [endpointId]);
        return { result: isMeant ? "ended" : null, endpointIds: isMeant ? [endpointId] : [] } as const;
      }
      const disabled = await disableEndpoint(tx, endpointId, cause, url);
      if (disabled !== null) await announce(tx, disabled);
      const isDisabled = disabled !== null;
      return { result: isDisabled ? "disabled" : null, endpointIds: isDisabled ? [endpointId] : [] } as const;
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

  /** Creates the deliveries of events that wait for a batch, so that they can be discarded; not if the lane is open. */
  async function enqueueWaiting(endpointId: Uuid): Promise<number> {
    return await db.transaction(async (tx) => {
      const lane = (await lockLanes(tx, [endpointId])).get(endpointId);
      if (lane === undefined || lane.closed === null) return 0;
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

function readBacklog(options: EnableOptions): string {
  refuseUnknown("Enabling has no option", options, ["backlog"], "invalid_endpoint");
  const { backlog = "deliver" } = options;
  if (BACKLOG.includes(backlog)) return backlog;
  const message = 'backlog must be "deliver" (the default) or "discard".';
  throw new PosthornError("invalid_endpoint", message, { problems: [{ pointer: "/backlog", message }] });
}
