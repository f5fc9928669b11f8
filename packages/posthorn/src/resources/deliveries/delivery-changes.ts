// Manual changes to one delivery: retry, cancel, delete.
import { parseId } from "@posthorn/wire";
import { PosthornError } from "../../errors.ts";
import type { Uuid } from "../../model.ts";
import type { Database } from "../../storage/database.ts";
import type { PausedReason } from "../../storage/queries/lanes/lock.ts";
import { cancelDelivery } from "../../storage/queries/queue/cancel.ts";
import { deleteDead } from "../../storage/queries/queue/delete-dead.ts";
import { requeueDelivery } from "../../storage/queries/queue/requeue.ts";
import { deliveryNotFound } from "./deliveries.ts";

/** With a tenant given, another tenant's delivery is not found. */
export interface Scope {
  readonly tenant?: string | undefined;
}

export interface DeliveryChanges {
  /**
   * Makes the delivery pending with a new budget of attempts. Throws, and changes nothing, if it is in flight or if nothing
   * may be sent: the endpoint is deleted, disabled or has not agreed, or the tenant is inactive.
   */
  retry(id: string, scope?: Scope): Promise<void>;
  /** Makes the delivery dead with the reason `cancelled`. Throws if it is in flight or has ended. */
  cancel(id: string, scope?: Scope): Promise<void>;
  /** Deletes a dead letter permanently. Throws if the delivery is in any other state. */
  delete(id: string, scope?: Scope): Promise<void>;
}

export interface DeliveryChangesOptions {
  readonly db: Database;
  /** Throws if there is no such delivery in the scope. */
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
  return {
    async retry(id, scope = {}) {
      const result = await requeueDelivery(db, await known(id, scope));
      if (result.kind === "not_found") throw deliveryNotFound(id);
      if (result.kind === "paused") throw pausedError(result.because, "retry the delivery");
      if (result.kind === "in_flight") throw inFlight(id);
      if (result.isProbe) onChanged(result.owner);
      else onQueued(result.endpointId, result.owner);
    },

    async cancel(id, scope = {}) {
      const result = await cancelDelivery(db, await known(id, scope));
      if (result.kind === "not_found") throw deliveryNotFound(id);
      if (result.kind === "in_flight") throw inFlight(id);
      if (result.kind !== "cancelled") {
        throw new PosthornError(
          "delivery_finished",
          `The delivery ${id} has already ended, so there is nothing to cancel.`,
        );
      }
      if (result.isOrdered) onChanged(result.owner);
    },

    async delete(id, scope = {}) {
      const { count, owners } = await deleteDead(db, [await known(id, scope)]);
      if (count === 0) {
        await find(id, scope);
        throw new PosthornError(
          "delivery_not_dead",
          `The delivery ${id} is not dead, and only dead deliveries can be deleted. Cancel it first, or wait until it ends.`,
        );
      }
      for (const owner of owners) onChanged(owner);
    },
  };

  async function known(id: string, scope: Scope): Promise<Uuid> {
    if (scope.tenant !== undefined) await find(id, scope);
    const uuid = parseId("dlv", String(id));
    if (uuid === null) throw deliveryNotFound(id);
    return uuid;
  }
}

export function pausedError(because: PausedReason, action: string): PosthornError {
  return new PosthornError(
    because,
    {
      endpoint_deleted: "The endpoint was deleted, so nothing is sent to it. Nothing was changed.",
      endpoint_disabled: `The endpoint is disabled; enable it first, then ${action}.`,
      endpoint_not_agreed: `The endpoint has not agreed to webhooks; see its handshake. Once it has, ${action}.`,
      tenant_inactive: `The endpoint's tenant is inactive; activate it first, then ${action}.`,
    }[because],
  );
}

function inFlight(id: string): PosthornError {
  return new PosthornError("delivery_in_flight", `The delivery ${id} is in flight. Try again in a moment.`);
}
