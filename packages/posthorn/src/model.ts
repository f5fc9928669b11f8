// The types that travel along the pipeline, one per stage: an event becomes deliveries, a claimed delivery becomes
// a prepared request, its outcome becomes a settlement. You cannot settle what was not sent.

import {
  type EffectiveSettings,
  type EventAttributes,
  endpointSettings,
  type SettingValue,
} from "@posthorn/wire";
import type { Destination } from "./destinations/destination.ts";
import type { Filter } from "./fan-out/filter.ts";

/** Identifiers inside the engine are bare UUIDv7 strings; `evt_`, `dlv_` and `ep_` are put on at the edge. */
export type Uuid = string;

/** A committed business fact, never changed. `payload` is the JSON of `data`, byte for byte as it was given. */
export interface Event {
  readonly id: Uuid;
  readonly tenant: string;
  readonly type: string;
  readonly apiVersion: string;
  readonly subject: string | null;
  /** 1, 2, 3 … within its tenant and subject, in the order of commits; null without a subject, and until it is stored. */
  readonly sequence: number | null;
  readonly payload: Uint8Array;
  readonly createdAt: Date;
  /** The trace it was published in (W3C); undefined without one. */
  readonly traceparent?: string | undefined;
  /** Undefined where it was published our way: its data is JSON, and there is nothing more to know. */
  readonly attributes?: EventAttributes | undefined;
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
export type FifoOnDead = SettingValue<"fifoOnDead">;

/** Of the event that a batch is: its payload is the body that is sent, whatever its endpoint's format is by then. */
export const BATCH_TYPE = "webhook.batch";

/** What a body may contain besides its event. */
export interface FormatContext {
  /** The `source` of events without their own: a URI reference. */
  readonly source: string;
  /** The base URL of the API, for `dataref`; if empty, references are relative. */
  readonly datarefBase: string;
}

export interface TargetAuthorization {
  readonly type: AuthorizationType;
  readonly token: string;
}

/** `waiting`: it was asked, and can still agree by the callback URL. Only `granted` lets anything through. */
export type HandshakeState = "asking" | "waiting" | "granted" | "denied";

export interface Grant {
  readonly state: HandshakeState;
  /** Requests per minute; null: as many as one likes. */
  readonly allowedRate: number | null;
  /** Why it is not granted, in words. */
  readonly detail: string | null;
  readonly askedMs: number | null;
  readonly decidedMs: number | null;
}

export interface HandshakeDecision extends Pick<Grant, "state" | "allowedRate" | "detail"> {
  /** Null: it is not asked again by itself. */
  readonly retryInMs: number | null;
}

export type AttemptTrigger = "event" | "retry" | "manual" | "replay" | "test";

/** What the delivering side needs to know of an endpoint; settings of the deployment are already filled in. */
export interface Target
  extends Omit<EffectiveSettings, "description" | "filter" | "authorization" | "handshake"> {
  readonly endpointId: Uuid;
  readonly tenant: string;
  readonly version: number;
  /** Null: every event of these types. */
  readonly filter: Filter | null;
  readonly formatContext: FormatContext;
  readonly secrets: readonly TargetSecret[];
  /** Null: the signature is all that the receiver asks for. */
  readonly authorization: TargetAuthorization | null;
  /** Attempts per minute that the receiver allows; null without such a limit. */
  readonly allowedPerMinute: number | null;
  readonly destination: Destination;
  /** As it was when this was read, null when it was well; from there on the lane's owner knows better. */
  readonly health: RecordedHealth | null;
}

export const HUB_SIGNATURE_METHODS = ["sha256", "sha384", "sha512", "sha1"] as const;
export type HubSignatureMethod = (typeof HUB_SIGNATURE_METHODS)[number];

/** Why the engine disables an endpoint: an answer of 410, too many failures in a row, or no success for days. */
export type DisableCause = "gone" | "failures" | "no_success";

export type CircuitState = "closed" | "open" | "half_open";

/** How an endpoint has been doing since its last success, as it is written down. Times are the database's. */
export interface RecordedHealth {
  readonly consecutiveFailures: number;
  readonly failingSinceMs: number | null;
  /** A status such as `HTTP 500`, or an attempt's error. */
  readonly lastError: string | null;
  /** How often the circuit has opened since a success. */
  readonly trips: number;
  /** When an open circuit lets a probe through; null while it is closed. */
  readonly probeAtMs: number | null;
  readonly throttles: number;
  readonly throttledUntilMs: number | null;
}

export interface EndpointHealth extends RecordedHealth {
  /** Attempts in flight that a half-open circuit allows. */
  readonly allowance: number;
  /** The part of a throttle that the receiver asked for: answers to what was in flight before do not end it. */
  readonly askedUntilMs: number | null;
}

export interface TargetSecret {
  /** `whsec_…` (shared), `whsk_…` (ed25519 seed and public key), or any text for a vendor's scheme. */
  readonly value: string;
  /** The one scheme that signs with it; undefined: every scheme that has none of its own. */
  readonly scheme?: string | undefined;
  readonly expiresAt: Date | null;
}

/** A delivery this worker holds: nobody else may send it until it is settled or the worker is buried. */
export interface ClaimedDelivery {
  readonly id: Uuid;
  readonly event: Event;
  readonly endpointId: Uuid;
  /** HTTP tries recorded so far, those with an unknown end included. The next attempt is number `attempts + 1`. */
  readonly attempts: number;
  /** Tries since the event, the last manual retry or replay, that count against the retry policy. */
  readonly failures: number;
  /** When the retry policy's time began, by the database's clock: at the event, or at the last manual retry. */
  readonly scheduleStartedMs: number;
  readonly trigger: AttemptTrigger;
  /** It goes alone in its event's subject, after those with a lower sequence. */
  readonly isOrdered: boolean;
}

/** Exactly what goes over the wire. The body's bytes are those that were signed. */
export interface PreparedRequest {
  /** On whose behalf; tenants never share a connection. Null: the operator's own. */
  readonly tenant: string | null;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly timeoutMs: number;
  /** Default POST. A GET has no body. */
  readonly method?: "POST" | "GET" | "OPTIONS";
  /** The URL comes from an anonymous party: only addresses of the policy for untrusted URLs are reached. */
  readonly isUntrusted?: true;
  /** What of it must not be kept where the receiver says it back. */
  readonly confidential?: readonly string[];
  /** The answer is wanted: its headers, and its body up to so many bytes. */
  readonly captureResponse?: { readonly maxBodyBytes: number };
}

/** Why no status line arrived. `unknown` is written at burial only: it may or may not have been sent. */
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
  | "lease_ended"
  | "unknown";

/**
 * Where the time of a try went, in whole milliseconds; null for what did not take place. Its rest, up to `durationMs`, is
 * the answer's body.
 */
export interface AttemptPhases {
  /** Until there was a connection: its turn, the name and TCP. Null on one that was open already. */
  readonly connectMs: number | null;
  readonly tlsMs: number | null;
  /** From the request to the answer's headers. */
  readonly firstByteMs: number | null;
}

/** Of a request that could not be made. */
export const NO_PHASES: AttemptPhases = { connectMs: null, tlsMs: null, firstByteMs: null };

/** What a request was made for; `responseBody` then has as much as was asked for. */
export interface FullResponse {
  /** Names in lower case; several of a name with a comma between. */
  readonly headers: Readonly<Record<string, string>>;
  /** False: it was longer than asked for, or broke off. */
  readonly isWhole: boolean;
}

/** What one HTTP try came to. A customer's 500 is a value here, never an exception. */
export type AttemptOutcome =
  | {
      readonly kind: "answered";
      readonly statusCode: number;
      /** The first 1 KB, as it came. */
      readonly responseBody: Uint8Array;
      readonly retryAfter: string | null;
      /** Only of a request whose answer was wanted. */
      readonly answer?: FullResponse;
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

/**
 * What an outcome means for its delivery. `gone` is a 410: dead at once, and the endpoint is disabled. `later` is a 409 with
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
  | "lease_ended";

/** What follows from an outcome. */
export type Decision =
  | { readonly kind: "delivered" }
  /** `isFailure` false: the receiver said "later", and the retry policy's budget is not touched. */
  | { readonly kind: "retry"; readonly delayMs: number; readonly isFailure: boolean }
  | { readonly kind: "dead"; readonly reason: DeadReason; readonly disableEndpoint: boolean };

/** An attempt and what was decided, ready to be written down. */
export interface Settlement {
  readonly delivery: ClaimedDelivery;
  /** Of the attempt; undefined when nobody traces it. */
  readonly traceparent?: string | undefined;
  readonly startedAt: Date;
  readonly outcome: AttemptOutcome;
  readonly decision: Decision;
}
