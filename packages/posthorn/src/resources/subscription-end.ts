// The end of WebSub subscriptions, for whatever reason. The caller holds the tenant, has the change told to the lanes, and
// cancels what is owed after the commit.
import type { Queryable } from "../storage/database.ts";
import { markDeleted } from "../storage/queries/endpoints/write.ts";
import { deleteSecrets } from "../storage/queries/secrets/rotate.ts";
import { keepRequest } from "../storage/queries/websub/requests.ts";
import type { SubscriptionRow } from "../storage/queries/websub/subscriptions.ts";

export async function endSubscription(tx: Queryable, { id }: Pick<SubscriptionRow, "id">): Promise<void> {
  await markDeleted(tx, id);
  await deleteSecrets(tx, id);
}

/** The subscriber did not ask for it, and is told (REC 5.2). */
export async function revokeSubscription(
  tx: Queryable,
  subscription: SubscriptionRow,
  reason: string,
): Promise<void> {
  await endSubscription(tx, subscription);
  const { topic, callback, host, pairHex } = subscription;
  const pair = Buffer.from(pairHex, "hex");
  await keepRequest(tx, {
    mode: "denied",
    topic,
    callback,
    pair,
    host,
    leaseSeconds: null,
    secret: null,
    reason,
  });
}

export const NOT_OFFERED = "This topic is not offered here.";
