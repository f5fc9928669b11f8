// Switching endpoints off and on. While one is off its lane is paused and everything for it is kept as owed; who
// switches it on again says what becomes of that.
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
  /** `deliver` what is owed (the default), or `discard` it: then it ends as dead, with the reason `discarded`. */
  readonly backlog?: "deliver" | "discard" | undefined;
}

export interface EndpointSwitchOptions extends Pick<Endpoints, "get" | "update"> {
  readonly db: Database;
  readonly changes: EndpointChanges;
  /** In the transaction that disables. */
  readonly announce: (tx: Queryable, disabled: EndpointRow) => Promise<void>;
  /** After its commit. */
  readonly onDisabled: () => void;
}

export type EndpointSwitch = Pick<Endpoints, "disable" | "enable" | "disableAfter">;

const BACKLOG = ["deliver", "discard"];
/** A lane's owner hears of a pause at once, and looks every second in any case. */
const letGoWithinMs = 3_000;
const lookEveryMs = 50;

export function createEndpointSwitch(options: EndpointSwitchOptions): EndpointSwitch {
  const { db, changes, get, update, announce, onDisabled } = options;
  return { disable, enable, disableAfter };

  async function disable(tenant: string, id: string): Promise<Endpoint> {
    return await update(tenant, id, { isActive: false });
  }

  async function enable(tenant: string, id: string, wish: EnableOptions = {}): Promise<Endpoint> {
    const backlog = readBacklog(wish);
    const current = await get(tenant, id);
    if (current.isActive) return current;
    // Before it is opened: of what is discarded nothing can be sent any more. What comes after it is a new event.
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
    // a subscriber that is gone subscribes anew if it comes back, and nobody else can enable it
    if (end === "ended") await cancelQueued(db, [endpointId]);
    return end !== null;
  }

  async function discard(endpointId: Uuid): Promise<void> {
    await untilLetGo(endpointId);
    while ((await enqueueWaiting(endpointId)) > 0);
    await cancelQueued(db, [endpointId], "discarded", { onlyWhilePaused: true });
  }

  /** What waits for a batch has no delivery yet that could be discarded. Of an open lane it is left alone. */
  async function enqueueWaiting(endpointId: Uuid): Promise<number> {
    return await db.transaction(async (tx) => {
      const lane = (await lockLanes(tx, [endpointId])).get(endpointId);
      if (lane === undefined || lane.closed === null) return 0;
      return await enqueuePendingEvents(tx, endpointId, lane.isOrdered);
    });
  }

  /** Right after a pause its lane's owner still holds deliveries it has not sent; it gives them back. */
  async function untilLetGo(endpointId: Uuid): Promise<void> {
    const deadline = performance.now() + letGoWithinMs;
    while ((await ownerOfLane(db, endpointId)) !== null && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
    }
  }
}

function readBacklog(wish: EnableOptions): string {
  refuseUnknown("Enabling has no option", wish, ["backlog"], "invalid_endpoint");
  const { backlog = "deliver" } = wish;
  if (BACKLOG.includes(backlog)) return backlog;
  const message =
    'backlog says what becomes of the deliveries that wait: "deliver" (unless told) or "discard".';
  throw new PosthornError("invalid_endpoint", message, { problems: [{ pointer: "/backlog", message }] });
}
