// The composition root: options in, one object out that publishes, delivers and answers questions about both.
import { formatId, parseId, uuidv7 } from "@posthorn/wire";
import { metadataIn } from "./attempt/guard-address.ts";
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
import { type PublishInput, type ValidEvent, validate, validateAll } from "./event/validate.ts";
import { deliveryIdOf } from "./fan-out/delivery-id.ts";
import type { Event, Uuid } from "./model.ts";
import { createAnnounce } from "./notify/announce.ts";
import { type AuditLog, createAuditLog } from "./resources/audit-log.ts";
import { createDeliveries, type Deliveries } from "./resources/deliveries.ts";
import { createEndpoints, type Endpoints } from "./resources/endpoints.ts";
import { createEvents, type Events } from "./resources/events.ts";
import { CALLS_AT_ONCE, inTurn } from "./resources/in-turn.ts";
import { createKeys, type Keys } from "./resources/keys.ts";
import { createMembers, type Members } from "./resources/members.ts";
import { createResends, type Resends } from "./resources/resends.ts";
import { createTargets } from "./resources/targets.ts";
import { createTenants, type Tenants } from "./resources/tenants.ts";
import { Clock } from "./service/clock.ts";
import { Turns } from "./service/turns.ts";
import { withinTime } from "./service/within-time.ts";
import { Database } from "./storage/database.ts";
import { parseKeyRing } from "./storage/key-ring.ts";
import { type MigrateResult, type MigrationStatus, migrate, migrationStatus } from "./storage/migrate.ts";
import { getMeta, setMetaOnce } from "./storage/queries/meta/meta.ts";
import { type ClosedLane, oweAgain, oweEvent } from "./storage/queries/queue/owe.ts";
import { translate, translated } from "./translate-errors.ts";

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
  readonly members: Members;
  readonly keys: Keys;
  readonly auditLog: AuditLog;
  readonly endpoints: Omit<Endpoints, "disableAfter"> & {
    /** Sends `webhook.test` to this endpoint, whatever it subscribes to, by the path of every delivery. */
    test(tenant: string, id: string): Promise<{ eventId: string; deliveryId: string }>;
  };
  readonly events: Events;
  readonly deliveries: Deliveries & {
    /**
     * Pending at once with a fresh budget of attempts: the same path as an automatic retry. Refused, and nothing changed,
     * while it is in flight and where nothing may be sent: the endpoint deleted or disabled, the tenant inactive.
     */
    retry(id: string, scope?: { readonly tenant?: string | undefined }): Promise<void>;
  };
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
  readonly events: Posthorn["events"];
  readonly deliveries: Posthorn["deliveries"];
  readonly resends: Posthorn["resends"];
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
      nowMs: () => clock.nowMs(),
      maxPerTenant: config.maxEndpointsPerTenant,
      announce: createAnnounce(config),
      onChanged: ({ owner }) => this.#engine?.tellOfChange(owner),
      onDisabled: () => this.#engine?.tellOfNotices(),
    });
    const tenants = createTenants({ db, onChanged: (owner) => this.#engine?.tellOfChange(owner) });
    const deliveries = createDeliveries({ db });
    const test = async (tenant: string, id: string) => {
      await endpoints.get(tenant, id);
      return await this.#test(tenant, id);
    };
    const retry: Posthorn["deliveries"]["retry"] = async (id, scope = {}) => {
      if (scope.tenant !== undefined) await deliveries.get(id, scope);
      await this.#retry(id);
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
    this.events = opened(createEvents(db));
    this.deliveries = opened({ ...deliveries, retry });
    this.resends = opened(createResends(db));
    this.meta = translated(
      {
        get: (name: string) => getMeta(db, name),
        setOnce: (name: string, value: string) => setMetaOnce(db, name, value),
      },
      this.#translate,
    );
    this.#newEngine = (delivers) => new Engine({ config, db, clock, targets, endpoints, delivers });
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

  async publish(input: PublishInput, options?: { readonly tx?: Transaction }): Promise<PublishResult> {
    if (options !== undefined) checkPublishOptions(options);
    const event = validate(input, this.clock.nowMs());
    // a tx that is there and undefined was meant to be one, and is refused
    if (options === undefined || !("tx" in options)) return await this.#publishAlone(event);
    return await publishInTransaction(options.tx as Transaction, this.db.schema, event);
  }

  async publishMany(inputs: readonly PublishInput[], ...more: unknown[]): Promise<PublishOutcome[]> {
    if (more[0] !== undefined) {
      throw invalid(
        "publishMany takes no options. In a transaction, call publish(event, { tx }) for each event.",
      );
    }
    const events = validateAll(inputs, this.clock.nowMs());
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
    if (this.#engine !== undefined) return await this.#engine.publish(event);
    // Not started here: the event waits in the outbox for a process that is.
    return await this.db
      .inOwnTransaction((tx) => publishInTransaction(tx, this.db.schema, event))
      .catch(this.#rethrow);
  }

  async #test(tenant: string, id: string): Promise<{ eventId: string; deliveryId: string }> {
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
    const result = await oweEvent(this.db, event, delivery);
    if (result.kind === "closed") throw closedError(result.because, "send the test event");
    this.#engine?.tell(endpointId, result.owner);
    return { eventId: formatId("evt", event.id), deliveryId: formatId("dlv", delivery.id) };
  }

  async #retry(id: string): Promise<void> {
    const deliveryId = parseId("dlv", String(id));
    const result =
      deliveryId === null ? ({ kind: "not_found" } as const) : await oweAgain(this.db, deliveryId);
    if (result.kind === "not_found")
      throw new PosthornError("delivery_not_found", `There is no delivery ${id}.`);
    if (result.kind === "closed") throw closedError(result.because, "retry the delivery");
    if (result.kind === "in_flight") {
      throw new PosthornError(
        "delivery_in_flight",
        `The delivery ${id} is being sent right now; look again in a moment.`,
      );
    }
    this.#engine?.tell(result.endpointId, result.owner);
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

function closedError(because: ClosedLane["because"], wish: string): PosthornError {
  return new PosthornError(
    because,
    {
      endpoint_deleted: "The endpoint was deleted, so nothing is sent to it any more; nothing was changed.",
      endpoint_disabled: `The endpoint is disabled; enable it first, then ${wish}.`,
      tenant_inactive: `The endpoint's tenant is inactive; make it active first, then ${wish}.`,
    }[because],
  );
}

function stoppedForGood(cause?: unknown): PosthornError {
  return new PosthornError("stopped", "This Posthorn was stopped; create a new one to start again.", {
    cause,
  });
}
