// Endpoints: where a tenant's events go. Every change raises the endpoint's version and takes the way of
// endpoint-changes.ts.
import { formatId, parseId } from "@posthorn/wire";
import type { AddressPolicy } from "../attempt/guard-address.ts";
import { refuseUnknown } from "../did-you-mean.ts";
import { PosthornError } from "../errors.ts";
import type {
  CircuitState,
  DisableCause,
  FifoOnDead,
  FilterInput,
  Ordering,
  PayloadFormat,
  RetryOn,
  RetryPolicy,
  SignatureSettings,
  Uuid,
} from "../model.ts";
import { circuitOf } from "../settle/endpoint-health.ts";
import type { Database, Queryable } from "../storage/database.ts";
import type { KeyRing } from "../storage/key-ring.ts";
import type { EndpointRow } from "../storage/queries/endpoints/endpoint-row.ts";
import { countEndpoints, findEndpoint, listEndpoints } from "../storage/queries/endpoints/read.ts";
import { markDeleted, raiseEndpointVersion } from "../storage/queries/endpoints/write.ts";
import { cancelOwed } from "../storage/queries/queue/cancel.ts";
import { letGoOfSubjects } from "../storage/queries/queue/let-go-of-subjects.ts";
import { deleteSecrets, retireSecrets } from "../storage/queries/secrets/rotate.ts";
import { findTenant } from "../storage/queries/tenants/read.ts";
import {
  type EndpointAttempt,
  type EndpointAttemptQuery,
  listEndpointAttempts,
} from "./endpoint-attempts.ts";
import { createEndpointChanges, type EndpointChange, endpointNotFound } from "./endpoint-changes.ts";
import { createEndpointImport, type ImportInput, type ImportResult } from "./endpoint-import.ts";
import { type MatchInput, type MatchResult, matchEndpoint } from "./endpoint-match.ts";
import {
  type EndpointDefaults,
  type EndpointInput,
  type EndpointPatch,
  effectiveSettings,
  fitsAny,
  parseEndpointInput,
  parseEndpointPatch,
  type SettingsContext,
  schemesOf,
  secretProblem,
} from "./endpoint-settings.ts";
import { createEndpointSwitch, type EnableOptions } from "./endpoint-switch.ts";
import { createEndpointWriter } from "./endpoint-writer.ts";
import { type Page, type PageQuery, QueryReader, toPage } from "./page.ts";
import { counted, isTenantId, tenantNotFound } from "./tenants.ts";

/** With the deployment's settings filled in where the endpoint has none of its own. */
export interface Endpoint {
  readonly id: string;
  readonly tenant: string;
  readonly url: string;
  readonly description: string | null;
  readonly events: readonly string[];
  /** As it was written; null: none. */
  readonly filter: FilterInput | null;
  readonly isActive: boolean;
  /** `manual`, `gone`, … while it is not active. */
  readonly disabledReason: string | null;
  readonly disabledAt: Date | null;
  readonly format: PayloadFormat;
  readonly signature: SignatureSettings;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly maxInFlight: number;
  /** Attempts per second. */
  readonly rateLimit: number | null;
  readonly ordering: Ordering;
  readonly fifoOnDead: FifoOnDead;
  readonly retryPolicy: RetryPolicy;
  readonly retryOn: RetryOn;
  /** `open`: nothing is sent until `health.probeAt`; `half_open`: few at a time, until enough have succeeded. */
  readonly circuit: CircuitState;
  readonly health: EndpointHealthView;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** How it has been doing since its last success. */
export interface EndpointHealthView {
  readonly consecutiveFailures: number;
  readonly failingSince: Date | null;
  /** Such as `HTTP 500`, or an attempt's error. */
  readonly lastError: string | null;
  readonly probeAt: Date | null;
  /** The receiver asked to be left alone until then (429, 503). */
  readonly throttledUntil: Date | null;
}

export interface RotateOptions {
  /** How long the secrets so far stay valid: 7 days unless told, at most 14; 0 revokes them at once. */
  readonly overlapSeconds?: number | undefined;
  /** Your own instead of one that is made. */
  readonly secret?: string | undefined;
}

export interface Endpoints {
  /** The secret is shown here and never again. */
  create(
    tenant: string,
    input: EndpointInput,
  ): Promise<{ readonly endpoint: Endpoint; readonly secret: string }>;
  list(tenant: string, query?: PageQuery): Promise<Page<Endpoint>>;
  get(tenant: string, id: string): Promise<Endpoint>;
  update(tenant: string, id: string, patch: EndpointPatch): Promise<Endpoint>;
  /** What is owed and not being sent ends as dead (`endpoint_deleted`). */
  delete(tenant: string, id: string): Promise<void>;
  /** The newest delivery first, and of each delivery the newest attempt. */
  attempts(tenant: string, id: string, query?: EndpointAttemptQuery): Promise<Page<EndpointAttempt>>;
  /** All or nothing: an item with an `id` changes that endpoint, one without makes one. Secrets are shown here only. */
  import(tenant: string, input: ImportInput): Promise<ImportResult>;
  /** Would it get such an event? Nothing is published. */
  match(tenant: string, id: string, input: MatchInput): Promise<MatchResult>;
  rotateSecret(
    tenant: string,
    id: string,
    options?: RotateOptions,
  ): Promise<{ readonly secret: string; readonly previousExpiresAt: Date | null }>;
  /** Nothing is sent to it from now on; what is for it is kept. The reason is `manual`, unless there is one already. */
  disable(tenant: string, id: string): Promise<Endpoint>;
  /** One that is active stays as it is, whatever is to become of the backlog. */
  enable(tenant: string, id: string, options?: EnableOptions): Promise<Endpoint>;
  /**
   * The engine's own doing: people, the tenant's other endpoints and operators are told. False when it was not active any
   * more, or no longer leads to the URL that answered.
   */
  disableAfter(endpointId: Uuid, cause: DisableCause, url?: string | null): Promise<boolean>;
}

export interface EndpointsOptions {
  readonly db: Database;
  readonly keyRing: KeyRing;
  readonly addressPolicy: AddressPolicy;
  readonly defaults: EndpointDefaults;
  /** The database's time. */
  readonly nowMs: () => number;
  /** 10 unless told. */
  readonly maxPerTenant?: number;
  /** What the catalogue has against types that are asked for by name, now. */
  readonly typeProblems: () => Promise<(eventType: string) => string | null>;
  /** Of which types of events the catalogue hides anything, now. */
  readonly hiding: () => Promise<(eventType: string) => boolean>;
  /** After the commit, so that the lane's owner can be told. */
  readonly onChanged?: (change: EndpointChange) => void;
  /** In the transaction in which the engine disables an endpoint. */
  readonly announce: (tx: Queryable, disabled: EndpointRow) => Promise<void>;
  /** After its commit. */
  readonly onDisabled?: () => void;
}

const DAY_SECONDS = 24 * 60 * 60;
const DEFAULT_OVERLAP_SECONDS = 7 * DAY_SECONDS;
const MAX_OVERLAP_SECONDS = 14 * DAY_SECONDS;
/** Every request carries a signature by each of them. */
const MAX_VALID_SECRETS = 5;

export function createEndpoints(options: EndpointsOptions): Endpoints {
  const { db, defaults, maxPerTenant = 10, announce, onDisabled = () => {} } = options;
  const changes = createEndpointChanges(db, options.onChanged);
  const { change, changeOne } = changes;
  const writer = createEndpointWriter(options);
  const view = (row: EndpointRow) => toEndpoint(row, defaults, options.nowMs());
  const onAndOff = createEndpointSwitch({ db, changes, get, update, announce, onDisabled });
  const importAll = createEndpointImport({ context, changes, writer, maxPerTenant });
  const attempts: Endpoints["attempts"] = (...asked) => listEndpointAttempts(options, ...asked);
  return {
    create,
    list,
    get,
    update,
    delete: remove,
    attempts,
    import: importAll,
    match,
    rotateSecret,
    ...onAndOff,
  };

  async function create(tenant: string, input: EndpointInput) {
    const { settings, secret: ownSecret } = parseEndpointInput(input, await context());
    const made = await writer.prepare(settings, ownSecret);
    const row = await change(tenant, async (tx) => {
      // exact, because the tenant's row is locked and this statement came after
      if ((await countEndpoints(tx, tenant)) >= maxPerTenant) throw limitReached(tenant, maxPerTenant);
      return { result: await writer.insert(tx, tenant, made), endpointIds: [made.id] };
    });
    return { endpoint: view(row), secret: made.secret };
  }

  /** Before a transaction: it may hold the last connection of the pool. */
  async function context(): Promise<SettingsContext> {
    return { addressPolicy: options.addressPolicy, defaults, typeProblem: await options.typeProblems() };
  }

  async function list(tenant: string, query: PageQuery = {}): Promise<Page<Endpoint>> {
    const reader = new QueryReader();
    const limit = reader.limit(query);
    const { before } = reader.idRange("endpoints", query);
    reader.finish(["limit", "cursor"], query);
    if (!isTenantId(tenant)) throw tenantNotFound(tenant);
    const rows = await listEndpoints(db, tenant, before, limit + 1);
    if (rows.length === 0 && (await findTenant(db, tenant)) === null) throw tenantNotFound(tenant);
    return toPage("endpoints", rows, limit, view, (row) => row.id);
  }

  async function get(tenant: string, id: string): Promise<Endpoint> {
    const uuid = parseId("ep", String(id));
    const row = uuid === null || !isTenantId(tenant) ? null : await findEndpoint(db, tenant, uuid);
    if (row === null) throw endpointNotFound(id);
    return view(row);
  }

  async function update(tenant: string, id: string, patch: EndpointPatch): Promise<Endpoint> {
    const asOfNow = await context();
    const row = await changeOne(tenant, id, async (tx, current) => {
      const settings = parseEndpointPatch(patch, current, asOfNow);
      await writer.checkStillSigned(tx, current, settings);
      return await writer.update(tx, current, settings);
    });
    return view(row);
  }

  async function remove(tenant: string, id: string): Promise<void> {
    const endpointId = await changeOne(tenant, id, async (tx, current) => {
      await markDeleted(tx, current.id);
      await deleteSecrets(tx, current.id);
      await letGoOfSubjects(tx, current.id);
      return current.id;
    });
    // After the commit: a backlog of a million must not keep the lane locked, which others' publishes wait for.
    await cancelOwed(db, [endpointId]);
  }

  async function rotateSecret(tenant: string, id: string, rotation: RotateOptions = {}) {
    refuseUnknown("A rotation has no option", rotation, ["overlapSeconds", "secret"], "invalid_endpoint");
    const { overlapSeconds = DEFAULT_OVERLAP_SECONDS, secret: ownSecret } = rotation;
    checkRotation(overlapSeconds, ownSecret);
    return await changeOne(tenant, id, async (tx, current) => {
      const schemes = schemesOf(current, defaults);
      const secret = ownSecret ?? (await writer.makeSecret(current));
      if (!fitsAny(secret, schemes)) {
        throw invalidRotation(
          "/secret",
          "This kind of secret fits none of the endpoint's signature schemes.",
        );
      }
      const retired = await retireSecrets(tx, current.id, overlapSeconds);
      if (retired.count >= MAX_VALID_SECRETS) throw tooManySecrets();
      await writer.addSecret(tx, current.id, secret);
      await raiseEndpointVersion(tx, current.id);
      const { lastExpiresMs } = retired;
      return { secret, previousExpiresAt: lastExpiresMs === null ? null : new Date(lastExpiresMs) };
    });
  }

  async function match(tenant: string, id: string, input: MatchInput): Promise<MatchResult> {
    return matchEndpoint(await get(tenant, id), input);
  }
}

function toDate(ms: number | null | undefined): Date | null {
  return ms === null || ms === undefined ? null : new Date(ms);
}

/** Null for what has passed. */
function toDateAhead(ms: number | null | undefined, nowMs: number): Date | null {
  return ms !== null && ms !== undefined && ms > nowMs ? new Date(ms) : null;
}

/** Nobody probes a disabled endpoint. */
function shownCircuit({ health, isActive }: EndpointRow, nowMs: number): CircuitState {
  const circuit = circuitOf({ probeAtMs: health?.probeAtMs ?? null }, nowMs);
  return circuit === "half_open" && !isActive ? "open" : circuit;
}

function toEndpoint(row: EndpointRow, defaults: EndpointDefaults, nowMs: number): Endpoint {
  return {
    id: formatId("ep", row.id),
    tenant: row.tenant,
    url: row.url,
    description: row.description,
    events: row.events,
    filter: row.filter,
    isActive: row.isActive,
    disabledReason: row.disabledReason,
    disabledAt: toDate(row.disabledMs),
    ...effectiveSettings(row, defaults),
    circuit: shownCircuit(row, nowMs),
    health: {
      consecutiveFailures: row.health?.consecutiveFailures ?? 0,
      failingSince: toDate(row.health?.failingSinceMs),
      lastError: row.health?.lastError ?? null,
      probeAt: row.isActive ? toDateAhead(row.health?.probeAtMs, nowMs) : null,
      throttledUntil: toDateAhead(row.health?.throttledUntilMs, nowMs),
    },
    createdAt: new Date(row.createdMs),
    updatedAt: new Date(row.updatedMs),
  };
}

function checkRotation(overlapSeconds: unknown, secret: unknown): void {
  const isInRange =
    typeof overlapSeconds === "number" && overlapSeconds >= 0 && overlapSeconds <= MAX_OVERLAP_SECONDS;
  if (!isInRange || !Number.isInteger(overlapSeconds)) {
    throw invalidRotation(
      "/overlapSeconds",
      `overlapSeconds is a whole number from 0 (revoke at once) to ${MAX_OVERLAP_SECONDS} (14 days).`,
    );
  }
  const problem = secret === undefined ? null : secretProblem(secret);
  if (problem !== null) throw invalidRotation("/secret", problem);
}

function invalidRotation(pointer: string, message: string): PosthornError {
  return new PosthornError("invalid_endpoint", message, { problems: [{ pointer, message }] });
}

function tooManySecrets(): PosthornError {
  return new PosthornError(
    "too_many_secrets",
    `${MAX_VALID_SECRETS} secrets of this endpoint are valid already. Wait until one has expired, or rotate with ` +
      "overlapSeconds 0 to revoke them all.",
  );
}

function limitReached(tenant: string, max: number): PosthornError {
  return new PosthornError(
    "endpoint_limit_reached",
    `Tenant "${tenant}" has ${counted(max)}, as many as it may have. Delete one, or raise maxEndpointsPerTenant.`,
  );
}
