// Ends WebSub subscriptions; a tenant may have ten thousand. The caller locks the tenant, updates the lanes, and cancels the
// queued deliveries after the commit.
import type { Uuid } from "../../model.ts";
import type { Queryable } from "../../storage/database.ts";
import { markDeleted } from "../../storage/queries/endpoints/write.ts";
import { deleteSecrets } from "../../storage/queries/secrets/rotate.ts";
import { storeDenials } from "../../storage/queries/websub/requests.ts";

export async function endSubscriptions(tx: Queryable, endpointIds: readonly Uuid[]): Promise<void> {
  await markDeleted(tx, endpointIds);
  await deleteSecrets(tx, endpointIds);
}

/** Also stores a denial for each subscriber, who is notified of it (WebSub 5.2). */
export async function revokeSubscriptions(
  tx: Queryable,
  endpointIds: readonly Uuid[],
  reason: string,
): Promise<void> {
  await endSubscriptions(tx, endpointIds);
  await storeDenials(tx, endpointIds, reason);
}

export const NOT_OFFERED = "This topic is not offered here.";
