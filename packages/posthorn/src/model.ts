// The types that travel along the pipeline, one per stage: an event becomes deliveries, a claimed delivery becomes
// a prepared request, its outcome becomes a settlement. You cannot settle what was not sent.

/** Identifiers inside the engine are bare UUIDv7 strings; `evt_`, `dlv_` and `ep_` are put on at the edge. */
export type Uuid = string;

/** A committed business fact, never changed. `payload` is the JSON of `data`, byte for byte as it was given. */
export interface Event {
  readonly id: Uuid;
  readonly tenant: string;
  readonly type: string;
  readonly apiVersion: string;
  readonly subject: string | null;
  readonly sequence: number | null;
  readonly payload: Uint8Array;
  readonly createdAt: Date;
}

export type PayloadFormat = "envelope" | "data";

export interface SignatureSettings {
  /** Names from the registry of `@posthorn/wire`, in the order their headers are written. */
  readonly schemes: readonly string[];
  /** `X-Webhook` gives `X-Webhook-Signature`, `X-Webhook-Id`, … */
  readonly headerPrefix: string;
}

/** Gaps between attempts in milliseconds, or exponential growth with full jitter. */
export type RetryPolicy =
  | { readonly kind: "gaps"; readonly gapsMs: readonly number[]; readonly maxAgeMs?: number }
  | {
      readonly kind: "exponential";
      readonly baseMs: number;
      readonly capMs: number;
      readonly maxAttempts: number;
      readonly maxAgeMs?: number;
    };

/** `permanent`: a 4xx or 3xx is dead at once (the default). `every`: every answer but 2xx and 410 is retried. */
export type RetryOn = "transient" | "every";

export type AttemptTrigger = "event" | "retry" | "manual" | "test";

/** What the delivering side needs to know of an endpoint; settings of the deployment are already filled in. */
export interface Target {
  readonly endpointId: Uuid;
  readonly tenant: string;
  readonly version: number;
  readonly url: string;
  readonly isActive: boolean;
  readonly events: readonly string[];
  readonly format: PayloadFormat;
  readonly signature: SignatureSettings;
  readonly headers: Readonly<Record<string, string>>;
  readonly secrets: readonly TargetSecret[];
  readonly timeoutMs: number;
  readonly maxInFlight: number;
  readonly retryPolicy: RetryPolicy;
  readonly retryOn: RetryOn;
}

export interface TargetSecret {
  /** `whsec_…` (shared) or `whsk_…` (ed25519 seed and public key). */
  readonly value: string;
  readonly expiresAt: Date | null;
}

/** A delivery this worker holds: nobody else may send it until it is settled or the worker is buried. */
export interface ClaimedDelivery {
  readonly id: Uuid;
  readonly event: Event;
  readonly endpointId: Uuid;
  /** HTTP tries recorded so far, those with an unknown end included. The next attempt is number `attempts + 1`. */
  readonly attempts: number;
  /** Tries since the event or the last manual retry that count against the retry policy. */
  readonly failures: number;
  /** How old the delivery was when it was claimed; a policy may limit it. */
  readonly ageMs: number;
  readonly trigger: AttemptTrigger;
}

/** Exactly what goes over the wire. The body's bytes are those that were signed. */
export interface PreparedRequest {
  /** On whose behalf; tenants never share a connection. Null: the operator's own. */
  readonly tenant: string | null;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly timeoutMs: number;
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
  | "unknown";

/** What one HTTP try came to. A customer's 500 is a value here, never an exception. */
export type AttemptOutcome =
  | {
      readonly kind: "answered";
      readonly statusCode: number;
      /** The first 1 KB, as it came. */
      readonly responseBody: Uint8Array;
      readonly retryAfter: string | null;
      readonly durationMs: number;
    }
  | {
      readonly kind: "failed";
      readonly error: AttemptError;
      readonly detail: string;
      readonly durationMs: number;
    };

export type DeadReason =
  | "attempts_exhausted"
  | "too_old"
  | "rejected"
  | "redirect"
  | "gone"
  | "blocked_address"
  | "invalid_request";

/** What follows from an outcome. */
export type Decision =
  | { readonly kind: "delivered" }
  | { readonly kind: "retry"; readonly delayMs: number }
  | { readonly kind: "dead"; readonly reason: DeadReason; readonly disableEndpoint: boolean };

/** An attempt and what was decided, ready to be written down. */
export interface Settlement {
  readonly delivery: ClaimedDelivery;
  readonly startedAt: Date;
  readonly outcome: AttemptOutcome;
  readonly decision: Decision;
}
