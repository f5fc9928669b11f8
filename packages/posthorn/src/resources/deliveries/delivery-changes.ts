// What a person does about one delivery: try it again, call it off, delete it.
import { parseId } from "@posthorn/wire";
import { PosthornError } from "../../errors.ts";
import type { Uuid } from "../../model.ts";
import type { Database } from "../../storage/database.ts";
import { cancelDelivery, deleteDead } from "../../storage/queries/queue/cancel-one.ts";
import { type ClosedLane, requeueDelivery } from "../../storage/queries/queue/requeue.ts";
import { deliveryNotFound } from "./deliveries.ts";

/** With a tenant given, another tenant's delivery is not found. */
export interface Scope {
  readonly tenant?: string | undefined;
}

export interface DeliveryChanges {
  /**
   * Pending at once with a fresh budget of attempts: the same path as an automatic retry. Refused, and nothing changed,
   * while it is in flight and where nothing may be sent: the endpoint deleted or disabled, the tenant inactive.
   */
  retry(id: string, scope?: Scope): Promise<void>;
  /** Dead at once, with the reason `cancelled`. Refused while it is in flight, and when it has ended. */
  cancel(id: string, scope?: Scope): Promise<void>;
  /** A dead letter, for good. Refused in any other state. */
  delete(id: string, scope?: Scope): Promise<void>;
}

export interface DeliveryChangesOptions {
  readonly db: Database;
  /** Throws when there is no such delivery in the scope. */
  readonly find: (id: string, scope?: Scope) => Promise<unknown>;
  readonly onQueued: (endpointId: Uuid, owner: number | null) => void;
  readonly onChanged: (owner: number | null) => void;
}

export function createDeliveryChanges({
  db,
  find,
  onQueued,
  onChanged,
}: DeliveryChangesOptions): DeliveryChanges {
  return { retry, cancel, delete: remove };

  async function retry(id: string, scope: Scope = {}): Promise<void> {
    const result = await requeueDelivery(db, await known(id, scope));
    if (result.kind === "not_found") throw deliveryNotFound(id);
    if (result.kind === "closed") throw closedError(result.because, "retry the delivery");
    if (result.kind === "in_flight") throw inFlight(id);
    if (result.isProbe) onChanged(result.owner);
    else onQueued(result.endpointId, result.owner);
  }

  async function cancel(id: string, scope: Scope = {}): Promise<void> {
    const result = await cancelDelivery(db, await known(id, scope));
    if (result.kind === "not_found") throw deliveryNotFound(id);
    if (result.kind === "in_flight") throw inFlight(id);
    if (result.kind !== "cancelled") {
      throw new PosthornError(
        "delivery_over",
        `The delivery ${id} has ended already, so there is nothing to cancel.`,
      );
    }
    if (result.isOrdered) onChanged(result.owner);
  }

  async function remove(id: string, scope: Scope = {}): Promise<void> {
    const result = await deleteDead(db, await known(id, scope));
    if (result.kind === "not_found") throw deliveryNotFound(id);
    if (result.kind !== "deleted") {
      throw new PosthornError(
        "delivery_not_dead",
        `The delivery ${id} is not dead, and only dead ones are deleted. Cancel it first, or let it end.`,
      );
    }
    if (result.isOrdered) onChanged(result.owner);
  }

  async function known(id: string, scope: Scope): Promise<Uuid> {
    if (scope.tenant !== undefined) await find(id, scope);
    const uuid = parseId("dlv", String(id));
    if (uuid === null) throw deliveryNotFound(id);
    return uuid;
  }
}

export function closedError(because: ClosedLane["because"], wish: string): PosthornError {
  return new PosthornError(
    because,
    {
      endpoint_deleted: "The endpoint was deleted, so nothing is sent to it any more; nothing was changed.",
      endpoint_disabled: `The endpoint is disabled; enable it first, then ${wish}.`,
      endpoint_not_agreed: `The endpoint has not agreed to webhooks; its handshake says why. Once it has, ${wish}.`,
      tenant_inactive: `The endpoint's tenant is inactive; make it active first, then ${wish}.`,
    }[because],
  );
}

function inFlight(id: string): PosthornError {
  return new PosthornError(
    "delivery_in_flight",
    `The delivery ${id} is being sent right now; look again in a moment.`,
  );
}
