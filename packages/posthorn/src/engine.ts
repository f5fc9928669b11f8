// A started instance: starts, connects and stops the stages in order.

import { performance } from "node:perf_hooks";
import { Dispatchers } from "./attempt/dispatcher.ts";
import type { AddressPolicy } from "./attempt/guard/guard-address.ts";
import { Batcher } from "./batching/batcher.ts";
import { type Catalogue, REFRESH_MS } from "./catalogue/catalogue.ts";
import type { Config } from "./config.ts";
import { ModeFollower } from "./delivery/mode-follower.ts";
import type { Stages } from "./delivery/pipeline.ts";
import { Worker } from "./delivery/worker.ts";
import type { DestinationService } from "./destinations/destination.ts";
import { createFanOut } from "./fan-out/fan-out.ts";
import { Relay } from "./fan-out/relay.ts";
import { Routes } from "./fan-out/routes.ts";
import { Maintenance } from "./maintenance/maintenance.ts";
import type { DeliveryMode, Uuid } from "./model.ts";
import { createAlertChannel } from "./notify/alert-channel.ts";
import { channelNames } from "./notify/channel-names.ts";
import { IncidentReporter } from "./notify/incident-reporter.ts";
import { createMailChannel } from "./notify/mail-channel.ts";
import { type Channel, Notifier } from "./notify/notifier.ts";
import type { Observer } from "./observe/observer.ts";
import { createPoller } from "./poller.ts";
import type { Admission } from "./publish/admission.ts";
import { Publishers } from "./publish/publishers.ts";
import { Replayer } from "./replay/replayer.ts";
import type { Endpoints } from "./resources/endpoints/endpoints.ts";
import type { Targets } from "./resources/endpoints/targets.ts";
import type { Clock } from "./service/clock.ts";
import { Loop, POLLED_MS } from "./service/loop.ts";
import { Source } from "./sources/source.ts";
import type { Database } from "./storage/database.ts";
import { findTenant } from "./storage/queries/tenants.ts";

export interface EngineOptions {
  readonly config: Config;
  readonly db: Database;
  readonly clock: Clock;
  readonly observer: Observer;
  readonly targets: Targets;
  readonly endpoints: Pick<Endpoints, "disableAfter">;
  readonly catalogue: Catalogue;
  readonly admission: Pick<Admission, "admit" | "admitUnchecked">;
  /** For URLs that come from anonymous parties. */
  readonly untrustedPolicy: AddressPolicy;
  /** Creates the background work of the destinations. */
  readonly createServices: (engine: EngineAccess) => readonly DestinationService[];
  /** False in a process that ingests events and leaves the sending to others. */
  readonly delivers: boolean;
}

/** The part of the engine that the background work of destinations uses. */
export type EngineAccess = Pick<Engine, "publishers" | "dispatchers" | "notifySettingsChanged">;

/** Returns a function for the share of time since its last call in which the event loop was busy. */
function eventLoopUtilisation(): () => number {
  let before = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    return utilization;
  };
}

/** Requests of services that are in flight when delivery is turned off. */
const SERVICE_GRACE_MS = 5_000;

export class Engine {
  readonly dispatchers: Dispatchers;
  readonly worker: Worker;
  readonly publishers: Publishers;
  /** Woken when events were added to the outbox. */
  readonly relay: Relay;
  readonly #batcher: Batcher;
  readonly maintenance: Maintenance;
  /** Woken when a replay was started; if another process leads, it notices within a second. */
  readonly replayer: Replayer;
  readonly #incidents: IncidentReporter;
  /** Woken when an endpoint was disabled, and people have to be notified. */
  readonly notifier: Notifier;
  readonly deliveryMode: ModeFollower;
  /** Empty while nothing is sent. */
  #services: readonly DestinationService[] = [];
  readonly #sources: readonly Source[];
  readonly #catalogueLoop: Loop;
  /** Finds work of other processes whose notifications were lost. */
  readonly poller: Loop;
  readonly #options: EngineOptions;
  readonly #abort = new AbortController();
  #isStopping = false;

  constructor(options: EngineOptions) {
    const { config, db, clock, observer, targets, endpoints, delivers } = options;
    const { logger } = config;
    this.#options = options;
    // Endpoints may share a host: none waits for a connection because another is slow.
    this.dispatchers = new Dispatchers({
      policy: config.addressPolicy,
      untrustedPolicy: options.untrustedPolicy,
      connectionsPerOrigin: config.concurrency,
    });
    const stages: Stages = {
      redact: (event) => options.catalogue.redact(event),
      nowMs: () => clock.nowMs(),
      observer,
      dispatchers: this.dispatchers,
      signal: this.#abort.signal,
    };
    this.worker = new Worker({
      db,
      clock,
      logger,
      observer,
      targets,
      endpoints,
      delivers,
      concurrency: config.concurrency,
      leaseMs: config.leaseMs,
      reports: config.reports,
      utilisation: eventLoopUtilisation(),
      stages,
      onOutboxNotified: () => this.relay.notified(),
      storePassed: (events) => this.publishers.storePassed(events),
    });
    const onQueued = (endpointId: Uuid, owner: number | null) =>
      this.worker.notifyDueDelivery(endpointId, owner);
    this.#batcher = new Batcher({
      db,
      logger,
      loadTargets: (ids) => targets.byIds(ids),
      defaults: { format: config.endpointDefaults.format, ...config.endpointDefaults.batch },
      nowMs: () => clock.nowMs(),
      onQueued,
    });
    const fanOut = createFanOut({
      db,
      observer,
      lanes: this.worker,
      onCollected: (collected) => {
        // a process that does not deliver looks for batches from its first batched event on
        void this.#batcher.start();
        this.#batcher.note(collected);
      },
      routes: new Routes(targets.ofTenants),
      isDropping: () => this.deliveryMode.mode === "drop",
      storing: (store) => this.deliveryMode.storing(store),
      onDropped: (events) => {
        observer.metrics.dropped(events);
        this.deliveryMode.noteDropped(events);
      },
    });
    const ingest = { db, logger, fanOut, onLostReply: () => this.worker.reconcileSoon() };
    this.publishers = new Publishers({ ...ingest, lanes: this.worker });
    this.relay = new Relay({
      ...ingest,
      observer,
      problemsAsRegistered: (events) => options.catalogue.problemsAsRegistered(events),
    });
    this.deliveryMode = new ModeFollower({
      db,
      logger,
      setting: config.deliveryMode,
      onChanged: (mode) => this.#apply(mode),
    });
    const services = options.createServices(this);
    this.#services = delivers ? services : [];
    this.maintenance = new Maintenance({
      db,
      logger,
      workerId: () => this.worker.workerId,
      nowMs: () => clock.nowMs(),
      retention: config.retention,
      others: Object.assign({}, ...services.map(({ maintenanceTasks }) => maintenanceTasks)),
    });
    this.replayer = new Replayer({
      nowMs: () => clock.nowMs(),
      db,
      logger,
      loadRoutes: targets.ofTenants,
      leads: () => this.maintenance.leads,
      onQueued,
    });
    this.#sources = config.sources.map(
      (source) =>
        new Source({
          db,
          logger,
          config: source,
          workerId: () => this.worker.workerId,
          admission: options.admission,
          observer,
          onStored: () => this.relay.wake(),
        }),
    );
    this.#incidents = new IncidentReporter({
      db,
      logger,
      operatorTenant: config.operatorTenant,
      channels: channelNames(config),
      leads: () => this.maintenance.leads,
    });
    this.notifier = new Notifier({ db, logger, channels: this.#channels() });
    this.#catalogueLoop = new Loop({
      name: "reading the catalogue",
      intervalMs: POLLED_MS,
      logger,
      step: async () => {
        await options.catalogue.refresh();
        return false;
      },
    });
    this.poller = createPoller({
      db,
      logger,
      // without an outbox to relay, only the catalogue needs frequent polls
      intervalMs: delivers ? 100 : REFRESH_MS,
      loops: [
        {
          hasWork: ({ deliveryModeVersion }) => this.deliveryMode.isBehind(deliveryModeVersion),
          wake: () => this.deliveryMode.wake(),
          everyMs: 0,
        },
        {
          hasWork: ({ catalogueVersion }) => catalogueVersion !== options.catalogue.version,
          wake: () => this.#catalogueLoop.wake(),
          everyMs: 0,
        },
        { hasWork: ({ hasWaitingEvents }) => hasWaitingEvents, wake: () => this.relay.wake(), everyMs: 0 },
        {
          hasWork: ({ hasReadyLanes }) => hasReadyLanes,
          wake: () => this.worker.claimLanes(),
          everyMs: 500,
        },
        {
          hasWork: ({ hasPendingBatches }) => hasPendingBatches,
          wake: () => this.#batcher.wake(),
          everyMs: 1_000,
        },
        {
          hasWork: ({ hasDueReplays }) => hasDueReplays,
          wake: () => this.replayer.wake(),
          everyMs: 1_000,
        },
        {
          hasWork: ({ hasIncidents }) => hasIncidents,
          wake: () => this.#incidents.wake(),
          everyMs: 1_000,
        },
      ],
    });
  }

  #channels(): Channel[] {
    const { db, config } = this.#options;
    const { logger, sendMail, alertWebhookUrl, userAgent } = config;
    const channels: Channel[] = [];
    if (sendMail !== null) channels.push(createMailChannel({ db, logger, sendMail, links: config }));
    if (alertWebhookUrl !== null) {
      channels.push(
        createAlertChannel({
          url: alertWebhookUrl,
          userAgent,
          links: config,
          send: (request, signal) => this.dispatchers.send(request, signal),
        }),
      );
    }
    return channels;
  }

  async start(): Promise<void> {
    const { delivers, targets, catalogue } = this.#options;
    if (delivers) await targets.checkKeys();
    await catalogue.refresh();
    catalogue.keepFresh(true);
    await this.#catalogueLoop.start();
    await this.deliveryMode.start();
    await this.worker.start();
    if (!this.isSending) await this.worker.hold();
    await this.maintenance.start();
    await this.replayer.start();
    await this.#incidents.start();
    await this.notifier.start();
    await this.#lookForOperators();
    if (delivers) {
      await this.#batcher.start();
      await this.relay.start();
      if (this.isSending) await this.#startServices();
    }
    await this.poller.start();
    for (const source of this.#sources) await source.start();
  }

  /** False while delivery is off for the whole installation. */
  get isSending(): boolean {
    return this.deliveryMode.mode === "on";
  }

  async #apply(mode: DeliveryMode): Promise<void> {
    if (this.#isStopping) return;
    if (mode === "on") {
      this.worker.resume();
      await this.#startServices();
    } else {
      await this.worker.hold();
      await this.#endServices();
    }
  }

  /** Events of an unknown tenant are stored without deliveries, which would go unnoticed here. */
  async #lookForOperators(): Promise<void> {
    const { config, db } = this.#options;
    const { operatorTenant, logger } = config;
    if (operatorTenant === null || (await findTenant(db, operatorTenant)) !== null) return;
    logger.warn("the operator tenant does not exist: it receives no system events until it is created", {
      operatorTenant,
    });
  }

  /** Starts nothing new; attempts in flight may end within the grace period, and the rest is released. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    await this.#stopServices(true, graceMs);
    await Promise.all(this.#sources.map((source) => source.stop()));
    await this.publishers.stop();
    await this.poller.stop();
    await this.relay.stop();
    await this.#batcher.stop();
    await this.replayer.stop();
    await this.#incidents.stop();
    await this.deliveryMode.stop();
    this.#options.catalogue.keepFresh(false);
    await this.#catalogueLoop.stop();
    await this.maintenance.stop();
    const abort = setTimeout(() => this.#abort.abort(), graceMs);
    await Promise.all([
      this.worker.stop(graceMs),
      this.notifier.stop(graceMs),
      this.#stopServices(false, graceMs),
    ]);
    clearTimeout(abort);
    this.#abort.abort();
    await this.dispatchers.close();
  }

  /** A service that was stopped is not started again: there are new ones after each hold. */
  async #startServices(): Promise<void> {
    if (!this.#options.delivers) return;
    if (this.#services.length === 0) this.#services = this.#options.createServices(this);
    for (const service of this.#services) await service.start();
  }

  async #endServices(): Promise<void> {
    const ended = this.#services;
    this.#services = [];
    await Promise.all(ended.map((service) => service.stop(SERVICE_GRACE_MS)));
  }

  async #stopServices(thatPublish: boolean, graceMs: number): Promise<void> {
    const stopping = this.#services.filter(({ publishes }) => publishes === thatPublish);
    await Promise.all(stopping.map((service) => service.stop(graceMs)));
  }

  /** An endpoint's settings changed; `owner` is the worker that owns its lane. */
  notifySettingsChanged(owner: number | null): void {
    this.worker.notifySettingsChanged(owner);
    this.wakeServices();
  }

  /** An existing event waits for its batch. */
  wakeBatcher(): void {
    void this.#batcher.start();
    this.#batcher.wake();
  }

  /** The destinations' services may have work; other processes poll for it. */
  wakeServices(): void {
    for (const service of this.#services) service.wake();
  }

  /** The mode of delivery was changed here; other processes poll for it. */
  followDeliveryMode(): void {
    this.deliveryMode.wake();
  }

  /** Does now what the loops do periodically; resolves when no claimed delivery is left in memory. */
  async runAllDue(): Promise<void> {
    await this.deliveryMode.runNow();
    for (const service of this.#services) await service.runNow();
    await this.relay.runNow();
    await this.replayer.runNow();
    await this.#batcher.runNow();
    await this.worker.runNow();
    await this.worker.whenIdle();
    await this.#incidents.runNow();
    await this.notifier.runNow();
  }
}
