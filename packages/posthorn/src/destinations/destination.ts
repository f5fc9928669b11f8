// A destination is how and where the deliveries of an endpoint are sent: as webhooks, to subscribers, and so on. The
// engine knows this interface only. A new kind is a folder beside the others and a line in destination-kinds.ts.
import type {
  AttemptOutcome,
  ClaimedDelivery,
  Event,
  OutcomeClass,
  PreparedRequest,
  RetryOn,
  Target,
  Uuid,
} from "../model.ts";
import type { Queryable } from "../storage/database.ts";
import type { TargetRow } from "../storage/queries/endpoints/targets.ts";
import type { TenantRow } from "../storage/queries/tenants.ts";

export interface Destination {
  /** False while deliveries have to wait, for instance until the endpoint has agreed to receive them. */
  readonly mayStart: boolean;
  /** Attempts per minute that the receiver allows; null without such a limit. */
  readonly allowedPerMinute: number | null;
  /** True if anyone may read what is sent: configured paths are redacted before. */
  readonly isPublic: boolean;
  /** False if a replay must not send events that the endpoint did not originally receive. */
  readonly acceptsReplays: boolean;
  /** Failures disable a permanent endpoint. Any other stays active until it expires, and is deleted when its receiver is gone. */
  readonly isPermanent: boolean;
  /** False if this event is not for the endpoint although its type and filter match. */
  accepts(event: Event): boolean;
  /** Makes one attempt. Never rejects for anything the network or the receiver does. */
  attempt(
    delivery: ClaimedDelivery,
    target: Target,
    moment: AttemptMoment,
    services: AttemptServices,
  ): AttemptOutcome | Promise<AttemptOutcome>;
  /** Decides what an outcome means, apart from how many attempts are left. */
  interpret(outcome: AttemptOutcome, retryOn: RetryOn): OutcomeClass;
  /** Builds the HTTP request of an attempt, to show it; null if this kind sends none. Throws if it cannot be built. */
  request(
    delivery: SendableDelivery,
    target: Target,
    moment: AttemptMoment,
    userAgent: string,
  ): PreparedRequest | null;
}

export type SendableDelivery = Pick<ClaimedDelivery, "id" | "event" | "attempts">;

/** The facts that differ between the attempts of a delivery. */
export interface AttemptMoment {
  readonly startedAt: Date;
  /** The attempt's W3C trace context; undefined without one. */
  readonly traceparent?: string | undefined;
}

/** Services that the engine provides to every attempt. */
export interface AttemptServices {
  /** Masks the configured paths of an event's payload. */
  readonly redact: (event: Event) => Event;
  readonly dispatchers: Sender;
  /** Aborts the attempts in flight when this process stops. */
  readonly signal: AbortSignal;
}

/** The only network call; implemented by the dispatchers. */
export interface Sender {
  send(request: PreparedRequest, signal: AbortSignal): Promise<AttemptOutcome>;
}

/** Returns the destination of an endpoint of this kind, null for an endpoint of another kind. */
export type DestinationKind = (row: TargetRow) => Destination | null;

export type DestinationOf = (row: TargetRow) => Destination;

/** The part of a kind whose endpoints are subscriptions: receivers register them, and tenants can only read and delete them. */
export interface SubscriptionKind {
  /** Called in the transaction that deleted these endpoints, of any kind, to store what their receivers must be sent. */
  onDeleted(tx: Queryable, endpointIds: readonly Uuid[]): Promise<void>;
  /** Lists the subscriptions that the tenant's settings no longer allow. */
  disallowed(tx: Queryable, tenant: TenantRow): Promise<Uuid[]>;
}

/** Background work of a kind, such as verifying subscriptions. The engine runs it beside the deliveries. */
export interface DestinationService {
  /** True if it publishes events: then it stops before publishing stops. */
  readonly publishes: boolean;
  /** Periodic clean-up by name, run by the process that leads maintenance. */
  readonly maintenanceTasks: Readonly<Record<string, () => Promise<void>>>;
  start(): Promise<void>;
  stop(graceMs: number): Promise<void>;
  /** Looks for work now. */
  wake(): void;
  /** Does now everything that is due; resolves when it is done. */
  runNow(): Promise<void>;
}
