// The composition root: options in, one object out that publishes, delivers and answers questions about both.
import { formatId, parseId, uuidv7 } from "@posthorn/wire";
import { Admission } from "./admission.ts";
import { metadataIn } from "./attempt/guard-address.ts";
import { Catalogue } from "./catalogue/catalogue.ts";
import type { DataOf, EventDeclarations } from "./catalogue/declared-types.ts";
import {
  type Config,
  invalid,
  oneOf,
  type PosthornOptions,
  resolveConfig,
  shown,
  yesOrNo,
} from "./config.ts";
import { refuseUnknown } from "./did-you-mean.ts";
import { Engine } from "./engine.ts";
import { PosthornError } from "./errors.ts";
import { stoppedError } from "./event/publish-errors.ts";
import { publishInTransaction, type Transaction } from "./event/publish-in-transaction.ts";
import type { PublishResult } from "./event/publisher.ts";
import {
  isForUser,
  publishForUser,
  type UserPublishInput,
  type UserPublishResult,
} from "./event/user-event.ts";
import type { PublishInput, ValidEvent } from "./event/validate.ts";
import { deliveryIdOf } from "./fan-out/delivery-id.ts";
import { TEST_TYPE } from "./fan-out/matches.ts";
import type { Event, Uuid } from "./model.ts";
import { createAnnounce } from "./notify/announce.ts";

import { Metrics } from "./observe/metrics.ts";
import { Observer } from "./observe/observer.ts";
import { loadTracing } from "./observe/tracing.ts";

import { createReplays, type Replays } from "./replay/replays.ts";
import { type AuditLog, createAuditLog } from "./resources/audit-log.ts";

import { createDeliveries, type Deliveries } from "./resources/deliveries.ts";
import { closedError, createDeliveryChanges, type DeliveryChanges } from "./resources/delivery-changes.ts";
import { createEndpoints, type Endpoints } from "./resources/endpoints.ts";
import { createEventTypes, type EventTypes, register } from "./resources/event-types.ts";
import { createEvents, type Events } from "./resources/events.ts";
import { CALLS_AT_ONCE, inTurn } from "./resources/in-turn.ts";
import { createKeys, type Keys } from "./resources/keys.ts";
import { createMembers, type Members } from "./resources/members.ts";
import { createMetricsText } from "./resources/metrics-text.ts";
import { createResends, type Resends } from "./resources/resends.ts";
import { createStats, type Stats } from "./resources/stats.ts";
import { createTargets } from "./resources/targets.ts";
import { createTenants, type Tenants } from "./resources/tenants.ts";
import { Clock } from "./service/clock.ts";
import { Turns } from "./service/turns.ts";
import { withinTime } from "./service/within-time.ts";
import { Database, isConflict } from "./storage/database.ts";
import { parseKeyRing } from "./storage/key-ring.ts";
import { type MigrateResult, type MigrationStatus, migrate, migrationStatus } from "./storage/migrate.ts";
import { setCatalogueMode } from "./storage/queries/event-types/write.ts";
import { getMeta, setMetaOnce } from "./storage/queries/meta/meta.ts";
import { oweEvent } from "./storage/queries/queue/owe.ts";
import { translate, translated } from "./translate-errors.ts";

export type Role = "all" | "api" | "worker";

/** With types in code: one of them, with the data it takes. Without: any event. */
export type PublishInputOf<Declared, Input> = string extends keyof Declared
  ? Input
  : {
      [Type in keyof Declared & string]: Omit<Input, "type" | "data"> & {
        readonly type: Type;
        readonly data: DataOf<Declared[Type]>;
      };
    }[keyof Declared & string];

/** `Declared` are the types in code. */
export type Posthorn<Declared extends EventDeclarations = EventDeclarations> = PosthornFor<
  PublishInputOf<Declared, PublishInput>,
  PublishInputOf<Declared, UserPublishInput>
>;

/** By what it takes, so that one with types in code is also one to whoever knows nothing of them. */
export interface PosthornFor<Input, UserInput> {
  /** Brings the schema up to date, or says what would be done. */
  migrate(options?: { readonly dryRun?: boolean }): Promise<MigrateResult>;
  migrationStatus(): Promise<MigrationStatus>;
  /** For a user instead of a tenant: an event for every active tenant of the user, all of them or none. */
  publish(input: UserInput, options?: { readonly tx?: Transaction }): Promise<UserPublishResult>;
  /** With `tx` the event exists if and only if your transaction commits; without, it is durable when this resolves. */
  publish(input: Input, options?: { readonly tx?: Transaction }): Promise<PublishResult>;
  /** All are checked first: one that cannot be published throws, with a pointer to it, and none is. */
  publishMany(inputs: readonly Input[]): Promise<PublishOutcome[]>;
  /** `all` and `worker` deliver; `api` takes events in and leaves the sending to others. Default `all`. */
  start(options?: { readonly role?: Role }): Promise<void>;
  /** Starts nothing new, waits for attempts in flight (25 s unless told), gives back the rest. May be called twice. */
  stop(options?: { readonly graceMs?: number }): Promise<void>;
  health(): Promise<Health>;
  /** What this process counted and how the installation is doing, as Prometheus reads it. */
  metrics(): Promise<string>;
  readonly tenants: Tenants;
  readonly members: Members;
  readonly keys: Keys;
  readonly auditLog: AuditLog;
  readonly endpoints: Omit<Endpoints, "disableAfter"> & {
    /** Sends `webhook.test` to this endpoint, whatever it subscribes to, by the path of every delivery. */
    test(tenant: string, id: string): Promise<{ eventId: string; deliveryId: string }>;
  };
  readonly eventTypes: EventTypes;
  readonly events: Events;
  readonly deliveries: Deliveries & DeliveryChanges;
  readonly replays: Replays;
  readonly stats: Stats;
  readonly resends: Resends;
  /** Small facts about this installation, written once. */
  readonly meta: {
    get(name: string): Promise<string | null>;
    setOnce(name: string, value: string): Promise<string>;
  };
}

export type PublishOutcome =
  | { readonly ok: true; readonly result: PublishResult }
  | { readonly ok: false; readonly error: PosthornError };

export interface Health {
  readonly ready: boolean;
  readonly reason?: string;
}

export function createPosthorn<const Declared extends EventDeclarations>(
  options: PosthornOptions & { readonly events: Declared },
): Posthorn<Declared>;
export function createPosthorn(options: PosthornOptions): Posthorn;
export function createPosthorn(options: PosthornOptions): Posthorn {
  return new Instance(resolveConfig(options));
}

const defaultGraceMs = 25_000;

export class Instance implements Posthorn {
  readonly tenants: Posthorn["tenants"];
  readonly members: Posthorn["members"];
  readonly keys: Posthorn["keys"];
  readonly auditLog: Posthorn["auditLog"];
  readonly endpoints: Posthorn["endpoints"];
  readonly eventTypes: Posthorn["eventTypes"];
  readonly events: Posthorn["events"];
  readonly deliveries: Posthorn["deliveries"];
  readonly replays: Posthorn["replays"];
  readonly stats: Posthorn["stats"];
  readonly resends: Posthorn["resends"];
  readonly meta: Posthorn["meta"];
  readonly metrics: Posthorn["metrics"];
  readonly db: Database;
  readonly clock = new Clock();
  readonly observer: Observer;
  readonly #config: Config;
  readonly #catalogue: Catalogue;
  readonly #admission: Admission;
  readonly #newEngine: (delivers: boolean) => Engine;
  #engine: Engine | undefined;
  /** Undefined when it is known whether there is OpenTelemetry. */
  #loadingTracing: Promise<void> | undefined;
  #starting: Promise<void> | undefined;
  #stopping: Promise<void> | undefined;

  constructor(config: Config) {
    this.#config = config;
    const metrics = new Metrics({ labelsEndpoints: config.metricsEndpointLabel });
    this.db = new Database({
      database: config.database,
      schema: config.schema,
      onError: (kind) => metrics.databaseFailed(kind),
    });
    const { db, clock } = this;
    const { declaredTypes: declared } = config;
    const catalogue = new Catalogue({ db, mode: config.catalogue, declared });
    this.#catalogue = catalogue;
    this.#admission = new Admission({ catalogue, declared, schema: db.schema, nowMs: () => clock.nowMs() });
    this.observer = new Observer({ metrics, logger: config.logger, nowMs: () => clock.nowMs() });
    this.#loadingTracing = loadTracing(config.logger).then((tracing) => {
      this.observer.tracing = tracing;
      this.#loadingTracing = undefined;
    });
    this.metrics = createMetricsText({
      db,
      metrics,
      logger: config.logger,
      inFlight: () => this.#engine?.inFlight ?? 0,
    });
    const keyRing = parseKeyRing(config.encryptionKeys);
    const defaults = config.endpointDefaults;
    const targets = createTargets({ db, keyRing, defaults });
    const endpoints = createEndpoints({
      db,
      keyRing,
      defaults,
      addressPolicy: config.addressPolicy,
      nowMs: () => clock.nowMs(),
      maxPerTenant: config.maxEndpointsPerTenant,
      hiding: () => catalogue.hiding(),
      announce: createAnnounce(config),
      onChanged: ({ owner }) => this.#engine?.tellOfChange(owner),
      onDisabled: () => this.#engine?.tellOfNotices(),
    });
    const tenants = createTenants({ db, onChanged: (owner) => this.#engine?.tellOfChange(owner) });
    const deliveries = createDeliveries({ db, catalogue });
    const changes = createDeliveryChanges({
      db,
      find: deliveries.get,
      onOwed: (endpointId, owner) => this.#engine?.tell(endpointId, owner),
      onChanged: (owner) => this.#engine?.tellOfChange(owner),
    });
    const replays = createReplays({
      db,
      nowMs: () => clock.nowMs(),
      loadRoutes: targets.ofTenants,
      onStarted: () => this.#engine?.tellOfReplay(),
    });
    const test = async (tenant: string, id: string) => {
      await endpoints.get(tenant, id);
      return await this.#test(tenant, id);
    };
    const turns = new Turns(CALLS_AT_ONCE);
    const opened = <Resource extends object>(resource: Resource): Resource =>
      translated(inTurn(resource, turns), this.#translate);
    this.tenants = opened(tenants);
    this.members = opened(createMembers(db));
    // out of turn: who asks has to be known before they can wait
    this.keys = translated(createKeys({ db, nowMs: () => clock.nowMs() }), this.#translate);
    this.auditLog = opened(createAuditLog({ db }));
    this.endpoints = opened({ ...endpoints, test });
    this.eventTypes = opened(createEventTypes({ db, catalogue }));
    this.events = opened(createEvents({ db, catalogue }));
    this.deliveries = opened({ ...deliveries, ...changes });
    this.replays = opened(replays);
    this.stats = opened(createStats({ db }));
    this.resends = opened(createResends(db));
    this.meta = translated(
      {
        get: (name: string) => getMeta(db, name),
        setOnce: (name: string, value: string) => setMetaOnce(db, name, value),
      },
      this.#translate,
    );
    const { observer } = this;
    this.#newEngine = (delivers) =>
      new Engine({ config, db, clock, observer, targets, endpoints, catalogue, delivers });
  }

  get engine(): Engine | undefined {
    return this.#engine;
  }

  async migrate(options: { readonly dryRun?: boolean } = {}): Promise<MigrateResult> {
    refuseUnknown("migrate has no option", options, ["dryRun"]);
    const dryRun = yesOrNo("dryRun", options.dryRun ?? false);
    return await migrate(this.db, { dryRun }).catch(this.#rethrow);
  }

  async migrationStatus(): Promise<MigrationStatus> {
    return await migrationStatus(this.db).catch(this.#rethrow);
  }

  publish(input: UserPublishInput, options?: { readonly tx?: Transaction }): Promise<UserPublishResult>;
  publish(input: PublishInput, options?: { readonly tx?: Transaction }): Promise<PublishResult>;
  async publish(
    input: PublishInput | UserPublishInput,
    options?: { readonly tx?: Transaction },
  ): Promise<PublishResult | UserPublishResult> {
    if (options !== undefined) checkPublishOptions(options);
    // a tx that is there and undefined was meant to be one, and is refused
    const own = options !== undefined && "tx" in options ? { tx: options.tx as Transaction } : undefined;
    if (isForUser(input)) return await this.#publishForUser(input, own);
    const admitted = this.#admission.admit(input, own);
    if (own !== undefined) {
      // errors of the caller's own transaction come as its client throws them
      const { tx } = own;
      return await this.#traced(await admitted, (event) => publishInTransaction(tx, this.db.schema, event));
    }
    const event = admitted instanceof Promise ? await admitted.catch(this.#rethrow) : admitted;
    return await this.#publishAlone(event);
  }

  async #publishForUser(
    input: UserPublishInput,
    own: { readonly tx: Transaction } | undefined,
  ): Promise<UserPublishResult> {
    const admitted = this.#admission.admitForUser(input, own);
    const publish = async (tx: Transaction) =>
      await publishForUser(tx, this.db.schema, input.user, await admitted);
    if (own !== undefined) return await publish(own.tx);
    await admitted.catch(this.#rethrow);
    if (this.#stopping !== undefined) throw stoppedError();
    const inTransaction = () => this.db.inOwnTransaction(publish);
    // events of a batch take their locks in another order than these: one of the two has to begin again
    const published = await inTransaction()
      .catch((error: unknown) => (isConflict(error) ? inTransaction() : Promise.reject(error)))
      .catch(this.#rethrow);
    this.#engine?.tellOfOutbox();
    return published;
  }

  /** The event goes on with the span's place in the trace, if there is one. */
  async #traced(
    valid: ValidEvent,
    publish: (event: ValidEvent) => Promise<PublishResult>,
  ): Promise<PublishResult> {
    if (this.#loadingTracing !== undefined) await this.#loadingTracing;
    const span = this.observer.publishing(valid.event);
    if (span === null) return await publish(valid);
    try {
      const result = await publish({ ...valid, event: { ...valid.event, traceparent: span.traceparent } });
      span.end({ "posthorn.duplicate": result.duplicate });
      return result;
    } catch (error) {
      span.end({}, (error as { code?: string }).code ?? "error");
      throw error;
    }
  }

  async publishMany(inputs: readonly PublishInput[], ...more: unknown[]): Promise<PublishOutcome[]> {
    if (more[0] !== undefined) {
      throw invalid(
        "publishMany takes no options. In a transaction, call publish(event, { tx }) for each event.",
      );
    }
    const admitted = this.#admission.admitAll(inputs);
    const events = admitted instanceof Promise ? await admitted.catch(this.#rethrow) : admitted;
    if (this.#engine !== undefined)
      return await Promise.all(events.map((event) => this.#tryToPublish(event)));
    // each in a transaction of its own: one after the other, or events of a subject would not be in the order given
    const outcomes: PublishOutcome[] = [];
    for (const event of events) outcomes.push(await this.#tryToPublish(event));
    return outcomes;
  }

  async #tryToPublish(event: ValidEvent): Promise<PublishOutcome> {
    try {
      return { ok: true, result: await this.#publishAlone(event) };
    } catch (error) {
      if (error instanceof PosthornError) return { ok: false, error };
      throw error;
    }
  }

  async start(options: { readonly role?: Role } = {}): Promise<void> {
    refuseUnknown("start has no option", options, ["role"]);
    const role = oneOf("role", options.role ?? "all", ["all", "api", "worker"]);
    if (this.#stopping !== undefined) throw stoppedForGood();
    this.#starting ??= this.#start(role).catch((error) => {
      this.#starting = undefined;
      throw this.#translate(error);
    });
    await this.#starting;
  }

  async #start(role: Role): Promise<void> {
    const { pending } = await this.migrationStatus();
    if (pending.length > 0) {
      throw new PosthornError(
        "schema_missing",
        `The schema "${this.db.schema}" lacks ${pending.length} migration(s): call migrate() or run "posthorn migrate" first.`,
      );
    }
    this.#warnOfMetadata();
    await register(this.db, this.#catalogue, this.#config.declaredTypes);
    await setCatalogueMode(this.db, this.#config.catalogue);
    await this.#loadingTracing;
    const engine = this.#newEngine(role !== "api" && this.#config.enabled);
    try {
      await engine.start();
    } catch (error) {
      await engine.stop(0);
      throw error;
    }
    this.#engine = engine;
  }

  #warnOfMetadata(): void {
    const { addressPolicy, logger } = this.#config;
    const refused = metadataIn(addressPolicy);
    if (refused.length === 0) return;
    logger.warn(
      "allowCidrs (POSTHORN_ALLOW_CIDRS) contains addresses of cloud metadata; these stay refused, whatever is allowed",
      { refused },
    );
  }

  async stop(options: { readonly graceMs?: number } = {}): Promise<void> {
    refuseUnknown("stop has no option", options, ["graceMs"]);
    this.#stopping ??= this.#stop(readGrace(options.graceMs ?? defaultGraceMs));
    await this.#stopping;
  }

  async health(): Promise<Health> {
    if (this.#stopping !== undefined) return { ready: false, reason: "stopping" };
    if (this.db.isEnded) return { ready: false, reason: "the pool was ended" };
    if (this.#engine !== undefined) {
      return this.#engine.isHealthy
        ? { ready: true }
        : { ready: false, reason: "the database cannot be reached or written to" };
    }
    try {
      const { pending } = await this.migrationStatus();
      return pending.length === 0
        ? { ready: true }
        : { ready: false, reason: "the database has not been migrated" };
    } catch {
      return { ready: false, reason: "the database cannot be reached" };
    }
  }

  async #stop(graceMs: number): Promise<void> {
    // whoever started it is told of errors
    if (this.#engine === undefined) await this.#starting?.catch(() => {});
    // A pool that was ended under us answers no more: what waits for it would wait for ever.
    await withinTime(graceMs + 10_000, this.#engine?.stop(graceMs));
    await withinTime(5_000, this.db.close());
  }

  async #publishAlone(event: ValidEvent): Promise<PublishResult> {
    if (this.#stopping !== undefined) throw stoppedError();
    return await this.#traced(event, (traced) => {
      if (this.#engine !== undefined) return this.#engine.publish(traced);
      // Not started here: the event waits in the outbox for a process that is.
      return this.db
        .inOwnTransaction((tx) => publishInTransaction(tx, this.db.schema, traced))
        .catch(this.#rethrow);
    });
  }

  async #test(tenant: string, id: string): Promise<{ eventId: string; deliveryId: string }> {
    const endpointId = parseId("ep", id) as Uuid;
    const nowMs = this.clock.nowMs();
    const event: Event = {
      id: uuidv7(nowMs),
      tenant,
      type: TEST_TYPE,
      apiVersion: "1",
      subject: null,
      sequence: null,
      payload: Buffer.from(JSON.stringify({ message: "This is a test event.", endpoint_id: id })),
      createdAt: new Date(nowMs),
    };
    const delivery = { id: deliveryIdOf(event.id, endpointId), endpointId, trigger: "test" } as const;
    const result = await oweEvent(this.db, event, delivery);
    if (result.kind === "closed") throw closedError(result.because, "send the test event");
    this.#engine?.tell(endpointId, result.owner);
    return { eventId: formatId("evt", event.id), deliveryId: formatId("dlv", delivery.id) };
  }

  /** After stop() an own pool has ended: that is no outage, and waiting does not help. */
  #translate = (error: unknown): unknown => {
    const told = translate(error);
    return told === error || this.#stopping === undefined ? told : stoppedForGood(error);
  };

  #rethrow = (error: unknown): never => {
    throw this.#translate(error);
  };
}

function checkPublishOptions(options: object): void {
  if (typeof (options as { query?: unknown } | null)?.query === "function") {
    throw invalid(
      "publish was given a client in place of its options, and the event would be outside your transaction: write publish(event, { tx: client }).",
    );
  }
  refuseUnknown("publish has no option", options, publishOptionNames);
}

const publishOptionNames = ["tx"];

/** A timer of more milliseconds than this ends at once. */
const longestGraceMs = 2 ** 31 - 1;

function readGrace(graceMs: number): number {
  if (typeof graceMs === "number" && graceMs >= 0 && graceMs <= longestGraceMs) return graceMs;
  throw invalid(`graceMs must be a number from 0 to ${longestGraceMs}; it is ${shown(graceMs)}.`);
}

function stoppedForGood(cause?: unknown): PosthornError {
  return new PosthornError("stopped", "This Posthorn was stopped; create a new one to start again.", {
    cause,
  });
}
