// Interprets the response to an OPTIONS request ("HTTP 1.1 Web Hooks for Event Delivery" §4.2). Pure. Only headers
// grant permission: many servers return 200 or 405 to any OPTIONS.
import type { AttemptOutcome, HandshakeDecision, HandshakeSettings } from "../../model.ts";
import { nextDelayMs } from "../../settle/retry-schedule.ts";

export interface Asked extends HandshakeSettings {
  /** Includes the current attempt. */
  readonly attempts: number;
  /** True if the endpoint was given a URL to agree later. */
  readonly hasCallback: boolean;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** An endpoint that is being set up is reachable within a day. */
const schedule = {
  kind: "gaps",
  gapsMs: [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 6 * HOUR, 24 * HOUR],
} as const;

export function decideHandshake(
  outcome: AttemptOutcome,
  asked: Asked,
  random = Math.random,
): HandshakeDecision {
  if (outcome.kind === "failed")
    return unreached(`The handshake request failed: ${outcome.detail}.`, asked, random);
  const { "webhook-allowed-origin": header, "webhook-allowed-rate": rate } = outcome.response?.headers ?? {};
  if (header === undefined) return silent(outcome.statusCode, asked);
  const origin = header.trim();
  if (origin !== "*" && origin.toLowerCase() !== asked.origin.toLowerCase()) {
    return denied(`It allows a different origin than ${asked.origin}.`);
  }
  const allowed = readRate(rate, asked.rate);
  if (allowed === undefined) return denied("It allows a rate that is neither a number per minute nor *.");
  return granted(allowed);
}

/**
 * Returns attempts per minute, null without a limit, undefined if invalid. Without a header it is the requested rate.
 */
export function readRate(header: string | undefined, requested: number | null): number | null | undefined {
  if (header === undefined) return requested;
  const text = header.trim();
  if (text === "*") return null;
  if (!/^\d+$/.test(text) || Number(text) === 0) return undefined;
  return Math.min(Number(text), MOST_PER_MINUTE);
}

/** A higher rate is no limit in practice. */
const MOST_PER_MINUTE = 999_999_999;

export function granted(allowedRate: number | null): HandshakeDecision {
  return { state: "granted", allowedRate, detail: null, retryInMs: null };
}

function denied(detail: string): HandshakeDecision {
  return { state: "denied", allowedRate: null, detail, retryInMs: null };
}

function silent(statusCode: number, { hasCallback }: Asked): HandshakeDecision {
  const returned = `It returned HTTP ${statusCode} without WebHook-Allowed-Origin`;
  if (!hasCallback) return denied(`${returned}, so it does not allow webhooks.`);
  const detail = `${returned}. It can still allow webhooks through the callback URL it was given.`;
  return { state: "waiting", allowedRate: null, detail, retryInMs: null };
}

function unreached(detail: string, { attempts }: Asked, random: () => number): HandshakeDecision {
  const retryInMs = nextDelayMs(schedule, attempts, { random, ageMs: 0 });
  if (retryInMs === null) return denied(detail);
  return { state: "requesting", allowedRate: null, detail, retryInMs };
}
