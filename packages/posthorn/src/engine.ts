// A started Posthorn: the stages tied together, brought up and let down in order.
import { createDispatcher, type Dispatcher } from "./attempt/dispatcher.ts";
import type { Config } from "./config.ts";
import { Worker } from "./delivery/worker.ts";
import { Publisher, type PublishResult } from "./event/publisher.ts";
import type { ValidEvent } from "./event/validate.ts";
import { createFanOut } from "./fan-out/fan-out.ts";
import { Relay } from "./fan-out/relay.ts";
import { Routes } from "./fan-out/routes.ts";
import { Upkeep } from "./maintenance/upkeep.ts";
import type { Uuid } from "./model.ts";
import { deliver } from "./pipeline.ts";
import type { Endpoints } from "./resources/endpoints.ts";
import type { Targets } from "./resources/targets.ts";
import type { Clock } from "./service/clock.ts";
import type { Database } from "./storage/database.ts";

export interface EngineOptions {
  readonly config: Config;
  readonly db: Database;
  readonly clock: Clock;
  readonly targets: Targets;
  readonly endpoints: Pick<Endpoints, "disable">;
  /** False in a process that takes events in and leaves the sending to others. */
  readonly delivers: boolean;
}

export class Engine {
  readonly #dispatcher: Dispatcher;
  readonly #worker: Worker;
  readonly #publisher: Publisher;
  /** Keys may have to be waited for; events without one never wait with them. */
  readonly #keyedPublisher: Publisher;
  readonly #relay: Relay;
  readonly #upkeep: Upkeep;
  readonly #delivers: boolean;
  readonly #targets: Targets;
  readonly #abort = new AbortController();

  constructor({ config, db, clock, targets, endpoints, delivers }: EngineOptions) {
    const { logger, userAgent } = config;
    this.#delivers = delivers;
    this.#targets = targets;
    // Endpoints may share a host: none may wait for a connection because its neighbour is slow.
    this.#dispatcher = createDispatcher({
      policy: config.addressPolicy,
      connectionsPerOrigin: config.concurrency,
    });
    this.#worker = new Worker({
      db,
      clock,
      logger,
      targets,
      endpoints,
      delivers,
      concurrency: config.concurrency,
      leaseMs: config.leaseMs,
      attempt: (delivery, target) =>
        deliver(delivery, target, {
          now: () => clock.now(),
          userAgent,
          send: (request) => this.#dispatcher.send(request, this.#abort.signal),
        }),
      onOutboxHint: () => this.#relay.wake(),
    });
    const fanOut = createFanOut({
      db,
      lanes: this.#worker,
      routes: new Routes((tenants) => targets.ofTenants(tenants)),
    });
    const onTrouble = (): void => this.#worker.noteTrouble();
    this.#publisher = new Publisher({ db, logger, fanOut, onTrouble });
    this.#keyedPublisher = new Publisher({ db, logger, fanOut, onTrouble });
    this.#relay = new Relay({ db, logger, fanOut, onTrouble });
    this.#upkeep = new Upkeep({
      db,
      logger,
      workerId: () => this.#worker.workerId,
      retention: config.retention,
    });
  }

  get isHealthy(): boolean {
    return this.#worker.isHealthy;
  }

  async start(): Promise<void> {
    if (this.#delivers) await this.#targets.checkKeys();
    await this.#worker.start();
    await this.#upkeep.start();
    if (this.#delivers) await this.#relay.start();
  }

  /** Nothing new is started; attempts in flight have the grace to end, the rest is given back. */
  async stop(graceMs: number): Promise<void> {
    await Promise.all([this.#publisher.stop(), this.#keyedPublisher.stop()]);
    await this.#relay.stop();
    await this.#upkeep.stop();
    const abort = setTimeout(() => this.#abort.abort(), graceMs);
    await this.#worker.stop(graceMs);
    clearTimeout(abort);
    this.#abort.abort();
    await this.#dispatcher.close();
  }

  publish(event: ValidEvent): Promise<PublishResult> {
    return (event.idempotency === null ? this.#publisher : this.#keyedPublisher).publish(event);
  }

  /** Settings of an endpoint changed; `owner` is the worker that holds its lane. */
  tellOfChange(owner: number | null): void {
    this.#worker.tellOfChange(owner);
  }

  /** A delivery of this endpoint became owed. */
  tell(endpointId: Uuid, owner: number | null): void {
    this.#worker.tell(endpointId, owner);
  }

  /** Learns the database's time now instead of at the next renewal. */
  async followClock(): Promise<void> {
    await this.#worker.renew();
  }

  /** Of the processes of an installation one tends its tables. */
  get leadsMaintenance(): boolean {
    return this.#upkeep.leads;
  }

  /** Everything maintenance would do by and by, done now if this process leads it. */
  async tidyUp(): Promise<void> {
    await this.#upkeep.turn();
  }

  /** Everything the loops would do by and by, done now; resolves when nothing claimed is left in memory. */
  async settleDown(): Promise<void> {
    await this.#relay.turn();
    await this.#worker.lookNow();
    await this.#worker.quiet();
  }
}
