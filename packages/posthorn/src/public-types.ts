// What an application sees of Posthorn, with the types of its events if it declares them in code.
import type { DataOf, EventDeclarations } from "./catalogue/declared-types.ts";
import type { WebSub } from "./destinations/websub/websub.ts";
import type { PosthornError } from "./errors.ts";
import type { Transaction } from "./event/publish-in-transaction.ts";
import type { PublishResult } from "./event/publisher.ts";
import type { UserPublishInput, UserPublishResult } from "./event/user-event.ts";
import type { PublishInput } from "./event/validate.ts";
import type { Replays } from "./replay/replays.ts";
import type { AuditLog } from "./resources/access/audit-log.ts";
import type { EncryptionKeys } from "./resources/access/encryption-keys.ts";
import type { Keys } from "./resources/access/keys.ts";
import type { Sessions } from "./resources/access/sessions.ts";
import type { Deliveries } from "./resources/deliveries/deliveries.ts";
import type { DeliveryChanges } from "./resources/deliveries/delivery-changes.ts";
import type { ResendEvent } from "./resources/deliveries/resend-event.ts";
import type { Resends } from "./resources/deliveries/resends.ts";
import type { ShowRequest } from "./resources/deliveries/sent-request.ts";
import type { Endpoints } from "./resources/endpoints/endpoints.ts";
import type { EventTypes } from "./resources/event-types/event-types.ts";
import type { Events } from "./resources/events/events.ts";
import type { SendTest } from "./resources/events/test-event.ts";
import type { Activity } from "./resources/stats/activity.ts";
import type { Stats } from "./resources/stats/stats.ts";
import type { System } from "./resources/stats/system.ts";
import type { Members } from "./resources/tenants/members.ts";
import type { Tenants } from "./resources/tenants/tenants.ts";
import type { MigrateResult, MigrationStatus } from "./storage/migrate.ts";

export type Role = "all" | "api" | "worker";

/** With declared types, one of them with its data; without, any event. */
export type PublishInputOf<Declared, Input> = string extends keyof Declared
  ? Input
  : {
      [Type in keyof Declared & string]: Omit<Input, "type" | "data"> & {
        readonly type: Type;
        readonly data: DataOf<Declared[Type]>;
      };
    }[keyof Declared & string];

/** `Declared` has the event types declared in code. */
export type Posthorn<Declared extends EventDeclarations = EventDeclarations> = PosthornFor<
  PublishInputOf<Declared, PublishInput>,
  PublishInputOf<Declared, UserPublishInput>
>;

/** Generic over its inputs, so that an instance with declared types is assignable to one without. */
export interface PosthornFor<Input, UserInput> {
  /** Migrates the schema, or with `dryRun` returns the pending migrations. */
  migrate(options?: { readonly dryRun?: boolean }): Promise<MigrateResult>;
  migrationStatus(): Promise<MigrationStatus>;
  /** Publishes for a user instead of a tenant: one event for every active tenant of the user, all or none. */
  publish(input: UserInput, options?: { readonly tx?: Transaction }): Promise<UserPublishResult>;
  /** With `tx` the event exists if and only if your transaction commits; without it, the event is durable when this resolves. */
  publish(input: Input, options?: { readonly tx?: Transaction }): Promise<PublishResult>;
  /** Validates all events first: if one is invalid, it throws with a pointer to it, and publishes none. */
  publishMany(inputs: readonly Input[]): Promise<PublishOutcome[]>;
  /** `all` and `worker` deliver; `api` ingests events and leaves the sending to others. Default `all`. */
  start(options?: { readonly role?: Role }): Promise<void>;
  /** Starts nothing new, waits for attempts in flight (up to `graceMs`, default 25 s) and releases the rest. May be called twice. */
  stop(options?: { readonly graceMs?: number }): Promise<void>;
  health(): Promise<Health>;
  /** Returns the metrics of this process and the installation in Prometheus format. */
  metrics(): Promise<string>;
  readonly tenants: Tenants;
  readonly members: Members;
  readonly keys: Keys;
  /** Sessions of the dashboard and the portal, and the one-time links that open them. */
  readonly sessions: Sessions;
  readonly auditLog: AuditLog;
  readonly endpoints: Omit<Endpoints, "disableAfter"> & {
    /** Sends `webhook.test`, or the given event, to this endpoint only, regardless of its event types. */
    test: SendTest;
  };
  readonly eventTypes: EventTypes;
  readonly events: Events & {
    /** Resends the event to an endpoint; if that takes batches, in the next one. */
    resend: ResendEvent;
  };
  readonly deliveries: Deliveries &
    DeliveryChanges & {
      /** Returns the request of an attempt as it was sent, or freshly signed. */
      request: ShowRequest;
    };
  readonly replays: Replays;
  readonly stats: Stats;
  readonly resends: Resends;
  /** Attempts over time, for charts. */
  readonly activity: Activity;
  /** Workers, backlog and failing endpoints. */
  readonly system: System;
  /** The WebSub hub, for HTTP servers. */
  readonly websub: WebSub;
  readonly encryptionKeys: EncryptionKeys;
  /** Key-value metadata of this installation. */
  readonly meta: {
    get(name: string): Promise<string | null>;
    setOnce(name: string, value: string): Promise<string>;
    /** Only if the value is still `from`. */
    replace(name: string, from: string, to: string): Promise<void>;
  };
}

export type PublishOutcome =
  | { readonly ok: true; readonly result: PublishResult }
  | { readonly ok: false; readonly error: PosthornError };

export interface Health {
  readonly ready: boolean;
  readonly reason?: string;
}
