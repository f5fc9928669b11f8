// Texts about disabled endpoints. Pure. Names, descriptions and URLs are a tenant's text: each is shortened to one
// line, so that it cannot imitate a line or a header of the mail.
import { STATUS_CODES } from "node:http";
import { formatId } from "@posthorn/wire";
import type { AttemptError } from "../model.ts";
import type { DisabledEndpoint } from "../storage/queries/notifications.ts";

export interface Mail {
  readonly subject: string;
  readonly text: string;
}

/** Upper bound of counting. */
export const MAX_COUNTED = 10_000;

export function mailText(endpoint: DisabledEndpoint, publicUrl: string | null): Mail {
  const { tenant, tenantName, description, lastFailure, backlog } = endpoint;
  const id = formatId("ep", endpoint.endpointId);
  const facts = [
    ["Endpoint", oneLine(withoutQuery(endpoint.url))],
    ["Description", oneLine(description ?? "")],
    ["Id", id],
    ["Tenant", tenantName === null ? tenant : `${tenant} (${oneLine(tenantName)})`],
    ["Since", timeText(endpoint.disabledMs)],
    ["Reason", reasonText(endpoint.reason)],
    ["Last error", lastFailure === null ? "" : failureText(lastFailure)],
    ["Backlog", backlogText(backlog)],
  ];
  const lines = [
    "A webhook endpoint was disabled. Nothing is sent to it until it is enabled. Its events are kept.",
    "",
    ...facts.filter(([, value]) => value !== "").map(([name, value]) => `${`${name}:`.padEnd(13)}${value}`),
    "",
    "What to do: make the endpoint return a 2xx status, then enable it and choose whether the backlog",
    "is delivered or discarded:",
    "",
    `  POST ${publicUrl === null ? "" : publicUrl.replace(/\/$/, "")}/api/v1/tenants/${tenant}/endpoints/${id}/enable`,
    '  {"backlog": "deliver"} or {"backlog": "discard"}',
    "",
  ];
  return { subject: `Webhook endpoint disabled: ${hostOf(endpoint.url)}`, text: lines.join("\n") };
}

export function alertText(endpoint: DisabledEndpoint): string {
  const { tenant, lastFailure, backlog } = endpoint;
  const id = formatId("ep", endpoint.endpointId);
  const last = lastFailure === null ? "" : ` Last error: ${failureText(lastFailure)}.`;
  return forSlack(
    `Webhook endpoint disabled: ${oneLine(withoutQuery(endpoint.url))} of tenant ${tenant} (${id}), since ` +
      `${timeText(endpoint.disabledMs)}. ${reasonText(endpoint.reason)}.${last} Backlog: ${backlogText(backlog)}.`,
  );
}

/** The query often contains a token and does not help to identify the endpoint. */
export function withoutQuery(url: string): string {
  const mark = url.indexOf("?");
  return mark === -1 ? url : url.slice(0, mark);
}

const MAX_LINE_LENGTH = 200;

/** Replaces line breaks, control characters and bidirectional marks by a space. */
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

/** The host is the only part of the URL that is safe in a subject. */
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
  gone: "It returned 410 Gone, which asks to stop sending",
  failures: "Too many attempts in a row failed",
  no_success: "No attempt succeeded for days",
};

function failureText({ statusCode, error }: NonNullable<DisabledEndpoint["lastFailure"]>): string {
  if (statusCode !== null) return `it returned ${statusCode} ${STATUS_CODES[statusCode] ?? ""}`.trim();
  return error === null ? "unknown" : ERRORS[error];
}

const ERRORS: Readonly<Record<AttemptError, string>> = {
  timeout: "no response in time",
  dns_error: "its host name could not be resolved",
  connection_refused: "the connection was refused",
  connection_reset: "the connection was closed before a response",
  connection_error: "the connection failed",
  tls_error: "its certificate or TLS handshake was rejected",
  headers_too_large: "its response headers are too large",
  bad_response: "its response is not valid HTTP",
  blocked_address: "its address is not allowed",
  invalid_request: "its settings do not produce a valid request",
  not_signed: "its secret could not be read",
  lease_expired: "the subscription had ended",
  unknown: "the outcome of the last attempt is unknown",
};

function backlogText(backlog: number): string {
  if (backlog > MAX_COUNTED) return `more than ${MAX_COUNTED} deliveries`;
  return backlog === 1 ? "1 delivery" : `${backlog} deliveries`;
}

/** Slack interprets <…> as a link or a mention. */
function forSlack(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
