// Builds the request of a delivery: the body's bytes, and the headers that sign them.
import { formatId, headerNames, isReservedHeader } from "@posthorn/wire";
import { contentOf } from "../../formats/formats.ts";
import type { PreparedRequest, Target, TargetAuthorization } from "../../model.ts";
import type { AttemptMoment, SendableDelivery } from "../destination.ts";
import { AUTHORIZATION_HEADER, authorizationHeader, authorizedUrl } from "./authorize.ts";
import { signRequest, validSecrets } from "./sign.ts";
import { addCompanions, digestOf, type VendorStyle, vendorStyleOf } from "./vendor-style.ts";

export type WebhookTarget = Pick<
  Target,
  | "tenant"
  | "url"
  | "format"
  | "formatContext"
  | "signature"
  | "headers"
  | "secrets"
  | "authorization"
  | "timeoutMs"
>;

/**
 * Pure except for the cache of keys. With 1 KB of data and one secret: 6.8 µs with both default schemes, 4.6 µs with
 * t-v1 alone, 43 µs with v1a alone (Node 20.20, one EPYC core).
 */
export function buildRequest(
  delivery: SendableDelivery,
  target: WebhookTarget,
  { startedAt: now, traceparent }: AttemptMoment,
  userAgent: string,
): PreparedRequest {
  const { event } = delivery;
  const names = headerNames(target.signature.headerPrefix);
  const style = vendorStyleOf(target.signature);
  const { body, contentType, headers: attributes } = contentOf(event, target);
  const id = formatId("evt", event.id);
  const timestamp = String(Math.floor(now.getTime() / 1000));
  const headers: Record<string, string> = { "content-type": contentType as string, "user-agent": userAgent };
  if (style.hasOwnHeaders) {
    headers[names.id] = id;
    headers[names.timestamp] = timestamp;
    headers[names.event] = event.type;
    headers[names.deliveryId] = formatId("dlv", delivery.id);
    headers[names.attempt] = String(delivery.attempts + 1);
    if (event.editedFrom !== undefined) headers[names.editedFrom] = formatId("evt", event.editedFrom);
  }
  if (contentType === undefined) delete headers["content-type"];
  // spread into the object above, they would double the time of every request
  if (attributes !== undefined) Object.assign(headers, attributes);
  if (traceparent !== undefined) headers.traceparent = traceparent;
  const { authorization } = target;
  const place = authorization === null ? target.url : authorizedUrl(target.url, authorization);
  const url = style.urlToSend === undefined ? place : style.urlToSend(place, digestOf(body));
  const message = { id, timestamp, body, method: "POST", url };
  signRequest(headers, target.signature, message, validSecrets(target.secrets, now), now);
  if (style.companions.length > 0) addCompanions(headers, style, delivery, target.headers);
  const confidential = addCustomHeaders(headers, target, style);
  if (authorization !== null) addAuthorization(headers, authorization);
  const request: PreparedRequest = { tenant: target.tenant, url, headers, body, timeoutMs: target.timeoutMs };
  if (authorization !== null) confidential.push(authorization.token);
  for (const name of style.tokens) if (headers[name] !== undefined) confidential.push(headers[name]);
  return confidential.length === 0 ? request : { ...request, confidential };
}

/** Added last, replacing a custom header of that name. */
function addAuthorization(headers: Record<string, string>, authorization: TargetAuthorization): void {
  const [name, value] = authorizationHeader(authorization);
  for (const other of Object.keys(headers)) {
    if (other.toLowerCase() === AUTHORIZATION_HEADER[authorization.type]) delete headers[other];
  }
  headers[name] = value;
}

/**
 * They were validated when they were saved, but the header prefix may have changed since. Returns their values, which
 * readers of attempts may not see, and credentials without the scheme before them ("Bearer").
 */
function addCustomHeaders(
  headers: Record<string, string>,
  { headers: custom, signature }: WebhookTarget,
  { reserved }: VendorStyle,
): string[] {
  const values: string[] = [];
  for (const name in custom) {
    const value = custom[name];
    if (value === undefined || isReservedHeader(name, signature.headerPrefix)) continue;
    if (reserved.size > 0 && reserved.has(name.toLowerCase())) continue;
    headers[name] = value;
    const [, credentials] = value.split(" ", 2);
    values.push(value);
    if (credentials !== undefined) values.push(credentials);
  }
  return values;
}
