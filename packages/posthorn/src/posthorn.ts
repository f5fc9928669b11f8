// The composition root: builds the object that publishes, delivers and responds to queries from its options.

import { metadataIn } from "./attempt/guard/guard-address.ts";
import { type Resolve, resolverFor } from "./attempt/guard/resolve-name.ts";
import { audited } from "./audited-resources.ts";
import { Catalogue } from "./catalogue/catalogue.ts";
import { createDataschemaOf } from "./catalogue/dataschema.ts";
import type { EventDeclarations } from "./catalogue/declared-types.ts";
import { type Config, type PosthornOptions, readActor, resolveConfig } from "./config.ts";
import { createDestinationKinds } from "./destination-kinds.ts";
import { refuseUnknown } from "./did-you-mean.ts";
import { Engine } from "./engine.ts";
import { PosthornError } from "./errors.ts";
import type { PublishInput } from "./event/validate.ts";
import { createLibraryResources } from "./library-resources.ts";
import { Metrics } from "./observe/metrics.ts";
import { Observer } from "./observe/observer.ts";
import { invalid, oneOf, shown, yesOrNo } from "./option-checks.ts";
import type { Health, Posthorn, Role } from "./public-types.ts";
import { Admission } from "./publish/admission.ts";
import { Publishing } from "./publish/publishing.ts";
import { createTargets } from "./resources/endpoints/targets.ts";
import { register } from "./resources/event-types/event-types.ts";
import { Clock } from "./service/clock.ts";
import { withTimeout } from "./service/with-timeout.ts";
import { Database } from "./storage/database.ts";
import { parseKeyRing } from "./storage/key-ring.ts";
import { type MigrateResult, type MigrationStatus, migrate, migrationStatus } from "./storage/migrate.ts";
import { setOrderingDefaults } from "./storage/queries/endpoints/ordering.ts";
import { setCatalogueOptions } from "./storage/queries/event-types.ts";
import { translate } from "./translate-errors.ts";
import { withUnaudited } from "./unaudited.ts";

export function createPosthorn<const Declared extends EventDeclarations>(
  options: PosthornOptions & { readonly events: Declared },
): Posthorn<Declared>;
export function createPosthorn(options: PosthornOptions): Posthorn;
export function createPosthorn(options: PosthornOptions): Posthorn {
  return createInstance(resolveConfig(options));
}

const defaultGraceMs = 25_000;

/** The library with the parts that its own tests use. */
export interface Instance extends Posthorn {
  readonly db: Database;
  readonly clock: Clock;
  readonly observer: Observer;
  /** Undefined until the instance is started. */
  readonly engine: Engine | undefined;
}

/** `resolve`: how the host names of new endpoints are resolved. Default: DNS. */
export function createInstance(
  config: Config,
  { resolve = resolverFor(config.addressPolicy) }: { readonly resolve?: Resolve } = {},
): Instance {
  const { logger, declaredTypes: declared, endpointDefaults: defaults } = config;
  const clock = new Clock();
  const nowMs = () => clock.nowMs();
  const metrics = new Metrics({ labelsEndpoints: config.metricsEndpointLabel });
  const db = new Database({
    database: config.database,
    schema: config.schema,
    onError: (kind) => metrics.count("webhook_database_errors_total", kind),
  });
  const catalogue = new Catalogue({ db, mode: config.catalogue, declared });
  const observer = new Observer({ metrics, logger, nowMs });
  observer.loadTracing();
  let engine: Engine | undefined;
  let starting: Promise<void> | undefined;
  let stopping: Promise<void> | undefined;
  const admission = new Admission({
    catalogue,
    declared,
    schema: db.schema,
    nowMs,
    apiVersion: config.apiVersion,
  });
  const publishing = new Publishing({
    db,
    admission,
    observer,
    engine: () => engine,
    isStopping: () => stopping !== undefined,
    rethrow,
  });
  const keyRing = parseKeyRing(config.encryptionKeys);
  const kinds = createDestinationKinds({ config, db, keyRing, metrics, nowMs });
  const targets = createTargets({
    db,
    keyRing,
    defaults,
    dataschemaOf: createDataschemaOf(catalogue, config.publicUrl),
    destinationOf: kinds.destinationOf,
  });
  const { resources, endpoints, record } = createLibraryResources({
    config,
    db,
    clock,
    observer,
    catalogue,
    keyRing,
    targets,
    kinds,
    publishing,
    engine: () => engine,
    translate: translateError,
    resolve,
  });
  const instance: Instance = {
    ...audited(resources, record, config.actor),
    as: (actor) => audited(resources, record, readActor(actor)),
    db,
    clock,
    observer,
    get engine() {
      return engine;
    },
    async migrate(options = {}): Promise<MigrateResult> {
      refuseUnknown("migrate has no option", options, ["dryRun"]);
      const dryRun = yesOrNo("dryRun", options.dryRun ?? false);
      return await migrate(db, { dryRun }).catch(rethrow);
    },
    migrationStatus: readMigrationStatus,
    publish: ((input, options) => publishing.publish(input, options)) as Posthorn["publish"],
    publishStatement: (input: PublishInput, ...more: unknown[]) => publishing.publishStatement(input, more),
    publishMany: (inputs: readonly PublishInput[], ...more: unknown[]) =>
      publishing.publishMany(inputs, more),
    start,
    async stop(options = {}): Promise<void> {
      refuseUnknown("stop has no option", options, ["graceMs"]);
      stopping ??= stopAll(readGrace(options.graceMs ?? defaultGraceMs));
      await stopping;
    },
    health,
  };
  return withUnaudited(instance, { resources, record });

  async function readMigrationStatus(): Promise<MigrationStatus> {
    return await migrationStatus(db).catch(rethrow);
  }

  async function start(options: { readonly role?: Role } = {}): Promise<void> {
    refuseUnknown("start has no option", options, ["role"]);
    const role = oneOf("role", options.role ?? "all", ["all", "api", "worker"]);
    if (stopping !== undefined) throw stoppedForGood();
    starting ??= startEngine(role).catch((error) => {
      starting = undefined;
      throw translateError(error);
    });
    await starting;
  }

  async function startEngine(role: Role): Promise<void> {
    const { pending } = await readMigrationStatus();
    if (pending.length > 0) {
      throw new PosthornError(
        "schema_missing",
        `The schema "${db.schema}" has ${pending.length} pending migration(s): call migrate() or run "posthorn migrate" first.`,
      );
    }
    warnOfMetadata();
    await register(db, catalogue, declared);
    await setCatalogueOptions(db, config.catalogue, config.apiVersion);
    await setOrderingDefaults(db, defaults.ordering, defaults.fifoOnDead);
    await observer.loading;
    const created = new Engine({
      config,
      db,
      clock,
      observer,
      targets,
      endpoints,
      catalogue,
      admission,
      delivers: role !== "api",
      untrustedPolicy: kinds.untrustedPolicy,
      createServices: (access) => kinds.createServices(access, endpoints.settleHandshake),
    });
    try {
      await created.start();
    } catch (error) {
      await created.stop(0);
      throw error;
    }
    engine = created;
    const { mode } = created.deliveryMode;
    if (mode !== "on" && role !== "api") logger.warn(OFF_WARNINGS[mode]);
  }

  function warnOfMetadata(): void {
    const refused = metadataIn(config.addressPolicy);
    if (refused.length === 0) return;
    logger.warn(
      "allowCidrs (POSTHORN_ALLOW_CIDRS) contains addresses of cloud metadata services, which stay blocked",
      { refused },
    );
  }

  async function health(): Promise<Health> {
    if (stopping !== undefined) return { ready: false, reason: "stopping" };
    if (db.isEnded) return { ready: false, reason: "the pool was ended" };
    if (engine !== undefined) {
      return engine.worker.isHealthy
        ? { ready: true }
        : { ready: false, reason: "the database cannot be reached or written to" };
    }
    try {
      const { pending } = await readMigrationStatus();
      return pending.length === 0
        ? { ready: true }
        : { ready: false, reason: "the database has not been migrated" };
    } catch {
      return { ready: false, reason: "the database cannot be reached" };
    }
  }

  async function stopAll(graceMs: number): Promise<void> {
    // start() reports the error itself
    if (engine === undefined) await starting?.catch(() => {});
    // A pool that was ended by its owner never responds.
    await withTimeout(graceMs + 10_000, engine?.stop(graceMs));
    await withTimeout(5_000, db.close());
  }

  /** After stop() the pool is closed: that is not an outage, and retrying does not help. */
  function translateError(error: unknown): unknown {
    const translated = translate(error);
    return translated === error || stopping === undefined ? translated : stoppedForGood(error);
  }

  function rethrow(error: unknown): never {
    throw translateError(error);
  }
}

const OFF_WARNINGS = {
  hold: "delivery is off, by POSTHORN_ENABLED or at run time: events are stored, and nothing is sent until it is on",
  drop: "delivery is off, by POSTHORN_ENABLED or at run time: events are stored and never delivered",
} as const;

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
