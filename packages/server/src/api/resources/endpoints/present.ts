import type { Endpoint, EndpointSecret } from "@posthorn/client";
import type { Posthorn, RetryPolicy } from "posthorn";
import type { Sent } from "../../implement.ts";

type GivenSecret = Awaited<ReturnType<Posthorn["endpoints"]["secrets"]>>[number];
type Given = Awaited<ReturnType<Posthorn["endpoints"]["get"]>>;

/** An endpoint as the API shows it: field by field, so that a new column never shows by accident. */
export function presentEndpoint(endpoint: Given): Sent<Endpoint> {
  return {
    id: endpoint.id,
    tenant: endpoint.tenant,
    url: endpoint.url,
    description: endpoint.description,
    events: endpoint.events,
    filter: endpoint.filter,
    is_active: endpoint.isActive,
    disabled_reason: endpoint.disabledReason,
    disabled_at: endpoint.disabledAt,
    format: endpoint.format,
    signature: { schemes: endpoint.signature.schemes, header_prefix: endpoint.signature.headerPrefix },
    headers: endpoint.headers,
    authorization: endpoint.authorization,
    handshake: endpoint.handshake && presentHandshake(endpoint.handshake),
    timeout_ms: endpoint.timeoutMs,
    max_in_flight: endpoint.maxInFlight,
    rate_limit: endpoint.rateLimit,
    ordering: endpoint.ordering,
    fifo_on_dead: endpoint.fifoOnDead,
    batch: {
      max_events: endpoint.batch.maxEvents,
      max_bytes: endpoint.batch.maxBytes,
      max_delay_ms: endpoint.batch.maxDelayMs,
    },
    retry_policy: presentRetryPolicy(endpoint.retryPolicy),
    retry_on: endpoint.retryOn,
    circuit: endpoint.circuit,
    health: {
      consecutive_failures: endpoint.health.consecutiveFailures,
      failing_since: endpoint.health.failingSince,
      last_error: endpoint.health.lastError,
      probe_at: endpoint.health.probeAt,
      throttled_until: endpoint.health.throttledUntil,
      last_day: endpoint.health.lastDay && presentLastDay(endpoint.health.lastDay),
    },
    websub: endpoint.websub && {
      topic: endpoint.websub.topic,
      lease_ends_at: endpoint.websub.leaseEndsAt,
    },
    created_at: endpoint.createdAt,
    updated_at: endpoint.updatedAt,
  };
}

function presentHandshake(handshake: NonNullable<Given["handshake"]>): Sent<Endpoint>["handshake"] {
  const { origin, rate, state, allowedRate, detail, askedAt, decidedAt } = handshake;
  return { origin, rate, state, allowed_rate: allowedRate, detail, asked_at: askedAt, decided_at: decidedAt };
}

function presentLastDay({
  success,
  failed,
  successShare,
  points,
}: NonNullable<Given["health"]["lastDay"]>): Sent<Endpoint>["health"]["last_day"] {
  return { success, failed, success_share: successShare, points };
}

/** For those who may not change it: what opens the receiver's door, in a header or in the URL's query, is not for everybody who looks. */
export function presentRedactedEndpoint(endpoint: Given): Sent<Endpoint> {
  const names = Object.keys(endpoint.headers);
  const headers = Object.fromEntries(names.map((name) => [name, REDACTED]));
  const shown = presentEndpoint(endpoint);
  const websub = endpoint.websub && {
    topic: withQueryMasked(endpoint.websub.topic),
    lease_ends_at: endpoint.websub.leaseEndsAt,
  };
  return { ...shown, url: withQueryMasked(endpoint.url), headers, websub };
}

const REDACTED = "[redacted]";

function withQueryMasked(url: string): string {
  const mark = url.indexOf("?");
  return mark === -1 ? url : `${url.slice(0, mark + 1)}${REDACTED}`;
}

export function presentSecret(secret: GivenSecret): Sent<EndpointSecret> {
  return {
    id: secret.id,
    is_current: secret.isCurrent,
    scheme: secret.scheme,
    created_at: secret.createdAt,
    expires_at: secret.expiresAt,
  };
}

/** Can be sent back as it is. */
function presentRetryPolicy(policy: RetryPolicy): Sent<Endpoint>["retry_policy"] {
  const limit = policy.maxAgeMs === undefined ? {} : { max_age_ms: policy.maxAgeMs };
  if (policy.kind === "gaps") return { kind: policy.kind, gaps_ms: [...policy.gapsMs], ...limit };
  const { kind, baseMs, capMs, maxAttempts } = policy;
  return { kind, base_ms: baseMs, cap_ms: capMs, max_attempts: maxAttempts, ...limit };
}
