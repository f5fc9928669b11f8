// The transaction of every change to an endpoint. It locks the tenant, then the endpoint, then updates the lane; the lane's
// owner is notified after the commit. So publishers and workers always notice new settings.
import { parseId } from "@posthorn/wire";
import { PosthornError, problemAt } from "../../errors.ts";
import type { Uuid } from "../../model.ts";
import type { Database, Queryable } from "../../storage/database.ts";
import { type EndpointRow, findEndpoint, lockEndpoint } from "../../storage/queries/endpoints/read.ts";
import { syncLanes } from "../../storage/queries/endpoints/sync-lanes.ts";
import { incrementRoutingVersion, lockTenant } from "../../storage/queries/tenants.ts";
import { isTenantId, tenantNotFound } from "../tenants/tenants.ts";

export interface EndpointChange {
  readonly endpointId: Uuid;
  /** The worker that owns the lane. */
  readonly owner: number | null;
}

export type EndpointChanges = ReturnType<typeof createEndpointChanges>;

export function createEndpointChanges(
  db: Database,
  onChanged: ((change: EndpointChange) => void) | undefined,
) {
  return { change, changeOne };

  /** `work` returns the ids of the endpoints it changed. */
  async function change<Result>(
    tenant: string,
    work: (tx: Queryable) => Promise<{ readonly result: Result; readonly endpointIds: readonly Uuid[] }>,
  ): Promise<Result> {
    const done = await db.transaction(async (tx) => {
      if (!isTenantId(tenant) || (await lockTenant(tx, tenant)) === null) throw tenantNotFound(tenant);
      const { result, endpointIds } = await work(tx);
      if (endpointIds.length === 0) return { result, changed: [] };
      await incrementRoutingVersion(tx, tenant);
      const owners = await syncLanes(tx, endpointIds);
      return {
        result,
        changed: endpointIds.map((endpointId) => ({ endpointId, owner: owners.get(endpointId) ?? null })),
      };
    });
    for (const change of done.changed) onChanged?.(change);
    return done.result;
  }

  async function changeOne<Result>(
    tenant: string,
    id: string,
    work: (tx: Queryable, current: EndpointRow) => Promise<Result>,
  ): Promise<Result> {
    const uuid = parseId("ep", String(id));
    if (uuid === null || !isTenantId(tenant)) throw endpointNotFound(id);
    return await change(tenant, async (tx) => {
      const current = await lockEndpoint(tx, tenant, uuid);
      if (current === null) throw endpointNotFound(id);
      return { result: await work(tx, current), endpointIds: [uuid] };
    }).catch((error) => {
      // a tenant that does not exist has no endpoints either
      throw error instanceof PosthornError && error.code === "tenant_not_found"
        ? endpointNotFound(id)
        : error;
    });
  }
}

export async function knownEndpoint(db: Queryable, tenant: string, id: string): Promise<EndpointRow> {
  const uuid = parseId("ep", String(id));
  const row = uuid === null || !isTenantId(tenant) ? null : await findEndpoint(db, tenant, uuid);
  if (row === null) throw endpointNotFound(id);
  return row;
}

/** The subscriber would not learn of a change made here. */
export function refuseSubscription(
  { leaseEndsMs }: Pick<EndpointRow, "leaseEndsMs">,
  why = "which only its subscriber can change. It can be deleted.",
): void {
  if (leaseEndsMs === null) return;
  throw new PosthornError("endpoint_is_subscription", `This endpoint is a subscription, ${why}`);
}

/** The same message whether it never existed, belongs to another tenant, or was deleted. */
export function endpointNotFound(id: unknown): PosthornError {
  const shown = parseId("ep", String(id)) === null ? "with that id" : String(id);
  return new PosthornError(
    "endpoint_not_found",
    `There is no endpoint ${shown} in this tenant. List them to see their ids.`,
  );
}

export function invalidEndpoint(pointer: string, message: string): PosthornError {
  return problemAt("invalid_endpoint", pointer, message);
}
