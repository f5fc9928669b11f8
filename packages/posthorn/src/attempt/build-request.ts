// A claimed delivery becomes exactly what goes over the wire: the bytes, and the headers that sign those bytes.
import { formatId, headerNames, isReservedHeader } from "@posthorn/wire";
import type { ClaimedDelivery, PreparedRequest, Target, TargetSecret } from "../model.ts";
import { buildNotification } from "./build-notification.ts";
import { contentOf } from "./content.ts";
import { signRequest } from "./sign.ts";

/** What differs from attempt to attempt. */
export interface Moment {
  readonly startedAt: Date;
  /** The attempt's place in a trace; undefined without one, and then there is no such header. */
  readonly traceparent?: string | undefined;
}

/**
 * Pure but for the cache of keys. With 1 KB of data and one secret: 8.9 µs with both default schemes, 5.8 µs with t-v1
 * alone, 43 µs with v1a alone (Node 20.20, one EPYC core).
 */
export function buildRequest(
  delivery: ClaimedDelivery,
  target: Target,
  { startedAt: now, traceparent }: Moment,
  userAgent: string,
): PreparedRequest {
  if (target.websub !== null) {
    const [secret = null] = validSecrets(target.secrets, now);
    return buildNotification(delivery, { target, websub: target.websub, secret, userAgent, traceparent });
  }
  const { event } = delivery;
  const names = headerNames(target.signature.headerPrefix);
  const { body, contentType, headers: attributes } = contentOf(event, target);
  const id = formatId("evt", event.id);
  const timestamp = String(Math.floor(now.getTime() / 1000));
  const headers: Record<string, string> = {
    "content-type": contentType as string,
    "user-agent": userAgent,
    [names.id]: id,
    [names.timestamp]: timestamp,
    [names.event]: event.type,
    [names.deliveryId]: formatId("dlv", delivery.id),
    [names.attempt]: String(delivery.attempts + 1),
  };
  if (contentType === undefined) delete headers["content-type"];
  // spread into the object above they would double the time that every request takes
  if (attributes !== undefined) Object.assign(headers, attributes);
  if (traceparent !== undefined) headers.traceparent = traceparent;
  signRequest(headers, target.signature, { id, timestamp, body }, validSecrets(target.secrets, now));
  addCustomHeaders(headers, target);
  return { tenant: target.tenant, url: target.url, headers, body, timeoutMs: target.timeoutMs };
}

/** Those not yet expired, the one that retires soonest first and the current one last. */
function validSecrets(secrets: readonly TargetSecret[], now: Date): string[] {
  const valid = secrets.filter(({ expiresAt }) => expiresAt === null || expiresAt > now);
  if (valid.length > 1) valid.sort((a, b) => retiresAt(a) - retiresAt(b));
  return valid.map(({ value }) => value);
}

function retiresAt({ expiresAt }: TargetSecret): number {
  return expiresAt === null ? Number.MAX_SAFE_INTEGER : expiresAt.getTime();
}

/** They were checked when they were saved, but the header prefix may have been changed since. */
function addCustomHeaders(headers: Record<string, string>, { headers: custom, signature }: Target): void {
  for (const name in custom) {
    const value = custom[name];
    if (value !== undefined && !isReservedHeader(name, signature.headerPrefix)) headers[name] = value;
  }
}
