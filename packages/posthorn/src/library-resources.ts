// Connects the resources of the library with each other and with the engine, which may not have been started.
import { createLookUpHosts } from "./attempt/guard/look-up-hosts.ts";
import type { Resolve } from "./attempt/guard/resolve-name.ts";
import type { Catalogue } from "./catalogue/catalogue.ts";
import type { Config } from "./config.ts";
import type { DestinationKinds } from "./destination-kinds.ts";
import { createWebSub } from "./destinations/websub/websub.ts";
import type { Engine } from "./engine.ts";
import type { Uuid } from "./model.ts";
import { createAnnounce } from "./notify/announce.ts";
import type { Observer } from "./observe/observer.ts";
import type { Publishing } from "./publish/publishing.ts";
import { createReplays } from "./replay/replays.ts";
import { createAuditLog } from "./resources/access/audit-log.ts";
import { createEncryptionKeys } from "./resources/access/encryption-keys.ts";
import { createKeys } from "./resources/access/keys.ts";
import { createRecordChange } from "./resources/access/record-change.ts";
import { createSessions } from "./resources/access/sessions.ts";
import { createContracts } from "./resources/contract/contracts.ts";
import { type AttemptQuery, attemptsOf } from "./resources/deliveries/attempts.ts";
import { createDeadLetters } from "./resources/deliveries/dead-letters.ts";
import { createDeliveries } from "./resources/deliveries/deliveries.ts";
import { createDeliveryChanges } from "./resources/deliveries/delivery-changes.ts";
import {
  limitConcurrency,
  MAX_CONCURRENT_ANONYMOUS_CALLS,
  MAX_CONCURRENT_CALLS,
} from "./resources/deliveries/limit-concurrency.ts";
import { createResendEvent } from "./resources/deliveries/resend-event.ts";
import { createResends } from "./resources/deliveries/resends.ts";
import { createShowRequest } from "./resources/deliveries/sent-request.ts";
import { createDeliveryModes } from "./resources/delivery-mode/delivery-mode.ts";
import { createEndpoints, type Endpoints } from "./resources/endpoints/endpoints.ts";
import type { Targets } from "./resources/endpoints/targets.ts";
import { withHostLookups } from "./resources/endpoints/with-host-lookups.ts";
import { createEventTypes } from "./resources/event-types/event-types.ts";
import { createResendEdited } from "./resources/events/edited-event.ts";
import { createEventChanges } from "./resources/events/event-changes.ts";
import { createEvents } from "./resources/events/events.ts";
import { createRejectedEvents } from "./resources/events/rejected-events.ts";
import { createSendTest } from "./resources/events/test-event.ts";
import { createSources } from "./resources/sources/sources.ts";
import { createActivity } from "./resources/stats/activity.ts";
import { createMetricsText } from "./resources/stats/metrics-text.ts";
import { createStats } from "./resources/stats/stats.ts";
import { createSystem } from "./resources/stats/system.ts";
import { createMembers } from "./resources/tenants/members.ts";
import { createTenants } from "./resources/tenants/tenants.ts";
import type { Clock } from "./service/clock.ts";
import { Semaphore } from "./service/semaphore.ts";
import type { Database } from "./storage/database.ts";
import type { KeyRing } from "./storage/key-ring.ts";
import { migrationStatus } from "./storage/migrate.ts";
import { getMetadata, replaceMetadata, setMetadataOnce } from "./storage/queries/metadata/metadata.ts";
import { translated } from "./translate-errors.ts";

export interface LibraryResourcesOptions {
  readonly config: Config;
  readonly db: Database;
  readonly clock: Clock;
  readonly observer: Observer;
  readonly catalogue: Catalogue;
  readonly keyRing: KeyRing;
  readonly targets: Targets;
  readonly kinds: DestinationKinds;
  readonly publishing: Publishing;
  /** Undefined until the instance is started. */
  readonly engine: () => Engine | undefined;
  readonly translate: (error: unknown) => unknown;
  readonly resolve: Resolve;
}

/** Every part of the library that is not a method of the instance itself. */
export type LibraryResources = Readonly<ReturnType<typeof createLibraryResources>["resources"]>;

/** `endpoints` is for the engine: without a limit on concurrent calls. */
export function createLibraryResources(options: LibraryResourcesOptions) {
  const { config, db, clock, observer, catalogue, keyRing, targets, kinds, engine, translate } = options;
  const { subscriptions } = kinds;
  const { apiVersion } = config;
  const nowMs = () => clock.nowMs();
  const onOwnerChanged = (owner: number | null) => engine()?.notifySettingsChanged(owner);
  const onQueued = (endpointId: Uuid, owner: number | null) =>
    engine()?.worker.notifyDueDelivery(endpointId, owner);
  const onRevoked = () => engine()?.wakeServices();
  const endpoints = createEndpoints({
    db,
    keyRing,
    subscriptions,
    nowMs,
    defaults: config.endpointDefaults,
    addressPolicy: config.addressPolicy,
    maxPerTenant: config.maxEndpointsPerTenant,
    typeProblems: () => catalogue.typeProblems(),
    hiding: () => catalogue.hiding(),
    announce: createAnnounce(config),
    onChanged: ({ owner }) => onOwnerChanged(owner),
    onDisabled: () => engine()?.notifier.wake(),
    onRevoked,
  });
  const deliveryMode = createDeliveryModes({
    db,
    setting: config.deliveryMode,
    onChanged: () => engine()?.followDeliveryMode(),
  });
  const modeInEffect = async () => (await deliveryMode.get()).mode;
  const isSending = async () => (await modeInEffect()) === "on";
  const deliveries = createDeliveries({ db, catalogue, isSending });
  const request = createShowRequest({
    db,
    catalogue,
    targetAt: targets.at,
    now: () => clock.now(),
    isTraced: () => observer.spans !== null,
  });
  const contracts = createContracts({
    defaults: config.endpointDefaults,
    endpoints,
    apiVersion: config.apiVersion,
    retentionDays: config.retention.retentionDays,
  });
  const changes = createDeliveryChanges({ db, find: deliveries.get, onQueued, onChanged: onOwnerChanged });
  const events = createEvents({ db, catalogue, isSending });
  const releasing = { db, deliveryMode: modeInEffect, onReleased: () => engine()?.relay.wake() };
  const eventChanges = createEventChanges({ ...releasing, find: events.get });
  const rejectedEvents = createRejectedEvents({ ...releasing, nowMs });
  const resend = createResendEvent({
    db,
    events,
    endpoints,
    retry: changes.retry,
    onCollected: () => engine()?.wakeBatcher(),
  });
  const replays = createReplays({
    db,
    nowMs,
    loadRoutes: targets.ofTenants,
    onStarted: () => engine()?.replayer.wake(),
  });
  const system = createSystem({
    db,
    migrationStatus: () => migrationStatus(db),
    retention: config.retention,
    leaseMs: config.leaseMs,
    nowMs,
    isSending,
  });
  const websub = createWebSub({
    db,
    keyRing,
    hub: config.websub,
    nowMs,
    publish: (event) => options.publishing.publishAdmitted(event),
    redactedView: (type) => catalogue.redactedView(type),
    onAccepted: onRevoked,
  });
  const lookUpHosts = createLookUpHosts({ policy: config.addressPolicy, resolve: options.resolve });
  const unlimited = <Resource extends object>(resource: Resource): Resource =>
    translated(resource, translate);
  const calls = new Semaphore(MAX_CONCURRENT_CALLS);
  const limited = <Resource extends object>(resource: Resource, semaphore = calls): Resource =>
    unlimited(limitConcurrency(resource, semaphore));
  const auditLog = limited(createAuditLog({ db }));
  const resources = {
    /** Returns the metrics of this process and the installation in Prometheus format; with `installation: false` only those of this process. */
    metrics: createMetricsText({
      db,
      metrics: observer.metrics,
      logger: config.logger,
      inFlight: () => engine()?.worker.inFlight ?? 0,
      deliveryMode: () => engine()?.deliveryMode.mode ?? "on",
    }),
    tenants: limited(createTenants({ db, subscriptions, onChanged: onOwnerChanged, onRevoked })),
    members: limited(createMembers(db)),
    // authentication must not wait behind other calls
    keys: unlimited(createKeys({ db, nowMs })),
    /** Sessions of the dashboard and the portal, and the one-time links that open them. */
    sessions: unlimited(createSessions({ db })),
    auditLog: { list: auditLog.list },
    endpoints: {
      ...(withHostLookups(limited(endpoints), lookUpHosts) as Omit<Endpoints, "disableAfter">),
      /** Sends `webhook.test`, or the given event, to this endpoint only, regardless of its event types. */
      ...limited({ test: createSendTest({ db, nowMs, apiVersion, onQueued }) }),
    },
    /** What receivers can rely on and must do, computed from the settings in effect. */
    contracts: limited(contracts),
    eventTypes: limited(
      createEventTypes({
        db,
        catalogue,
        apiVersion,
        envelopeFields: config.endpointDefaults.envelopeFields,
      }),
    ),
    events: limited({
      ...events,
      ...eventChanges,
      ...rejectedEvents,
      /** Resends the event to an endpoint; if that takes batches, in the next one. */
      resend,
      /** Sends a copy with other data to one endpoint. It is a new event, marked as edited. */
      resendEdited: createResendEdited({ db, nowMs, catalogue, onQueued }),
    }),
    deliveries: limited({
      ...deliveries,
      ...changes,
      /** Lists attempts, those of the newest delivery first. */
      attempts: (query?: AttemptQuery) => attemptsOf({ db, hiding: () => catalogue.hiding() }, query),
      ...createDeadLetters({ db, nowMs, onChanged: onOwnerChanged }),
      /** Returns the request of an attempt as it was sent, or freshly signed. */
      request,
    }),
    /** Turns delivery off and on for the whole installation. */
    deliveryMode: limited(deliveryMode),
    replays: limited(replays),
    stats: limited(createStats({ db, nowMs })),
    resends: limited(createResends(db)),
    /** Tables and messages of PostgreSQL databases that are published as events. */
    sources: limited(createSources(db)),
    /** Attempts over time, for charts. */
    activity: limited(createActivity({ db, nowMs })),
    /** Workers, backlog and failing endpoints. */
    system: limited(system),
    /** The WebSub hub, for HTTP servers. Anonymous callers must not delay those with a key. */
    websub: limited(websub, new Semaphore(MAX_CONCURRENT_ANONYMOUS_CALLS)),
    encryptionKeys: unlimited(createEncryptionKeys({ db, keyRing, targets })),
    /** Key-value metadata of this installation. */
    meta: unlimited({
      get: (name: string) => getMetadata(db, name),
      setOnce: (name: string, value: string) => setMetadataOnce(db, name, value),
      /** Only if the value is still `from`. */
      replace: (name: string, from: string, to: string) => replaceMetadata(db, name, from, to),
    }),
  };
  const record = createRecordChange({ ...resources, auditLog, logger: config.logger });
  return { endpoints, resources, record };
}
