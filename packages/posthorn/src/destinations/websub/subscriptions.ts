// Creates, renews and ends subscriptions, each in one transaction with the end of its request. A request that was
// replaced by a newer one has no effect.
import { uuidv7 } from "@posthorn/wire";
import { reservedTenant } from "../../event/limits.ts";
import type { Uuid } from "../../model.ts";
import { createEndpointChanges } from "../../resources/endpoints/changes.ts";
import type { Queryable } from "../../storage/database.ts";
import { secretBinding } from "../../storage/key-ring.ts";
import { markDeleted } from "../../storage/queries/endpoints/write.ts";
import { deleteHealth } from "../../storage/queries/health/record.ts";
import { cancelQueued } from "../../storage/queries/queue/cancel.ts";
import { deleteSecrets, insertSecret } from "../../storage/queries/secrets.ts";
import { findTenant } from "../../storage/queries/tenants.ts";
import { prunePermits } from "../../storage/queries/websub/permits.ts";
import { type ClaimedRequest, endRequest, storeDenials } from "../../storage/queries/websub/requests.ts";
import {
  countSubscriptions,
  endedSubscriptions,
  findSubscription,
  insertSubscription,
  lockCounts,
  renewSubscription,
  subscriptionsOfTenant,
} from "../../storage/queries/websub/subscriptions.ts";
import { ensureExternalTenant, ensureTopic, pruneTopics } from "../../storage/queries/websub/topics.ts";
import type { SubscriptionKind } from "../destination.ts";
import { RENEWAL_GRACE_MS } from "./build-notification.ts";
import type { HubOptions } from "./hub.ts";
import { isOpenTopic, type Topic } from "./topics.ts";
import { domainOf, hostOf } from "./urls.ts";

const NOT_OFFERED = "This topic is not offered here.";

export const subscriptionKind: SubscriptionKind = {
  /** The subscribers are notified of the denial (REC 5.2). */
  onDeleted: (tx, endpointIds) => storeDenials(tx, endpointIds, NOT_OFFERED),
  async disallowed(tx, { id, websubTopics }) {
    const closed = (await subscriptionsOfTenant(tx, id)).filter(
      ({ eventType }) => !isOpenTopic(websubTopics ?? [], eventType),
    );
    return closed.map((subscription) => subscription.id);
  },
};

export type Subscriptions = ReturnType<typeof createSubscriptions>;

export function createSubscriptions({ db, keyRing, hub, nowMs, onChanged }: HubOptions) {
  const { change } = createEndpointChanges(db, onChanged);
  return { denialReason, exists, confirm, end, endExpired };

  /** Returns the reason if the hub refuses this subscription, otherwise null. */
  async function denialReason(topic: Topic | null, request: ClaimedRequest): Promise<string | null> {
    if (topic === null || !(await isOffered(db, topic))) return NOT_OFFERED;
    if (await exists(request)) return null;
    return (await hasQuotaFor(db, request.host))
      ? null
      : "This hub accepts no more subscriptions of this host.";
  }

  async function isOffered(tx: Queryable, topic: Topic): Promise<boolean> {
    if (topic.kind === "external") return true;
    const tenant = await findTenant(tx, topic.tenant);
    return tenant?.isActive === true && isOpenTopic(tenant.websubTopics ?? [], topic.type);
  }

  /**
   * Hosts with the same last two labels share a quota of half the free subscriptions, because the owner of a domain can
   * create any number of hosts. Half is also enough for shared domains such as co.uk and github.io.
   */
  async function hasQuotaFor(tx: Queryable, host: string): Promise<boolean> {
    const { perHost, perDomain, total } = await countSubscriptions(tx, host, domainOf(host));
    return perHost < hub.maxSubscriptionsPerHost && perDomain < hub.maxSubscriptions - total;
  }

  async function exists({ pairHex }: ClaimedRequest): Promise<boolean> {
    return (await findSubscription(db, Buffer.from(pairHex, "hex"))) !== null;
  }

  /** The callback has confirmed. Returns false if the request is no longer valid. */
  async function confirm(topic: Topic, request: ClaimedRequest, leaseSeconds: number): Promise<boolean> {
    if (topic.kind === "external") await ensureExternalTenant(db, reservedTenant, "External WebSub topics");
    return await change(topic.tenant, async (tx) => {
      const id = (await endRequest(tx, request.id)) ? await write(tx, topic, request, leaseSeconds) : null;
      return { result: id !== null, endpointIds: id === null ? [] : [id] };
    });
  }

  async function write(
    tx: Queryable,
    topic: Topic,
    request: ClaimedRequest,
    leaseSeconds: number,
  ): Promise<string | null> {
    // the topic was closed, or the quota used up, since the request
    if (!(await isOffered(tx, topic))) return null;
    const pair = Buffer.from(request.pairHex, "hex");
    const known = await findSubscription(tx, pair);
    const id = known?.id ?? uuidv7(nowMs());
    const { callback, host } = request;
    // the lease starts with the verification request (REC 5.3)
    const leaseEndsAt = new Date(request.claimedMs + leaseSeconds * 1_000);
    if (known === null) {
      await lockCounts(tx);
      if (!(await hasQuotaFor(tx, host))) return null;
      const { tenant, type: eventType, url, format } = topic;
      await insertSubscription(tx, {
        id,
        tenant,
        eventType,
        format,
        topic: url,
        callback,
        pair,
        host,
        leaseEndsAt,
      });
    } else {
      await renewSubscription(tx, { id, callback, topic: topic.url, leaseEndsAt });
      await deleteHealth(tx, id);
      await deleteSecrets(tx, [id]);
    }
    if (topic.kind === "external") await ensureTopic(tx, { ...topic, host: hostOf(topic.url) });
    await storeSecret(tx, id, request);
    return id;
  }

  /** Re-encrypts the secret, bound to its endpoint. */
  async function storeSecret(tx: Queryable, endpointId: string, request: ClaimedRequest): Promise<void> {
    const { keyId, ciphertextHex, pairHex } = request;
    if (keyId === null || ciphertextHex === null) return;
    const ciphertext = Buffer.from(ciphertextHex, "hex");
    const secret = keyRing.decrypt({ keyId, ciphertext }, requestBinding(pairHex));
    const id = uuidv7(nowMs());
    const encrypted = { id, ...keyRing.encrypt(secret, secretBinding(endpointId, id)) };
    await insertSecret(tx, endpointId, encrypted, { usedFor: null, overlapSeconds: null });
  }

  async function end(request: ClaimedRequest): Promise<void> {
    const pair = Buffer.from(request.pairHex, "hex");
    const found = await findSubscription(db, pair);
    if (found === null) {
      await endRequest(db, request.id);
      return;
    }
    await deleteSubscriptions(found.tenant, async (tx) => {
      const current = (await endRequest(tx, request.id)) ? await findSubscription(tx, pair) : null;
      return current === null ? [] : [current.id];
    });
  }

  async function endExpired(): Promise<void> {
    for (;;) {
      const expired = await endedSubscriptions(db, RENEWAL_GRACE_MS, BATCH_SIZE);
      for (const tenant of new Set(expired.map((row) => row.tenant)))
        await deleteSubscriptions(tenant, async (tx) => {
          // some may have been renewed meanwhile
          const still = new Set(
            (await endedSubscriptions(tx, RENEWAL_GRACE_MS, BATCH_SIZE)).map(({ id }) => id),
          );
          return expired.filter((row) => row.tenant === tenant && still.has(row.id)).map(({ id }) => id);
        });
      if (expired.length < BATCH_SIZE) break;
    }
    await pruneTopics(db, reservedTenant);
    await prunePermits(db);
  }

  async function deleteSubscriptions(
    tenant: string,
    choose: (tx: Queryable) => Promise<Uuid[]>,
  ): Promise<void> {
    const ids = await change(tenant, async (tx) => {
      const chosen = await choose(tx);
      await markDeleted(tx, chosen);
      return { result: chosen, endpointIds: chosen };
    });
    // after the commit, as for every deleted endpoint
    if (ids.length > 0) await cancelQueued(db, ids);
  }
}

const BATCH_SIZE = 500;

/** The encryption context of a request's secret. */
export function requestBinding(pairHex: string): string {
  return `websub_requests|${pairHex}`;
}
