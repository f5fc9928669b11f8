// Responds to a hub's verification of intent (WebSub §5.3) and to denials (§5.2). It confirms only what was requested.

import type { WebhookResponse } from "../model.ts";
import { jsonResponse } from "../respond.ts";
import type { SubscriptionHooks } from "./options.ts";
import type { SubscriptionStore } from "./subscription.ts";

/** A hub that did not get the response repeats its request; for this long it gets the same one. */
const GRACE_MS = 5 * 60_000;
const DAY_MS = 86_400_000;
/** For hubs that send no lease or zero. Perpetual leases are not allowed (§5.3). */
const DEFAULT_LEASE_MS = DAY_MS;
const MAX_LEASE_MS = 365 * DAY_MS;
/** The minimum interval of renewals, however short the lease is. */
const MIN_RENEWAL_MS = 30_000;
const MAX_RENEWAL_MS = 30 * DAY_MS;
const MAX_REASON_LENGTH = 1_000;

export const notRequested = jsonResponse(404, { error: "This was not requested." });

export async function verifyIntent(
  store: SubscriptionStore,
  hooks: SubscriptionHooks,
  id: string,
  query: URLSearchParams,
): Promise<WebhookResponse> {
  const mode = query.get("hub.mode");
  const topic = query.get("hub.topic");
  if (topic === null) return notRequested;
  if (mode === "denied") {
    const reason = (query.get("hub.reason") ?? "").slice(0, MAX_REASON_LENGTH);
    const denied = await store.deny(id, topic, reason);
    if (denied === null) return notRequested;
    hooks.onDenied(denied);
    return jsonResponse(200, { status: "denied" });
  }
  const challenge = query.get("hub.challenge");
  if (!challenge) return notRequested;
  if (mode === "unsubscribe") return (await store.end(id, topic)) ? echo(challenge) : notRequested;
  if (mode !== "subscribe") return notRequested;

  const leaseMs = readLease(query.get("hub.lease_seconds"));
  const options = { leaseMs, renewAfterMs: renewalOf(leaseMs), graceMs: GRACE_MS };
  const verified = await store.confirm(id, topic, options);
  if (verified === null) return notRequested;
  hooks.onVerified(verified);
  return echo(challenge);
}

export function readLease(seconds: string | null): number {
  const leaseMs = /^\d{1,15}$/.test(seconds ?? "") ? Number(seconds) * 1_000 : 0;
  return leaseMs === 0 ? DEFAULT_LEASE_MS : Math.min(leaseMs, MAX_LEASE_MS);
}

/** Leaves a third of the lease for hubs that are unavailable. */
function renewalOf(leaseMs: number): number {
  return Math.min(MAX_RENEWAL_MS, Math.max(MIN_RENEWAL_MS, (leaseMs * 2) / 3));
}

/** The text comes from the hub, so a browser must not interpret it. */
function echo(challenge: string): WebhookResponse {
  const headers = {
    "content-type": "text/plain; charset=utf-8",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
  };
  return { status: 200, headers, body: challenge };
}
