// Creates, renews and ends subscriptions, each in one transaction with the end of its request. A request that was
// replaced by a newer one has no effect.
import { uuidv7 } from "@posthorn/wire";
import { hubTenant } from "../../event/limits.ts";
import { createEndpointChanges, type EndpointChange } from "../../resources/endpoints/changes.ts";
import { endSubscriptions } from "../../resources/endpoints/subscription-end.ts";
import { isOpenTopic } from "../../resources/tenants/tenants.ts";
import type { Database, Queryable } from "../../storage/database.ts";
import { type KeyRing, secretBinding } from "../../storage/key-ring.ts";
import { deleteHealth } from "../../storage/queries/health/record.ts";
import { cancelQueued } from "../../storage/queries/queue/cancel.ts";
import { deleteSecrets, insertSecret } from "../../storage/queries/secrets/rotate.ts";
import { findTenant } from "../../storage/queries/tenants/read.ts";
import { prunePermits } from "../../storage/queries/websub/permits.ts";
import { type ClaimedRequest, endRequest } from "../../storage/queries/websub/requests.ts";
import {
  countSubscriptions,
  endedSubscriptions,
  findSubscription,
  insertSubscription,
  lockCounts,
  renewSubscription,
  type SubscriptionRow,
} from "../../storage/queries/websub/subscriptions.ts";
import { ensureExternalTenant, ensureTopic, pruneTopics } from "../../storage/queries/websub/topics.ts";
import { RENEWAL_GRACE_MS } from "./build-notification.ts";
import type { HubConfig } from "./options.ts";
import { hasQuotaLeft } from "./subscription-quota.ts";
import type { Topic } from "./topics.ts";
import { familyOf, hostOf } from "./urls.ts";

export interface SubscriptionsOptions {
  readonly db: Database;
  readonly keyRing: KeyRing;
  readonly hub: HubConfig;
  /** Returns the database's time. */
  readonly nowMs: () => number;
  readonly onChanged: (change: EndpointChange) => void;
}

export interface Subscriptions {
  /** Returns the reason if the hub refuses this subscription, otherwise null. */
  objection(topic: Topic | null, request: ClaimedRequest): Promise<string | null>;
  exists(request: ClaimedRequest): Promise<boolean>;
  /** The callback has confirmed. Returns false if the request is no longer valid. */
  confirm(topic: Topic, request: ClaimedRequest, leaseSeconds: number): Promise<boolean>;
  end(request: ClaimedRequest): Promise<void>;
  /** Deletes subscriptions whose leases have ended. */
  endLapsed(): Promise<void>;
}

export function createSubscriptions({
  db,
  keyRing,
  hub,
  nowMs,
  onChanged,
}: SubscriptionsOptions): Subscriptions {
  const { change } = createEndpointChanges(db, onChanged);
  return { objection, exists, confirm, end, endLapsed };

  async function objection(topic: Topic | null, request: ClaimedRequest): Promise<string | null> {
    if (topic === null || !(await isOffered(db, topic))) return "This topic is not offered here.";
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

  async function hasQuotaFor(tx: Queryable, host: string): Promise<boolean> {
    return hasQuotaLeft(await countSubscriptions(tx, host, familyOf(host)), hub);
  }

  async function exists({ pairHex }: ClaimedRequest): Promise<boolean> {
    return (await findSubscription(db, Buffer.from(pairHex, "hex"))) !== null;
  }

  async function confirm(topic: Topic, request: ClaimedRequest, leaseSeconds: number): Promise<boolean> {
    if (topic.kind === "external") await ensureExternalTenant(db, hubTenant, "Topics followed by WebSub");
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
    await keepSecret(tx, id, request);
    return id;
  }

  /** Re-encrypts the secret, bound to its endpoint. */
  async function keepSecret(tx: Queryable, endpointId: string, request: ClaimedRequest): Promise<void> {
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
    const isEnded = await change(found.tenant, async (tx) => {
      const current = (await endRequest(tx, request.id)) ? await findSubscription(tx, pair) : null;
      if (current !== null) await endSubscriptions(tx, [current.id]);
      return { result: current !== null, endpointIds: current === null ? [] : [current.id] };
    });
    // after the commit, as for every deleted endpoint
    if (isEnded) await cancelQueued(db, [found.id]);
  }

  async function endLapsed(): Promise<void> {
    for (;;) {
      const lapsed = await endedSubscriptions(db, RENEWAL_GRACE_MS, STEP);
      const tenants = new Set(lapsed.map(({ tenant }) => tenant));
      for (const tenant of tenants)
        await endThose(
          tenant,
          lapsed.filter((row) => row.tenant === tenant),
        );
      if (lapsed.length < STEP) break;
    }
    await pruneTopics(db, hubTenant);
    await prunePermits(db);
  }

  /** Skips those that were renewed meanwhile. */
  async function endThose(tenant: string, rows: readonly SubscriptionRow[]): Promise<void> {
    const ids = await change(tenant, async (tx) => {
      const still = new Set((await endedSubscriptions(tx, RENEWAL_GRACE_MS, STEP)).map(({ id }) => id));
      const endedIds = rows.map(({ id }) => id).filter((id) => still.has(id));
      await endSubscriptions(tx, endedIds);
      return { result: endedIds, endpointIds: endedIds };
    });
    if (ids.length > 0) await cancelQueued(db, ids);
  }
}

const STEP = 500;

/** The encryption context of a request's secret. */
export function requestBinding(pairHex: string): string {
  return `websub_requests|${pairHex}`;
}
