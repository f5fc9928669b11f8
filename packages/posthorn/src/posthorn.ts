// The composition root: builds one object from the options that publishes, delivers and answers queries.
import { Admission } from "./admission.ts";
import { metadataIn, PUBLIC_ONLY } from "./attempt/guard/guard-address.ts";
import { Catalogue } from "./catalogue/catalogue.ts";
import type { EventDeclarations } from "./catalogue/declared-types.ts";
import { type Config, type PosthornOptions, resolveConfig } from "./config.ts";
import { type DestinationService, registerDestinations } from "./destinations/destination.ts";
import { handshakeKind } from "./destinations/handshake/handshake-webhook.ts";
import { Handshaker, type HandshakerOptions } from "./destinations/handshake/handshaker.ts";
import { webhookKind } from "./destinations/webhook/webhook.ts";
import { createHub } from "./destinations/websub/create-hub.ts";
import { subscriberKind } from "./destinations/websub/subscriber.ts";
import { createWebSub } from "./destinations/websub/websub.ts";
import { refuseUnknown } from "./did-you-mean.ts";
import { Engine, type EngineAccess } from "./engine.ts";
import { PosthornError } from "./errors.ts";
import type { Transaction } from "./event/publish-in-transaction.ts";
import type { PublishResult } from "./event/publisher.ts";
import type { UserPublishInput, UserPublishResult } from "./event/user-event.ts";
import type { PublishInput } from "./event/validate.ts";
import { createAnnounce } from "./notify/announce.ts";
import { Metrics } from "./observe/metrics.ts";
import { Observer } from "./observe/observer.ts";
import { invalid, oneOf, shown, yesOrNo } from "./option-checks.ts";
import type { Health, Posthorn, PublishOutcome, Role } from "./public-types.ts";
import { Publishing } from "./publishing.ts";
import { createReplays } from "./replay/replays.ts";
import { createAuditLog } from "./resources/access/audit-log.ts";
import { createEncryptionKeys } from "./resources/access/encryption-keys.ts";
import { createKeys } from "./resources/access/keys.ts";
import { createSessions } from "./resources/access/sessions.ts";
import { createDeliveries } from "./resources/deliveries/deliveries.ts";
import { createDeliveryChanges } from "./resources/deliveries/delivery-changes.ts";
import {
  limitConcurrency,
  MAX_CONCURRENT_CALLS,
  MAX_CONCURRENT_WEBSUB_CALLS,
} from "./resources/deliveries/limit-concurrency.ts";
import { createResendEvent } from "./resources/deliveries/resend-event.ts";
import { createResends } from "./resources/deliveries/resends.ts";
import { createShowRequest } from "./resources/deliveries/sent-request.ts";
import { createEndpoints } from "./resources/endpoints/endpoints.ts";
import { createTargets } from "./resources/endpoints/targets.ts";
import { createEventTypes, register } from "./resources/event-types/event-types.ts";
import { createEvents } from "./resources/events/events.ts";
import { createSendTest } from "./resources/events/test-event.ts";
import { createActivity } from "./resources/stats/activity.ts";
import { createMetricsText } from "./resources/stats/metrics-text.ts";
import { createStats } from "./resources/stats/stats.ts";
import { createSystem } from "./resources/stats/system.ts";
import { createMembers } from "./resources/tenants/members.ts";
import { createTenants } from "./resources/tenants/tenants.ts";
import { Clock } from "./service/clock.ts";
import { Semaphore } from "./service/semaphore.ts";
import { withTimeout } from "./service/with-timeout.ts";
import { Database } from "./storage/database.ts";
import { type KeyRing, parseKeyRing } from "./storage/key-ring.ts";
import { type MigrateResult, type MigrationStatus, migrate, migrationStatus } from "./storage/migrate.ts";
import { setCatalogueMode } from "./storage/queries/event-types/write.ts";
import { getMetadata, replaceMetadata, setMetadataOnce } from "./storage/queries/metadata/metadata.ts";
import { translate, translated } from "./translate-errors.ts";

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
  readonly sessions: Posthorn["sessions"];
  readonly auditLog: Posthorn["auditLog"];
  readonly endpoints: Posthorn["endpoints"];
  readonly eventTypes: Posthorn["eventTypes"];
  readonly events: Posthorn["events"];
  readonly deliveries: Posthorn["deliveries"];
  readonly replays: Posthorn["replays"];
  readonly stats: Posthorn["stats"];
  readonly resends: Posthorn["resends"];
  readonly activity: Posthorn["activity"];
  readonly system: Posthorn["system"];
  readonly websub: Posthorn["websub"];
  readonly encryptionKeys: Posthorn["encryptionKeys"];
  readonly meta: Posthorn["meta"];
  readonly metrics: Posthorn["metrics"];
  readonly db: Database;
  readonly clock = new Clock();
  readonly observer: Observer;
  readonly #config: Config;
  readonly #catalogue: Catalogue;
  readonly #publishing: Publishing;
  readonly #newEngine: (delivers: boolean) => Engine;
  #engine: Engine | undefined;
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
    const observer = new Observer({ metrics, logger: config.logger, nowMs: () => clock.nowMs() });
    observer.loadTracing();
    this.observer = observer;
    this.#publishing = new Publishing({
      db,
      admission: new Admission({ catalogue, declared, schema: db.schema, nowMs: () => clock.nowMs() }),
      observer,
      engine: () => this.#engine,
      isStopping: () => this.#stopping !== undefined,
      rethrow: this.#rethrow,
    });
    this.metrics = createMetricsText({
      db,
      metrics,
      logger: config.logger,
      inFlight: () => this.#engine?.inFlight ?? 0,
    });
    const keyRing = parseKeyRing(config.encryptionKeys);
    const defaults = config.endpointDefaults;
    const destinationOf = registerDestinations([subscriberKind(config.websub), handshakeKind, webhookKind]);
    const targets = createTargets({ db, keyRing, defaults, destinationOf });
    const endpoints = createEndpoints({
      db,
      keyRing,
      defaults,
      addressPolicy: config.addressPolicy,
      nowMs: () => clock.nowMs(),
      maxPerTenant: config.maxEndpointsPerTenant,
      typeProblems: () => catalogue.typeProblems(),
      hiding: () => catalogue.hiding(),
      announce: createAnnounce(config),
      onChanged: ({ owner }) => this.#engine?.notifySettingsChanged(owner),
      onDisabled: () => this.#engine?.wakeNotifier(),
      onRevoked: () => this.#engine?.wakeServices(),
    });
    const tenants = createTenants({
      db,
      onChanged: (owner) => this.#engine?.notifySettingsChanged(owner),
      onRevoked: () => this.#engine?.wakeServices(),
    });
    const deliveries = createDeliveries({ db, catalogue });
    const request = createShowRequest({
      db,
      catalogue,
      targetAt: targets.at,
      now: () => clock.now(),
      userAgent: config.userAgent,
      isTraced: () => observer.isTracing,
    });
    const changes = createDeliveryChanges({
      db,
      find: deliveries.get,
      onQueued: (endpointId, owner) => this.#engine?.notifyDueDelivery(endpointId, owner),
      onChanged: (owner) => this.#engine?.notifySettingsChanged(owner),
    });
    const replays = createReplays({
      db,
      nowMs: () => clock.nowMs(),
      loadRoutes: targets.ofTenants,
      onStarted: () => this.#engine?.wakeReplayer(),
    });
    const test = createSendTest({
      db,
      find: endpoints.get,
      nowMs: () => clock.nowMs(),
      onQueued: (endpointId, owner) => this.#engine?.notifyDueDelivery(endpointId, owner),
    });
    const turns = new Semaphore(MAX_CONCURRENT_CALLS);
    const opened = <Resource extends object>(resource: Resource): Resource =>
      translated(limitConcurrency(resource, turns), this.#translate);
    this.tenants = opened(tenants);
    this.members = opened(createMembers(db));
    // not limited: authentication must not wait behind other calls
    this.keys = translated(createKeys({ db, nowMs: () => clock.nowMs() }), this.#translate);
    this.sessions = translated(createSessions({ db }), this.#translate);
    this.auditLog = opened(createAuditLog({ db }));
    this.endpoints = opened({ ...endpoints, test });
    this.eventTypes = opened(createEventTypes({ db, catalogue }));
    const events = createEvents({ db, catalogue });
    const resend = createResendEvent({
      db,
      events,
      endpoints,
      retry: changes.retry,
      onCollected: () => this.#engine?.wakeBatcher(),
    });
    this.events = opened({ ...events, resend });
    this.deliveries = opened({ ...deliveries, ...changes, request });
    this.replays = opened(replays);
    this.stats = opened(createStats({ db }));
    this.resends = opened(createResends(db));
    this.activity = opened(createActivity({ db, nowMs: () => clock.nowMs() }));
    this.system = opened(
      createSystem({
        db,
        migrationStatus: () => migrationStatus(db),
        retention: config.retention,
        leaseMs: config.leaseMs,
        nowMs: () => clock.nowMs(),
      }),
    );
    const websub = createWebSub({
      db,
      keyRing,
      hub: config.websub,
      nowMs: () => clock.nowMs(),
      publish: (event) => this.#publishing.publishAdmitted(event),
      redactedView: (type) => catalogue.redactedView(type),
      onTaken: () => this.#engine?.wakeServices(),
    });
    // limited separately: anonymous callers must not delay those with a key
    this.websub = translated(
      limitConcurrency(websub, new Semaphore(MAX_CONCURRENT_WEBSUB_CALLS)),
      this.#translate,
    );
    this.encryptionKeys = translated(createEncryptionKeys({ db, keyRing, targets }), this.#translate);
    this.meta = translated(
      {
        get: (name: string) => getMetadata(db, name),
        setOnce: (name: string, value: string) => setMetadataOnce(db, name, value),
        replace: (name: string, from: string, to: string) => replaceMetadata(db, name, from, to),
      },
      this.#translate,
    );
    this.#newEngine = (delivers) =>
      new Engine({
        config,
        db,
        clock,
        observer,
        targets,
        endpoints,
        catalogue,
        delivers,
        untrustedPolicy: config.websub?.addressPolicy ?? PUBLIC_ONLY,
        createServices: (engine) => this.#destinationServices(engine, keyRing, endpoints.settleHandshake),
      });
  }

  #destinationServices(
    engine: EngineAccess,
    keyRing: KeyRing,
    settleHandshake: HandshakerOptions["settle"],
  ): DestinationService[] {
    const { db, observer } = this;
    const { logger, userAgent, publicUrl, endpointDefaults, websub: hub } = this.#config;
    const send: EngineAccess["send"] = (request, signal) => engine.send(request, signal);
    const { timeoutMs } = endpointDefaults;
    const services: DestinationService[] = [
      new Handshaker({ db, logger, userAgent, publicUrl, timeoutMs, send, settle: settleHandshake }),
    ];
    if (hub === null) return services;
    const webSubHub = createHub({
      db,
      logger,
      keyRing,
      hub,
      userAgent,
      metrics: observer.metrics,
      nowMs: () => this.clock.nowMs(),
      onChanged: ({ owner }) => engine.notifySettingsChanged(owner),
      publish: (event) => engine.publish(event),
      send,
    });
    return [webSubHub, ...services];
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
  publish(
    input: PublishInput | UserPublishInput,
    options?: { readonly tx?: Transaction },
  ): Promise<PublishResult | UserPublishResult> {
    return this.#publishing.publish(input, options);
  }

  publishMany(inputs: readonly PublishInput[], ...more: unknown[]): Promise<PublishOutcome[]> {
    return this.#publishing.publishMany(inputs, more);
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
        `The schema "${this.db.schema}" has ${pending.length} pending migration(s): call migrate() or run "posthorn migrate" first.`,
      );
    }
    this.#warnOfMetadata();
    if (!this.#config.enabled && role !== "api")
      this.#config.logger.warn(
        "delivery is disabled by enabled: false (POSTHORN_ENABLED); events are stored, and nothing is sent",
      );
    await register(this.db, this.#catalogue, this.#config.declaredTypes);
    await setCatalogueMode(this.db, this.#config.catalogue);
    await this.observer.loading;
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
      "allowCidrs (POSTHORN_ALLOW_CIDRS) contains addresses of cloud metadata services, which stay blocked",
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
    // start() reports the error itself
    if (this.#engine === undefined) await this.#starting?.catch(() => {});
    // A pool that was ended by its owner never responds.
    await withTimeout(graceMs + 10_000, this.#engine?.stop(graceMs));
    await withTimeout(5_000, this.db.close());
  }

  /** After stop() the pool is closed: that is not an outage, and retrying does not help. */
  #translate = (error: unknown): unknown => {
    const translated = translate(error);
    return translated === error || this.#stopping === undefined ? translated : stoppedForGood(error);
  };

  #rethrow = (error: unknown): never => {
    throw this.#translate(error);
  };
}

/** A longer timer would fire at once. */
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
