// What people read when an endpoint was disabled. Pure. Names, descriptions and URLs are a tenant's own text: each comes
// as one line of bounded length, so that none can pass for a line of ours, let alone for a header.
import { STATUS_CODES } from "node:http";
import { formatId } from "@posthorn/wire";
import type { AttemptError } from "../model.ts";
import type { DisabledEndpoint } from "../storage/queries/notifications/describe.ts";

export interface Mail {
  readonly subject: string;
  readonly text: string;
}

/** More are not counted. */
export const MAX_COUNTED = 10_000;

export function mailText(endpoint: DisabledEndpoint, publicUrl: string | null): Mail {
  const { tenant, tenantName, description, lastFailure, owed } = endpoint;
  const id = formatId("ep", endpoint.endpointId);
  const facts = [
    ["Endpoint", oneLine(withoutQuery(endpoint.url))],
    ["Description", oneLine(description ?? "")],
    ["Id", id],
    ["Tenant", tenantName === null ? tenant : `${tenant} (${oneLine(tenantName)})`],
    ["Since", timeText(endpoint.disabledMs)],
    ["Why", reasonText(endpoint.reason)],
    ["Last error", lastFailure === null ? "" : failureText(lastFailure)],
    ["Waiting", owedText(owed)],
  ];
  const lines = [
    "A webhook endpoint was disabled, so nothing is sent to it any more. Events for it are kept.",
    "",
    ...facts.filter(([, value]) => value !== "").map(([name, value]) => `${`${name}:`.padEnd(13)}${value}`),
    "",
    "What to do: see that the endpoint answers with a 2xx status, then enable it and choose whether what waits",
    "is delivered or discarded:",
    "",
    `  POST ${publicUrl === null ? "" : withoutSlash(publicUrl)}/api/v1/tenants/${tenant}/endpoints/${id}/enable`,
    '  {"backlog": "deliver"} or {"backlog": "discard"}',
    "",
  ];
  return { subject: `Webhook endpoint disabled: ${hostOf(endpoint.url)}`, text: lines.join("\n") };
}

function withoutSlash(url: string): string {
  return url.endsWith("/") ? url.slice(0, -1) : url;
}

export function alertText(endpoint: DisabledEndpoint): string {
  const { tenant, lastFailure, owed } = endpoint;
  const id = formatId("ep", endpoint.endpointId);
  const last = lastFailure === null ? "" : ` Last error: ${failureText(lastFailure)}.`;
  return forSlack(
    `Webhook endpoint disabled: ${oneLine(withoutQuery(endpoint.url))} of tenant ${tenant} (${id}), since ` +
      `${timeText(endpoint.disabledMs)}. ${reasonText(endpoint.reason)}.${last} Waiting: ${owedText(owed)}.`,
  );
}

/** The query often holds a token, and tells nobody which endpoint it is. */
export function withoutQuery(url: string): string {
  const mark = url.indexOf("?");
  return mark === -1 ? url : url.slice(0, mark);
}

const MAX_LINE_LENGTH = 200;

/** Line breaks of every kind, other controls and the marks that turn the direction of writing become a space. */
export function oneLine(text: string): string {
  const line = text
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu, " ")
    .replace(/\s+/gu, " ")
    .trim();
  const characters = [...line];
  return characters.length <= MAX_LINE_LENGTH
    ? line
    : `${characters.slice(0, MAX_LINE_LENGTH - 1).join("")}…`;
}

/** A host is what is left of a URL that can stand in a subject: letters, digits, dots, hyphens, a port. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "unknown";
}

function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

function reasonText(reason: string): string {
  return REASONS[reason] ?? oneLine(reason);
}

const REASONS: Readonly<Record<string, string | undefined>> = {
  gone: "It answered 410 Gone, which asks never to be called again",
  failures: "Too many attempts in a row failed",
  no_success: "No attempt succeeded for days",
};

function failureText({ statusCode, error }: NonNullable<DisabledEndpoint["lastFailure"]>): string {
  if (statusCode !== null) return `it answered ${statusCode} ${STATUS_CODES[statusCode] ?? ""}`.trim();
  return error === null ? "unknown" : ERRORS[error];
}

const ERRORS: Readonly<Record<AttemptError, string>> = {
  timeout: "no answer in time",
  dns_error: "its host name could not be resolved",
  connection_refused: "the connection was refused",
  connection_reset: "the connection was closed before an answer",
  connection_error: "no connection could be made",
  tls_error: "its certificate or TLS was not accepted",
  headers_too_large: "its answer has too many headers",
  bad_response: "what came back is not an HTTP answer",
  blocked_address: "its address is not allowed",
  invalid_request: "its settings make no valid request",
  not_signed: "its secret could not be read",
  lease_ended: "the subscription had ended",
  unknown: "nobody knows how the last attempt ended",
};

function owedText(owed: number): string {
  if (owed > MAX_COUNTED) return `more than ${MAX_COUNTED} deliveries`;
  return owed === 1 ? "1 delivery" : `${owed} deliveries`;
}

/** Slack reads <…> as a link or as a call to everybody in the channel. */
function forSlack(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
