// The composition root: options in, one object out that publishes, delivers and answers questions about both.
import { formatId, parseId, uuidv7 } from "@posthorn/wire";
import { type Config, type PosthornOptions, resolveConfig } from "./config.ts";
import { Engine } from "./engine.ts";
import { PosthornError } from "./errors.ts";
import { publishInTransaction, type Transaction } from "./event/publish-in-transaction.ts";
import type { PublishResult } from "./event/publisher.ts";
import { type PublishInput, type ValidEvent, validate, validateAll } from "./event/validate.ts";
import { deliveryIdOf } from "./fan-out/delivery-id.ts";
import type { Event, Uuid } from "./model.ts";
import { createDeliveries, type Deliveries } from "./resources/deliveries.ts";
import { createEndpoints, type Endpoints } from "./resources/endpoints.ts";
import { createEvents, type Events } from "./resources/events.ts";
import { createTargets } from "./resources/targets.ts";
import { createTenants, type Tenants } from "./resources/tenants.ts";
import { Clock } from "./service/clock.ts";
import { Database } from "./storage/database.ts";
import { parseKeyRing } from "./storage/key-ring.ts";
import { type MigrateResult, type MigrationStatus, migrate, migrationStatus } from "./storage/migrate.ts";
import { getMeta, setMetaOnce } from "./storage/queries/meta/meta.ts";
import { oweAgain, oweEvent } from "./storage/queries/queue/owe.ts";

export type Role = "all" | "api" | "worker";

export interface Posthorn {
  /** Brings the schema up to date, or says what would be done. */
  migrate(options?: { readonly dryRun?: boolean }): Promise<MigrateResult>;
  migrationStatus(): Promise<MigrationStatus>;
  /** With `tx` the event exists if and only if your transaction commits; without, it is durable when this resolves. */
  publish(input: PublishInput, options?: { readonly tx?: Transaction }): Promise<PublishResult>;
  /** All are checked first: one that cannot be published throws, with a pointer to it, and none is. */
  publishMany(inputs: readonly PublishInput[]): Promise<PublishOutcome[]>;
  /** `all` and `worker` deliver; `api` takes events in and leaves the sending to others. Default `all`. */
  start(options?: { readonly role?: Role }): Promise<void>;
  /** Starts nothing new, waits for attempts in flight (25 s unless told), gives back the rest. May be called twice. */
  stop(options?: { readonly graceMs?: number }): Promise<void>;
  health(): Promise<Health>;
  readonly tenants: Tenants;
  readonly endpoints: Omit<Endpoints, "disable"> & {
    /** Sends `webhook.test` to this endpoint, whatever it subscribes to, by the path of every delivery. */
    test(tenant: string, id: string): Promise<{ eventId: string; deliveryId: string }>;
  };
  readonly events: Events;
  readonly deliveries: Deliveries & {
    /** Pending at once with a fresh budget of attempts: the same path as an automatic retry. */
    retry(id: string): Promise<void>;
  };
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

export function createPosthorn(options: PosthornOptions): Posthorn {
  return new Instance(resolveConfig(options));
}

const defaultGraceMs = 25_000;

export class Instance implements Posthorn {
  readonly tenants: Posthorn["tenants"];
  readonly endpoints: Posthorn["endpoints"];
  readonly events: Posthorn["events"];
  readonly deliveries: Posthorn["deliveries"];
  readonly meta: Posthorn["meta"];
  readonly db: Database;
  readonly clock = new Clock();
  readonly #config: Config;
  readonly #newEngine: (delivers: boolean) => Engine;
  #engine: Engine | undefined;
  #starting: Promise<void> | undefined;
  #stopping: Promise<void> | undefined;

  constructor(config: Config) {
    this.#config = config;
    this.db = new Database({ database: config.database, schema: config.schema });
    const { db, clock } = this;
    const keyRing = parseKeyRing(config.encryptionKeys);
    const defaults = config.endpointDefaults;
    const targets = createTargets({ db, keyRing, defaults });
    const endpoints = createEndpoints({
      db,
      keyRing,
      defaults,
      addressPolicy: config.addressPolicy,
      maxPerTenant: config.maxEndpointsPerTenant,
      onChanged: ({ owner }) => this.#engine?.tellOfChange(owner),
    });
    const deliveries = createDeliveries({ db });
    this.tenants = createTenants({ db, onChanged: (owner) => this.#engine?.tellOfChange(owner) });
    this.endpoints = Object.assign(endpoints, {
      test: (tenant: string, id: string) => this.#test(tenant, id),
    });
    this.events = createEvents(db);
    this.deliveries = Object.assign(deliveries, { retry: (id: string) => this.#retry(id) });
    this.meta = { get: (name) => getMeta(db, name), setOnce: (name, value) => setMetaOnce(db, name, value) };
    this.#newEngine = (delivers) => new Engine({ config, db, clock, targets, endpoints, delivers });
  }

  get engine(): Engine | undefined {
    return this.#engine;
  }

  migrate(options: { readonly dryRun?: boolean } = {}): Promise<MigrateResult> {
    return migrate(this.db, options);
  }

  migrationStatus(): Promise<MigrationStatus> {
    return migrationStatus(this.db);
  }

  async publish(input: PublishInput, options: { readonly tx?: Transaction } = {}): Promise<PublishResult> {
    const event = validate(input, this.clock.nowMs());
    if (options.tx !== undefined) return await publishInTransaction(options.tx, this.db.schema, event);
    return await this.#publishAlone(event);
  }

  async publishMany(inputs: readonly PublishInput[]): Promise<PublishOutcome[]> {
    const events = validateAll(inputs, this.clock.nowMs());
    return await Promise.all(
      events.map(async (event): Promise<PublishOutcome> => {
        try {
          return { ok: true, result: await this.#publishAlone(event) };
        } catch (error) {
          if (error instanceof PosthornError) return { ok: false, error };
          throw error;
        }
      }),
    );
  }

  start({ role = "all" }: { readonly role?: Role } = {}): Promise<void> {
    if (this.#stopping !== undefined) return Promise.reject(stoppedForGood());
    this.#starting ??= this.#start(role).catch((error) => {
      this.#starting = undefined;
      throw error;
    });
    return this.#starting;
  }

  async #start(role: Role): Promise<void> {
    const { pending } = await this.migrationStatus();
    if (pending.length > 0) {
      throw new PosthornError(
        "schema_missing",
        `The schema "${this.db.schema}" lacks ${pending.length} migration(s): call migrate() or run "posthorn migrate" first.`,
      );
    }
    const engine = this.#newEngine(role !== "api" && this.#config.enabled);
    try {
      await engine.start();
    } catch (error) {
      await engine.stop(0);
      throw error;
    }
    this.#engine = engine;
  }

  stop({ graceMs = defaultGraceMs }: { readonly graceMs?: number } = {}): Promise<void> {
    this.#stopping ??= this.#stop(graceMs);
    return this.#stopping;
  }

  async health(): Promise<Health> {
    if (this.#stopping !== undefined) return { ready: false, reason: "stopping" };
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
    await this.#engine?.stop(graceMs);
    await this.db.close();
  }

  async #publishAlone(event: ValidEvent): Promise<PublishResult> {
    if (this.#engine !== undefined) return await this.#engine.publish(event);
    // Not started here: the event waits in the outbox for a process that is.
    return await this.db.inOwnTransaction((tx) => publishInTransaction(tx, this.db.schema, event));
  }

  async #test(tenant: string, id: string): Promise<{ eventId: string; deliveryId: string }> {
    const endpoint = await this.endpoints.get(tenant, id);
    if (!endpoint.isActive) {
      throw new PosthornError(
        "endpoint_disabled",
        "The endpoint is disabled; enable it first, then send the test event.",
      );
    }
    const endpointId = parseId("ep", id) as Uuid;
    const nowMs = this.clock.nowMs();
    const event: Event = {
      id: uuidv7(nowMs),
      tenant,
      type: "webhook.test",
      apiVersion: "1",
      subject: null,
      sequence: null,
      payload: Buffer.from(JSON.stringify({ message: "This is a test event.", endpoint_id: id })),
      createdAt: new Date(nowMs),
    };
    const delivery = { id: deliveryIdOf(event.id, endpointId), endpointId, trigger: "test" } as const;
    const { owner } = await oweEvent(this.db, event, delivery);
    this.#engine?.tell(endpointId, owner);
    return { eventId: formatId("evt", event.id), deliveryId: formatId("dlv", delivery.id) };
  }

  async #retry(id: string): Promise<void> {
    const deliveryId = parseId("dlv", id);
    const result =
      deliveryId === null ? ({ kind: "not_found" } as const) : await oweAgain(this.db, deliveryId);
    if (result.kind === "not_found")
      throw new PosthornError("delivery_not_found", `There is no delivery ${id}.`);
    if (result.kind === "in_flight") {
      throw new PosthornError(
        "delivery_in_flight",
        `The delivery ${id} is being sent right now; look again in a moment.`,
      );
    }
    this.#engine?.tell(result.endpointId, result.owner);
  }
}

function stoppedForGood(): PosthornError {
  return new PosthornError("invalid_config", "This Posthorn was stopped; create a new one to start again.");
}
