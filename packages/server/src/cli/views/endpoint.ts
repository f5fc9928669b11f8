// An endpoint as the terminal shows it.
import type { Endpoint } from "@posthorn/client";
import {
  durationText,
  findScheme,
  headersAddedBy,
  SETTING_NAMES,
  type SettingName,
  scheduleText,
  snakeCase,
} from "@posthorn/wire";
import { type Column, facts } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { timeText } from "../terminal/text.ts";

export const endpointColumns: readonly Column<Endpoint>[] = [
  { title: "ID", value: ({ id }) => id },
  {
    title: "STATE",
    value: stateOf,
    tone: (endpoint) => (!endpoint.is_active ? "bad" : isHealthy(endpoint) ? "good" : "warning"),
  },
  { title: "NAME", value: ({ name }) => name, canShrink: true },
  { title: "URL", value: ({ url }) => url, canShrink: true },
  { title: "EVENTS", value: ({ events }) => events.join(" "), canShrink: true },
  { title: "DESCRIPTION", value: ({ description }) => description, canShrink: true },
];

export function endpointText(terminal: Terminal, endpoint: Endpoint): string {
  const { health } = endpoint;
  return facts(terminal, [
    ["id", endpoint.id],
    ["tenant", endpoint.tenant],
    ["state", stateOf(endpoint)],
    ...ifSet("disabled", endpoint.disabled_at, timeText),
    ...ifSet("topic", endpoint.websub?.topic ?? null, String),
    ...ifSet("subscribed until", endpoint.websub?.lease_expires_at ?? null, timeText),
    ...SETTING_NAMES.flatMap((name) => SETTING_FACTS[name]?.(endpoint) ?? [factOf(name, endpoint)]),
    ["failures", health.consecutive_failures === 0 ? "none" : `${health.consecutive_failures} consecutive`],
    ...ifSet("failing since", health.failing_since, timeText),
    ["last error", health.last_error],
    ...ifSet("next probe", health.probe_at, timeText),
    ...ifSet("throttled until", health.throttled_until, timeText),
    ["created", timeText(endpoint.created_at)],
    ["updated", timeText(endpoint.updated_at)],
  ]);
}

type Fact = [label: string, value: unknown];

/** Settings that are shown otherwise than by their name and value. */
const SETTING_FACTS: Partial<Record<SettingName, (endpoint: Endpoint) => Fact[]>> = {
  events: ({ events }) => [["events", events.join(" ")]],
  // part of the state
  isActive: () => [],
  envelopeFields: ({ envelope_fields }) => {
    const names = Object.entries(envelope_fields).map(([field, name]) => `${field} as ${name}`);
    return names.length === 0 ? [] : [["envelope", names.join(", ")]];
  },
  batch: batchFacts,
  signature: signatureFacts,
  authorization: ({ authorization }) =>
    ifSet("authorization", authorization?.type ?? null, (type) => `${type} token`),
  headers: ({ headers }) => [["headers", Object.keys(headers).join(" ")]],
  handshake: (endpoint) =>
    ifSet("handshake", endpoint.handshake?.state ?? null, (state) => handshakeText(endpoint, state)),
  timeoutMs: ({ timeout_ms }) => [["timeout", durationText(timeout_ms)]],
  maxInFlight: (endpoint) => [["in flight", inFlightText(endpoint)]],
  maxInFlightBurst: () => [],
  rateLimit: ({ rate_limit }) => [["rate limit", rate_limit === null ? "none" : `${rate_limit} per second`]],
  retryPolicy: (endpoint) => [["retries", retryText(endpoint)]],
  retryOn: () => [],
  circuitBreaker: ({ circuit_breaker }) => [["circuit", circuitText(circuit_breaker)]],
  disableAfter: ({ disable_after }) => [["disabled after", disableText(disable_after)]],
  ordering: (endpoint) => [["ordering", orderingText(endpoint)]],
  fifoOnDead: () => [],
};

function factOf(name: SettingName, endpoint: Endpoint): Fact {
  const field = snakeCase(name);
  return [field.replaceAll("_", " "), endpoint[field]];
}

/** The path on the server at which everyone may read the public keys. */
export function publicKeysPath(endpoint: string): string {
  return `/.well-known/webhook-keys/${endpoint}`;
}

function isAsymmetric(scheme: string): boolean {
  return findScheme(scheme)?.key === "ed25519";
}

function isHealthy({ circuit, handshake }: Endpoint): boolean {
  return circuit === "closed" && (handshake === null || handshake.state === "granted");
}

function batchFacts({ format, batch }: Endpoint): Fact[] {
  if (format !== "cloudevents-batch") return [];
  const { max_events, max_bytes, max_delay_ms } = batch;
  return [["batch", `${max_events} events, ${max_bytes} bytes or ${durationText(max_delay_ms)}`]];
}

function ifSet(name: string, value: string | null, text: (value: string) => string): Fact[] {
  return value === null ? [] : [[name, text(value)]];
}

function signatureFacts({ id, signature: { schemes, header_prefix } }: Endpoint): Fact[] {
  return [
    ...schemes.map((scheme, at): Fact => [at === 0 ? "signature" : "", signatureText(scheme, header_prefix)]),
    ...(schemes.some(isAsymmetric) ? [["public keys", publicKeysPath(id)] as Fact] : []),
  ];
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
  if (websub !== null && circuit === "closed") return "active, WebSub";
  return circuit === "closed" ? "active" : `active, circuit ${circuit}`;
}

function inFlightText({ max_in_flight: least, max_in_flight_burst: most, health }: Endpoint): string {
  const current = `at most ${health.current_max_in_flight}`;
  return most > least ? `${current} now, ${least} to ${most}` : current;
}

function orderingText({ ordering, fifo_on_dead }: Endpoint): string {
  return ordering === "fifo" ? `fifo, after a dead letter: ${fifo_on_dead}` : ordering;
}

function circuitText(breaker: Endpoint["circuit_breaker"]): string {
  const { failures, failure_percent: percent, failures_per_hour: perHour, pause_ms } = breaker;
  const conditions = [
    ...(failures === 0 ? [] : [`${failures} consecutive failures`]),
    ...(failures === 0 || percent === 0 ? [] : [`${percent} % in a minute`]),
    ...(perHour === 0 ? [] : [`${perHour} in an hour`]),
  ];
  if (conditions.length === 0) return "never opens";
  return `opens after ${conditions.join(" or ")}, for ${durationText(pause_ms)}`;
}

function disableText({ failures, days }: Endpoint["disable_after"]): string {
  const limits = [
    ...(failures === 0 ? [] : [`${failures} consecutive failures`]),
    ...(days === 0 ? [] : [`${days} days without a success`]),
  ];
  return limits.join(" or ") || "never";
}

function retryText({ retry_policy: policy, retry_on }: Endpoint): string {
  const { gaps_ms: gapsMs, base_ms: baseMs = 0, cap_ms: capMs = 0, max_attempts: attempts = 1 } = policy;
  const schedule = gapsMs
    ? scheduleText({ kind: "gaps", gapsMs })
    : `${scheduleText({ kind: "exponential", baseMs, capMs, maxAttempts: attempts })}; ${attempts} attempts`;
  const age = policy.max_age_ms === undefined ? "" : `, at most ${durationText(policy.max_age_ms)}`;
  const failures = retry_on === "every" ? "every failure" : `${retry_on} failures`;
  return `${schedule}${age}, after ${failures}`;
}
