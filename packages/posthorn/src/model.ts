// The types of the pipeline, one per stage: an event becomes deliveries, a claimed delivery a prepared request, its
// outcome a settlement. Only a sent delivery can be settled.

import {
  type EffectiveSettings,
  type EnvelopeNames,
  type EventAttributes,
  endpointSettings,
  type SettingValue,
} from "@posthorn/wire";
import type { Destination } from "./destinations/destination.ts";
import type { Filter } from "./fan-out/filter.ts";

/** Identifiers inside the engine are bare UUIDv7 strings; `evt_`, `dlv_` and `ep_` are added at the edge. */
export type Uuid = string;

/** A committed fact that never changes. `payload` is the JSON of `data`, byte for byte as it was given. */
export interface Event {
  readonly id: Uuid;
  readonly tenant: string;
  readonly type: string;
  readonly apiVersion: string;
  readonly subject: string | null;
  /** Counts from 1 within its tenant and subject, in commit order; null without a subject, and until it is stored. */
  readonly sequence: number | null;
  readonly payload: Uint8Array;
  readonly createdAt: Date;
  /** W3C trace context of the publish; undefined without one. */
  readonly traceparent?: string | undefined;
  /** CloudEvents attributes; undefined if it was published without any, with JSON data. */
  readonly attributes?: EventAttributes | undefined;
  /** The event of which this is an edited copy; undefined if it is none. */
  readonly editedFrom?: Uuid | undefined;
}

/** Why an event that was published from SQL or by a source is not delivered. */
export interface Rejection {
  readonly eventId: Uuid;
  /** The code of the error that the library would have thrown. `payload_too_large`: the event has no data. */
  readonly code: "invalid_event" | "event_too_complex" | "payload_too_large";
  /** JSON Pointer into the event. */
  readonly pointer: string;
  readonly message: string;
}

export type { FilterInput, RetryPolicy } from "@posthorn/wire";

export const PAYLOAD_FORMATS = endpointSettings.format.values;
export type PayloadFormat = SettingValue<"format">;
export type BatchSettings = SettingValue<"batch">;
export type SignatureSettings = SettingValue<"signature">;
export type AuthorizationType = SettingValue<"authorization">["type"];
export type HandshakeSettings = SettingValue<"handshake">;
export type RetryOn = SettingValue<"retryOn">;
export type Ordering = SettingValue<"ordering">;

/**
 * The type of a batch's own event, whose payload is the body that is sent, even if the endpoint's format has changed.
 */
export const BATCH_TYPE = "webhook.batch";

/** Values that a body may contain besides its event. */
export interface FormatContext {
  /** The `source` of events without their own: a URI reference. */
  readonly source: string;
  /** The base URL of the API, for `dataref`; if empty, references are relative. */
  readonly datarefBase: string;
  /** Other names of the envelope's fields. */
  readonly envelopeFields?: EnvelopeNames | undefined;
  /**
   * The `dataschema` of events without their own: the URL of the type's schema, undefined if it has none. Absent without a
   * public URL.
   */
  readonly dataschemaOf?: ((event: Event) => string | undefined) | undefined;
}

export interface TargetAuthorization {
  readonly type: AuthorizationType;
  readonly token: string;
}

/**
 * `waiting`: the endpoint was asked and can still agree through the callback URL. Deliveries are sent only if
 * `granted`.
 */
export type HandshakeState = "requesting" | "waiting" | "granted" | "denied";

export interface Grant {
  readonly state: HandshakeState;
  /** Requests per minute; null without a limit. */
  readonly allowedRate: number | null;
  /** The reason, if not granted. */
  readonly detail: string | null;
  readonly requestedMs: number | null;
  readonly decidedMs: number | null;
}

export interface HandshakeDecision extends Pick<Grant, "state" | "allowedRate" | "detail"> {
  /** Null if it is not asked again automatically. */
  readonly retryInMs: number | null;
}

export type AttemptTrigger = "event" | "retry" | "manual" | "replay" | "test" | "edited";

/** An endpoint as the sending side sees it, with the deployment's defaults filled in. */
export interface Target
  extends Omit<EffectiveSettings, "name" | "description" | "filter" | "authorization" | "handshake"> {
  readonly endpointId: Uuid;
  readonly tenant: string;
  readonly version: number;
  /** Null if all events of these types match. */
  readonly filter: Filter | null;
  readonly formatContext: FormatContext;
  readonly secrets: readonly TargetSecret[];
  /** Null if the receiver requires no token. */
  readonly authorization: TargetAuthorization | null;
  /** Attempts per minute that the receiver allows; null without such a limit. */
  readonly allowedPerMinute: number | null;
  readonly destination: Destination;
  /** The stored health when this was read, null if healthy; afterwards the lane's owner has the current one. */
  readonly health: RecordedHealth | null;
}

export const HUB_SIGNATURE_METHODS = ["sha256", "sha384", "sha512", "sha1"] as const;
export type HubSignatureMethod = (typeof HUB_SIGNATURE_METHODS)[number];

/** Why the engine disables an endpoint: a 410, too many consecutive failures, or no success for days. */
export type DisableCause = "gone" | "failures" | "no_success";

export type CircuitState = "closed" | "open" | "half_open";

/** An endpoint's stored health since its last success. Times are the database's. */
export interface RecordedHealth {
  readonly consecutiveFailures: number;
  readonly failingSinceMs: number | null;
  /** A status such as `HTTP 500`, or an attempt's error. */
  readonly lastError: string | null;
  /** How often the circuit has opened since a success. */
  readonly trips: number;
  /** When an open circuit allows a probe; null while it is closed. */
  readonly probeAtMs: number | null;
  readonly throttles: number;
  readonly throttledUntilMs: number | null;
  /** Failures of the last hour by minute, if the circuit counts them; null: none. A success does not end them. */
  readonly recentFailures: RecentFailures | null;
}

/** The minute since 1970 and its number of failures, oldest first. */
export type RecentFailures = readonly (readonly [minute: number, failures: number])[];

export interface EndpointHealth extends RecordedHealth {
  /** The number of attempts that a half-open circuit allows in flight. */
  readonly allowance: number;
  /** End of the pause that the receiver asked for: responses to earlier attempts do not shorten it. */
  readonly askedUntilMs: number | null;
}

export interface TargetSecret {
  /** `whsec_…` (shared), `whsk_…` (ed25519 seed and public key), or any text for a vendor's scheme. */
  readonly value: string;
  /** The only scheme that signs with it; undefined for every scheme without its own secret. */
  readonly scheme?: string | undefined;
  readonly expiresAt: Date | null;
}

/** A delivery that this worker owns: no other sends it until it is settled or the worker is reaped. */
export interface ClaimedDelivery {
  readonly id: Uuid;
  readonly event: Event;
  readonly endpointId: Uuid;
  /** Attempts recorded so far, including those with an unknown outcome. The next one has the number `attempts + 1`. */
  readonly attempts: number;
  /** Failed attempts since the event, the last manual retry or replay, which count against the retry policy. */
  readonly failures: number;
  /** When the retry schedule began, by the database's clock: at the event or the last manual retry. */
  readonly scheduleStartedMs: number;
  readonly trigger: AttemptTrigger;
  /** True if it is sent alone in its subject, after those with a lower sequence. */
  readonly isOrdered: boolean;
  /** The batch whose events claim it; null if it has a queue row. */
  claimBatch: ClaimBatch | null;
}

/** Events that were stored by one statement and claim deliveries themselves (`settle/event-claims.ts`). */
export interface ClaimBatch {
  /** The delivery is finished or has a queue row. */
  ended(delivery: Pick<ClaimedDelivery, "claimBatch">): void;
}

/** The exact request. The body's bytes are those that were signed. */
export interface PreparedRequest {
  /** The tenant, because tenants never share a connection; null for the operator's own requests. */
  readonly tenant: string | null;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly timeoutMs: number;
  /** Default POST. A GET has no body. */
  readonly method?: "POST" | "GET" | "OPTIONS";
  /** The URL comes from an anonymous party: only addresses of the policy for untrusted URLs are reached. */
  readonly isUntrusted?: true;
  /** Secrets in the request, which are masked if the response repeats them. */
  readonly confidential?: readonly string[];
  /** Keeps the response's headers, and its body up to this size. */
  readonly captureResponse?: { readonly maxBodyBytes: number };
}

/** Why there is no status. `unknown` is recorded when a worker is reaped: the request may have been sent. */
export type AttemptError =
  | "timeout"
  | "dns_error"
  | "connection_refused"
  | "connection_reset"
  | "connection_error"
  | "tls_error"
  | "bad_response"
  | "headers_too_large"
  | "blocked_address"
  | "invalid_request"
  | "not_signed"
  | "lease_expired"
  | "unknown";

/**
 * How long the phases of an attempt took, in whole milliseconds; null for a phase that did not occur. The rest of
 * `durationMs` is the response body.
 */
export interface AttemptPhases {
  /** Until a connection was available: waiting for one, DNS and TCP. Null if an idle connection was reused at once. */
  readonly connectMs: number | null;
  readonly tlsMs: number | null;
  /** From the request to the response headers. */
  readonly firstByteMs: number | null;
}

/** Phases of a request that was not sent. */
export const NO_PHASES: AttemptPhases = { connectMs: null, tlsMs: null, firstByteMs: null };

/** The response to a request with `captureResponse`; `responseBody` then has up to that size. */
export interface CapturedResponse {
  /** By lower-case name; repeated headers are joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
  /** False if the response was longer than allowed, or incomplete. */
  readonly isComplete: boolean;
}

/** The result of one attempt. A receiver's 500 is a value, never an exception. */
export type AttemptOutcome =
  | {
      readonly kind: "responded";
      readonly statusCode: number;
      /** The first 1 KB, or more with `captureResponse`. */
      readonly responseBody: Uint8Array;
      readonly retryAfter: string | null;
      /** Only with `captureResponse`. */
      readonly response?: CapturedResponse;
      readonly durationMs: number;
      readonly phases: AttemptPhases;
    }
  | {
      readonly kind: "failed";
      readonly error: AttemptError;
      readonly detail: string;
      readonly durationMs: number;
      readonly phases: AttemptPhases;
    };

/** The outcome of an attempt that ended before a request was sent. */
export function notSent(reason: { readonly error: AttemptError; readonly detail: string }): AttemptOutcome {
  return { kind: "failed", ...reason, durationMs: 0, phases: NO_PHASES };
}

/**
 * The meaning of an outcome for its delivery. `gone` is a 410: dead at once, and the endpoint is disabled. `later` is a 409 with
 * Retry-After: the receiver is processing this event already (Idempotency-Key draft), and nothing failed.
 */
export type OutcomeClass = "delivered" | "transient" | "permanent" | "gone" | "later";

export type DeadReason =
  | "attempts_exhausted"
  | "too_old"
  | "rejected"
  | "redirect"
  | "gone"
  | "blocked_address"
  | "invalid_request"
  | "lease_expired";

/** The consequence of an outcome for its delivery. */
export type Decision =
  | { readonly kind: "delivered" }
  /** `isFailure` is false if the receiver postponed the delivery: that does not count against the retry policy. */
  | { readonly kind: "retry"; readonly delayMs: number; readonly isFailure: boolean }
  | { readonly kind: "dead"; readonly reason: DeadReason; readonly disableEndpoint: boolean };

/** An attempt and its decision, ready to be written. */
export interface Settlement {
  readonly delivery: ClaimedDelivery;
  /** Trace context of the attempt; undefined if it is not traced. */
  readonly traceparent?: string | undefined;
  readonly startedAt: Date;
  readonly outcome: AttemptOutcome;
  readonly outcomeClass: OutcomeClass;
  readonly decision: Decision;
}

/**
 * `on`: deliveries are sent. `hold`: nothing is sent, and new events get deliveries that wait. `drop`: nothing is sent, and
 * new events get no deliveries.
 */
export type DeliveryMode = (typeof DELIVERY_MODES)[number];

export const DELIVERY_MODES = ["on", "hold", "drop"] as const;
