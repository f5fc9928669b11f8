// The public types of Posthorn, with the event types that an application declares in code.
import type { DataOf, EventDeclarations } from "./catalogue/declared-types.ts";
import type { PublishInput } from "./event/validate.ts";
import type { LibraryResources } from "./library-resources.ts";
import type { PublishResult } from "./publish/pending-events.ts";
import type { PublishStatement } from "./publish/publish-in-transaction.ts";
import type { PublishOutcome } from "./publish/publishing.ts";
import type { Transaction } from "./publish/transaction-libraries.ts";
import type { UserPublishInput, UserPublishResult } from "./publish/user-event.ts";
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
export interface PosthornFor<Input, UserInput> extends LibraryResources {
  /** Migrates the schema, or with `dryRun` returns the pending migrations. */
  migrate(options?: { readonly dryRun?: boolean }): Promise<MigrateResult>;
  migrationStatus(): Promise<MigrationStatus>;
  /** Publishes for a user instead of a tenant: one event for every active tenant of the user, all or none. */
  publish(input: UserInput, options?: { readonly tx?: Transaction }): Promise<UserPublishResult>;
  /** With `tx` the event exists if and only if your transaction commits; without it, the event is durable when this resolves. */
  publish(input: Input, options?: { readonly tx?: Transaction }): Promise<PublishResult>;
  /**
   * For libraries that `tx` does not know, and for batches of statements: returns the statement that publishes. Send it in
   * your transaction. Outside a transaction it stores the event at once.
   */
  publishStatement(input: Input): Promise<PublishStatement>;
  /** Validates all events first: if one is invalid, it throws with a pointer to it, and publishes none. */
  publishMany(inputs: readonly Input[]): Promise<PublishOutcome[]>;
  /** `all` and `worker` deliver; `api` ingests events and leaves the sending to others. Default `all`. */
  start(options?: { readonly role?: Role }): Promise<void>;
  /** Starts nothing new, waits for attempts in flight (up to `graceMs`, default 25 s) and releases the rest. May be called twice. */
  stop(options?: { readonly graceMs?: number }): Promise<void>;
  health(): Promise<Health>;
  /** Returns the resources for changes on behalf of someone else than the option `actor`. */
  as(actor: string): LibraryResources;
}

export interface Health {
  readonly ready: boolean;
  readonly reason?: string;
}
