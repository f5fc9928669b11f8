// An endpoint as a terminal shows it: all that is set, and what can be given to set it again.
import type { Endpoint } from "@posthorn/client";
import { findScheme, headersAddedBy } from "@posthorn/wire";
import { type Column, facts } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { timeText } from "../terminal/text.ts";

export const endpointColumns: readonly Column<Endpoint>[] = [
  { title: "ID", value: ({ id }) => id },
  {
    title: "STATE",
    value: stateOf,
    tone: (endpoint) => (!endpoint.is_active ? "bad" : isWell(endpoint) ? "good" : "warning"),
  },
  { title: "URL", value: ({ url }) => url, canShrink: true },
  { title: "EVENTS", value: ({ events }) => events.join(" "), canShrink: true },
  { title: "DESCRIPTION", value: ({ description }) => description, canShrink: true },
];

export function endpointText(terminal: Terminal, endpoint: Endpoint): string {
  const { signature, health } = endpoint;
  return facts(terminal, [
    ["id", endpoint.id],
    ["tenant", endpoint.tenant],
    ["url", endpoint.url],
    ["state", stateOf(endpoint)],
    ...ifSet("disabled", endpoint.disabled_at, timeText),
    ...ifSet("topic", endpoint.websub?.topic ?? null, String),
    ...ifSet("subscribed until", endpoint.websub?.lease_ends_at ?? null, timeText),
    ["description", endpoint.description],
    ["events", endpoint.events.join(" ")],
    ["filter", endpoint.filter],
    ["headers", Object.keys(endpoint.headers).join(" ")],
    ...ifSet("authorization", endpoint.authorization?.type ?? null, (type) => `${type} token`),
    ...ifSet("handshake", endpoint.handshake?.state ?? null, (state) => handshakeText(endpoint, state)),
    ["format", endpoint.format],
    ...batchFacts(endpoint),
    ...signature.schemes.map((scheme, at): [string, unknown] => [
      at === 0 ? "signature" : "",
      signatureText(scheme, signature.header_prefix),
    ]),
    ...(signature.schemes.some(isByKeyPair)
      ? [["public keys", publicKeysPath(endpoint.id)] as [string, unknown]]
      : []),
    ["timeout", durationText(endpoint.timeout_ms)],
    ["in flight", `at most ${endpoint.max_in_flight}`],
    ["rate limit", endpoint.rate_limit === null ? "none" : `${endpoint.rate_limit} per second`],
    ["ordering", orderingText(endpoint)],
    ["retries", retryText(endpoint)],
    ["failures", health.consecutive_failures === 0 ? "none" : `${health.consecutive_failures} in a row`],
    ...ifSet("failing since", health.failing_since, timeText),
    ["last error", health.last_error],
    ...ifSet("next probe", health.probe_at, timeText),
    ...ifSet("throttled until", health.throttled_until, timeText),
    ["created", timeText(endpoint.created_at)],
    ["updated", timeText(endpoint.updated_at)],
  ]);
}

/** On the server; anybody may read them. */
export function publicKeysPath(endpoint: string): string {
  return `/.well-known/webhook-keys/${endpoint}`;
}

function isByKeyPair(scheme: string): boolean {
  return findScheme(scheme)?.key === "ed25519";
}

function isWell({ circuit, handshake }: Endpoint): boolean {
  return circuit === "closed" && (handshake === null || handshake.state === "granted");
}

function batchFacts({ format, batch }: Endpoint): [string, unknown][] {
  if (format !== "cloudevents-batch") return [];
  const { max_events, max_bytes, max_delay_ms } = batch;
  return [["batch", `${max_events} events, ${max_bytes} bytes or ${durationText(max_delay_ms)}`]];
}

function ifSet(name: string, value: string | null, text: (value: string) => string): [string, unknown][] {
  return value === null ? [] : [[name, text(value)]];
}

function signatureText(scheme: string, prefix: string): string {
  const headers = findScheme(scheme) === undefined ? [] : headersAddedBy(scheme, prefix);
  return headers.length === 0 ? scheme : `${scheme} (${headers.join(", ")})`;
}

function handshakeText({ handshake }: Endpoint, state: string): string {
  if (handshake?.detail) return `${state}. ${handshake.detail}`;
  const rate = handshake?.allowed_rate ?? null;
  return rate === null ? state : `${state}, at most ${rate} per minute`;
}

function stateOf({ is_active, disabled_reason, handshake, websub, circuit }: Endpoint): string {
  if (!is_active) return `disabled (${disabled_reason ?? "manual"})`;
  if (handshake !== null && handshake.state !== "granted") return `active, handshake ${handshake.state}`;
  if (websub !== null && circuit === "closed") return "active, by WebSub";
  return circuit === "closed" ? "active" : `active, circuit ${circuit}`;
}

function orderingText({ ordering, fifo_on_dead }: Endpoint): string {
  return ordering === "fifo" ? `fifo, a dead one: ${fifo_on_dead}` : ordering;
}

function retryText({ retry_policy: policy, retry_on }: Endpoint): string {
  const gaps = policy.gaps_ms?.map(durationText).join(",");
  const growth = `exponential from ${durationText(policy.base_ms)} to ${durationText(policy.cap_ms)}, ${policy.max_attempts} attempts`;
  const age = policy.max_age_ms === undefined ? "" : `, for ${durationText(policy.max_age_ms)} at most`;
  const failures = retry_on === "every" ? "every failure" : `${retry_on} failures`;
  return `${gaps ?? growth}${age}, after ${failures}`;
}

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
] as const;

/** `90s`, `5m`: as a retry policy is written. */
function durationText(ms: number | undefined): string {
  if (ms === undefined) return "–";
  const [unit, size] = UNITS.find(([, length]) => ms > 0 && ms % length === 0) ?? ["ms", 1];
  return `${ms / size}${unit}`;
}
