// Texts of notifications. Pure. Names, descriptions and URLs are a tenant's text: each is shortened to one line, so that it
// cannot imitate a line or a header of the mail.
import { STATUS_CODES } from "node:http";
import { formatId, parseUrl } from "@posthorn/wire";
import type { AttemptError } from "../model.ts";
import type { Notice } from "../storage/queries/notifications/notifications.ts";

export interface Mail {
  readonly subject: string;
  readonly text: string;
}

/** Upper bound of counting. */
export const MAX_COUNTED = 10_000;

/** `link` opens the portal or the dashboard; null if no URL is known. */
export function mailText(notice: Notice, link: string | null): Mail {
  const { tenant, tenantName, description } = notice;
  const { title, summary, advice } = texts(notice);
  const facts = [
    ["Endpoint", oneLine(withoutQuery(notice.url))],
    ["Description", oneLine(description ?? "")],
    ["Id", formatId("ep", notice.endpointId)],
    ["Tenant", tenantName === null ? tenant : `${tenant} (${oneLine(tenantName)})`],
    ...factsOf(notice),
  ];
  const lines = [
    ...summary,
    "",
    ...facts.filter(([, value]) => value !== "").map(([name, value]) => `${`${name}:`.padEnd(14)}${value}`),
    "",
    ...advice,
    ...(link === null ? [] : ["", `  ${link}`]),
    "",
  ];
  return { subject: `${title}: ${hostOf(notice.url)}`, text: lines.join("\n") };
}

export function alertText(notice: Notice, link: string | null): string {
  const id = formatId("ep", notice.endpointId);
  const facts = factsOf(notice).filter(([name, value]) => name !== "Since" && value !== "");
  const text = forSlack(
    `${texts(notice).title}: ${oneLine(withoutQuery(notice.url))} of tenant ${notice.tenant} (${id}), since ` +
      `${timeText(notice.sinceMs)}. ${facts.map(([name, value]) => `${name}: ${value}.`).join(" ")}`,
  );
  return link === null ? text : `${text} ${forSlack(link)}`;
}

function texts(notice: Notice) {
  switch (notice.kind) {
    case "disabled":
      return {
        title: "Webhook endpoint disabled",
        summary: [
          "A webhook endpoint was disabled. Nothing is sent to it until it is enabled. Its events are kept.",
        ],
        advice: [
          "What to do: make the endpoint return a 2xx status, then enable it and choose whether the backlog",
          "is delivered or discarded.",
        ],
      };
    case "circuit":
      return {
        title: "Webhook endpoint is failing",
        summary: [
          "Most attempts to deliver to a webhook endpoint fail, so its deliveries wait. An attempt is made from",
          "time to time. When it succeeds, the others follow.",
        ],
        advice: ["What to do: make the endpoint return a 2xx status. Nothing else is needed."],
      };
    case "dead":
      return {
        title: notice.count === 1 ? "Webhook delivery failed" : `${notice.count} webhook deliveries failed`,
        summary: [
          "Deliveries to a webhook endpoint failed for good and are not attempted again. They are kept as dead",
          "letters until they are retried or deleted. One that is retried and fails again is counted again.",
        ],
        advice: ["What to do: correct the cause, then retry or delete the dead letters."],
      };
  }
}

function factsOf({ kind, sinceMs, count, disabledReason, lastFailure, backlog }: Notice): [string, string][] {
  const last = lastFailure === null ? "" : failureText(lastFailure);
  const shown: Record<Notice["kind"], [string, string][]> = {
    disabled: [
      ["Since", timeText(sinceMs)],
      ["Reason", reasonText(disabledReason ?? "")],
      ["Last error", last],
      ["Backlog", deliveriesText(backlog)],
    ],
    circuit: [
      ["Since", timeText(sinceMs)],
      ["Last error", last],
      ["Backlog", deliveriesText(backlog)],
    ],
    dead: [
      ["Since", timeText(sinceMs)],
      ["Dead letters", String(count)],
      ["Last error", last],
    ],
  };
  return shown[kind];
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
  return parseUrl(url)?.host ?? "unknown";
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

function failureText({ statusCode, error }: NonNullable<Notice["lastFailure"]>): string {
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

function deliveriesText(backlog: number): string {
  if (backlog > MAX_COUNTED) return `more than ${MAX_COUNTED} deliveries`;
  return backlog === 1 ? "1 delivery" : `${backlog} deliveries`;
}

/** Slack interprets <…> as a link or a mention. */
function forSlack(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
