// Endpoints of tenants: reading, creating, changing and deleting them. Every change goes through changes.ts.
import { type EffectiveSettings, formatId } from "@posthorn/wire";
import type { AddressPolicy } from "../../attempt/guard/guard-address.ts";
import { type HostFindings, NO_FINDINGS } from "../../attempt/guard/look-up-hosts.ts";
import type { SubscriptionKind } from "../../destinations/destination.ts";
import { PosthornError } from "../../errors.ts";
import type {
  AuthorizationType,
  CircuitState,
  DisableCause,
  Grant,
  HandshakeSettings,
  Uuid,
} from "../../model.ts";
import { circuitOf } from "../../settle/endpoint-health.ts";
import type { Database, Queryable } from "../../storage/database.ts";
import type { KeyRing } from "../../storage/key-ring.ts";
import {
  countEndpoints,
  type EndpointRow,
  type EndpointState,
  listEndpoints,
  urlsOfEndpoints,
} from "../../storage/queries/endpoints/read.ts";
import { markDeleted } from "../../storage/queries/endpoints/write.ts";
import { deleteHandshake } from "../../storage/queries/handshakes.ts";
import { inFlightLimitsOf } from "../../storage/queries/lanes/read.ts";
import { cancelQueued } from "../../storage/queries/queue/cancel.ts";
import { releaseHeldSubjects } from "../../storage/queries/queue/release.ts";
import { findTenant } from "../../storage/queries/tenants.ts";
import { attemptsOfEndpoint, type EndpointAttemptQuery, type ListedAttempt } from "../deliveries/attempts.ts";
import { type Dated, dated, type Page, type PageQuery, readIdPage, toDate, toPage } from "../page.ts";
import { oneOf, text } from "../read-fields.ts";
import { type LastDay, lastDaysOf } from "../stats/activity.ts";
import { counted, isTenantId, tenantNotFound } from "../tenants/tenants.ts";
import { createEndpointChanges, type EndpointChange, knownEndpoint, refuseSubscription } from "./changes.ts";
import { type EndpointDefaults, effectiveSettings } from "./effective-settings.ts";
import { createHandshakes, type Handshakes } from "./handshakes.ts";
import { createEndpointImport, type ImportInput, type ImportResult } from "./import.ts";
import { type MatchInput, type MatchResult, matchEndpoint } from "./match.ts";
import { createPublicKeys, type PublicKeys } from "./public-keys.ts";
import { createEndpointSecrets, type EndpointSecrets } from "./secrets.ts";
import {
  type EndpointInput,
  type EndpointPatch,
  type EndpointWarning,
  parseEndpointInput,
  parseEndpointPatch,
  type SettingsContext,
  tokenIn,
  warningsOf,
} from "./settings.ts";
import { createEndpointSwitch, type EnableOptions } from "./switch.ts";
import { createTargets } from "./targets.ts";
import type { LookedUpEndpoints } from "./with-host-lookups.ts";
import { createEndpointWriter } from "./writer.ts";

/** An endpoint with its effective settings: its own, or the defaults. */
export interface Endpoint extends Omit<EffectiveSettings, "authorization" | "handshake"> {
  readonly id: string;
  readonly tenant: string;
  /** `manual`, `gone`, …; null while it is active. */
  readonly disabledReason: string | null;
  readonly disabledAt: Date | null;
  /** How the token is sent, without the token itself. Null if none is sent. */
  readonly authorization: { readonly type: AuthorizationType } | null;
  /** The handshake and its state. Null if the endpoint has none. */
  readonly handshake: HandshakeView | null;
  /** `open`: nothing is sent until `health.probeAt`. `half_open`: few deliveries at a time, until enough have succeeded. */
  readonly circuit: CircuitState;
  readonly health: EndpointHealthView;
  /** Set for a WebSub subscription, which can be read and deleted here but changed only by its subscriber. */
  readonly websub: { readonly topic: string; readonly leaseExpiresAt: Date } | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface CreatedEndpoint {
  readonly endpoint: Endpoint;
  readonly secret: string;
  readonly warnings: readonly EndpointWarning[];
}

/** Warnings are about the URL, if it is new. */
export interface UpdatedEndpoint extends Endpoint {
  readonly warnings: readonly EndpointWarning[];
}

/** \`allowedRate\` is in requests per minute; null if unlimited or not granted. */
export type HandshakeView = HandshakeSettings & Dated<Grant>;

/** The endpoint's failures since its last success, its limit, and its attempts of the last day. */
export interface EndpointHealthView {
  readonly consecutiveFailures: number;
  readonly failingSince: Date | null;
  /** `HTTP 500`, for example, or the error of the attempt. */
  readonly lastError: string | null;
  readonly probeAt: Date | null;
  /** End of the pause that the receiver asked for with a 429, 502, 503 or 504. */
  readonly throttledUntil: Date | null;
  /**
   * The current limit on attempts in flight: from `maxInFlight` to `maxInFlightBurst`, or lower unless the circuit is
   * closed. Recorded about every 5 seconds while it changes.
   */
  readonly currentMaxInFlight: number;
  /** Attempts of the last 24 hours. Null if there are none. */
  readonly lastDay: LastDay | null;
}

export interface EndpointQuery extends PageQuery {
  readonly tenant?: string | undefined;
  /** `failing`: active, without a success since a failure. `websub`: WebSub subscriptions. */
  readonly state?: EndpointState | undefined;
  /** An id, or a part of the name or of the URL before its query, in any letter case. */
  readonly search?: string | undefined;
}

export interface Endpoints extends EndpointSecrets, Handshakes {
  /** The secret is returned only here. A URL whose host name cannot be resolved gives a warning. */
  create(tenant: string, input: EndpointInput): Promise<CreatedEndpoint>;
  list(tenant: string, query?: Omit<EndpointQuery, "tenant">): Promise<Page<Endpoint>>;
  /** Lists the endpoints of all tenants, or of `query.tenant`. */
  listAll(query?: EndpointQuery): Promise<Page<Endpoint>>;
  get(tenant: string, id: string): Promise<Endpoint>;
  update(tenant: string, id: string, patch: EndpointPatch): Promise<UpdatedEndpoint>;
  /** Its queued deliveries become dead (`endpoint_deleted`); those in flight finish. */
  delete(tenant: string, id: string): Promise<void>;
  /** Newest delivery first; within a delivery, newest attempt first. */
  attempts(tenant: string, id: string, query?: EndpointAttemptQuery): Promise<Page<ListedAttempt>>;
  /** Imports all or nothing. An item with an `id` updates that endpoint, others are created. Secrets are returned only here. */
  import(tenant: string, input: ImportInput): Promise<ImportResult>;
  publicKeys: PublicKeys;
  /** Reports whether the endpoint would receive such an event, without publishing one. */
  match(tenant: string, id: string, input: MatchInput): Promise<MatchResult>;
  /** Stops sending; deliveries are kept. The reason is `manual` if the endpoint was active. */
  disable(tenant: string, id: string): Promise<Endpoint>;
  /** Does nothing to an active endpoint; its backlog is not discarded either. */
  enable(tenant: string, id: string, options?: EnableOptions): Promise<Endpoint>;
  /**
   * Disables an endpoint on behalf of the engine, and notifies members, the tenant's other endpoints and operators. Returns
   * false if it was not active, or if its URL is no longer the one that responded.
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
  /** Default 10. */
  readonly maxPerTenant?: number;
  /** Reads the catalogue; the function returns why a type cannot be subscribed to by name, or null. */
  readonly typeProblems: () => Promise<(eventType: string) => string | null>;
  /** Reads the catalogue; the function returns whether a type has redacted paths. */
  readonly hiding: () => Promise<(eventType: string) => boolean>;
  /** Called after the commit, to notify the lane's owner. */
  readonly onChanged?: (change: EndpointChange) => void;
  /** Called in the transaction in which the engine disables an endpoint. */
  readonly announce: (tx: Queryable, disabled: EndpointRow) => Promise<void>;
  /** Called after that transaction has committed. */
  readonly onDisabled?: () => void;
  readonly subscriptions: SubscriptionKind;
  /** Called after a deletion: if it was a subscription, its subscriber has to be notified. */
  readonly onRevoked?: () => void;
}

const STATES: readonly EndpointState[] = ["active", "disabled", "failing", "websub"];
const FILTERS = { state: oneOf(STATES), search: text() };

/** See `withHostLookups`. */
export function createEndpoints(options: EndpointsOptions): LookedUpEndpoints {
  const { db, defaults, subscriptions, maxPerTenant = 10, announce } = options;
  const { onDisabled = () => {}, onRevoked = () => {} } = options;
  const changes = createEndpointChanges(db, options.onChanged);
  const { change, changeOne } = changes;
  const writer = createEndpointWriter(options);
  const targets = createTargets(options);
  return {
    create,
    list,
    listAll,
    get,
    update,
    delete: remove,
    attempts: async (tenant, id, query) =>
      await attemptsOfEndpoint(options, (await knownEndpoint(db, tenant, id)).id, query),
    import: createEndpointImport({ context, changes, writer, maxPerTenant }),
    urlsOf: async (tenant, ids) => (isTenantId(tenant) ? await urlsOfEndpoints(db, tenant, ids) : new Map()),
    match: async (tenant, id, input) => matchEndpoint(await get(tenant, id), input),
    publicKeys: createPublicKeys((ids) => targets.byIds(ids)),
    ...createEndpointSecrets({ db, defaults, changes, writer }),
    ...createEndpointSwitch({ db, changes, get, setActive, announce, onDisabled }),
    ...createHandshakes(db, changes),
  };

  async function create(tenant: string, input: EndpointInput, hosts: HostFindings): Promise<CreatedEndpoint> {
    const asOfNow = await context(hosts);
    const made = await writer.prepare(parseEndpointInput(input, asOfNow));
    const row = await change(tenant, async (tx) => {
      // exact: the tenant's row is locked, and this statement runs after that
      if ((await countEndpoints(tx, tenant)) >= maxPerTenant) throw limitReached(tenant, maxPerTenant);
      return { result: await writer.insert(tx, tenant, made), endpointIds: [made.id] };
    });
    const endpoint = toEndpoint(row, defaults, options.nowMs());
    return { endpoint, secret: made.secret.text, warnings: warningsOf(row, hosts) };
  }

  /** Call it before a transaction, which may hold the last connection of the pool. */
  async function context(hosts: HostFindings): Promise<SettingsContext> {
    return {
      addressPolicy: options.addressPolicy,
      hosts,
      defaults,
      typeProblem: await options.typeProblems(),
    };
  }

  async function list(tenant: string, query: Omit<EndpointQuery, "tenant"> = {}): Promise<Page<Endpoint>> {
    readIdPage("endpoints", query, FILTERS);
    if (!isTenantId(tenant)) throw tenantNotFound(tenant);
    const page = await listAll({ ...query, tenant });
    if (page.data.length === 0 && (await findTenant(db, tenant)) === null) throw tenantNotFound(tenant);
    return page;
  }

  async function listAll(query: EndpointQuery = {}): Promise<Page<Endpoint>> {
    const { limit, ...asked } = readIdPage("endpoints", query, { ...FILTERS, tenant: text() });
    const rows = await listEndpoints(db, { ...asked, limit: limit + 1 });
    return toPage("endpoints", rows, limit, await viewsOf(rows), (row) => row.id);
  }

  /** Reads what is not in the rows, and returns the function that converts them. */
  async function viewsOf(rows: readonly EndpointRow[]): Promise<(row: EndpointRow) => Endpoint> {
    const nowMs = options.nowMs();
    const ids = rows.map(({ id }) => id);
    const [lastDays, limits] = await Promise.all([lastDaysOf(db, ids, nowMs), inFlightLimitsOf(db, ids)]);
    return (row) => toEndpoint(row, defaults, nowMs, lastDays.get(row.id), limits.get(row.id));
  }

  async function get(tenant: string, id: string): Promise<Endpoint> {
    const row = await knownEndpoint(db, tenant, id);
    return (await viewsOf([row]))(row);
  }

  async function update(
    tenant: string,
    id: string,
    patch: EndpointPatch,
    hosts: HostFindings,
  ): Promise<UpdatedEndpoint> {
    const asOfNow = await context(hosts);
    const { row, warnings } = await changeOne(tenant, id, async (tx, current) => {
      refuseSubscription(current);
      const settings = parseEndpointPatch(patch, current, asOfNow);
      await writer.checkStillSigned(tx, current, settings);
      const row = await writer.update(tx, current, settings, tokenIn(patch));
      return { row, warnings: row.url === current.url ? [] : warningsOf(row, hosts) };
    });
    return { ...(await viewsOf([row]))(row), warnings };
  }

  async function setActive(tenant: string, id: string, isActive: boolean): Promise<Endpoint> {
    const { warnings: _, ...endpoint } = await update(tenant, id, { isActive }, NO_FINDINGS);
    return endpoint;
  }

  async function remove(tenant: string, id: string): Promise<void> {
    const endpointId = await changeOne(tenant, id, async (tx, current) => {
      await markDeleted(tx, [current.id]);
      await deleteHandshake(tx, current.id);
      await releaseHeldSubjects(tx, current.id);
      await subscriptions.onDeleted(tx, [current.id]);
      return current.id;
    });
    // after the commit: a backlog of a million must not keep the lane locked, because publishing waits for that lock
    await cancelQueued(db, [endpointId]);
    onRevoked();
  }
}

/** Returns null for a time in the past. */
function toDateAhead(ms: number | null | undefined, nowMs: number): Date | null {
  return ms !== null && ms !== undefined && ms > nowMs ? new Date(ms) : null;
}

/** A disabled endpoint is not probed, so it is never half-open. */
function shownCircuit({ health, isActive }: EndpointRow, nowMs: number): CircuitState {
  const circuit = circuitOf({ probeAtMs: health?.probeAtMs ?? null }, nowMs);
  return circuit === "half_open" && !isActive ? "open" : circuit;
}

function toEndpoint(
  row: EndpointRow,
  defaults: EndpointDefaults,
  nowMs: number,
  lastDay: LastDay | null = null,
  inFlightLimit?: number,
): Endpoint {
  const settings = effectiveSettings(row, defaults);
  return {
    id: formatId("ep", row.id),
    tenant: row.tenant,
    disabledReason: row.disabledReason,
    disabledAt: toDate(row.disabledMs),
    ...settings,
    authorization: row.authorization === null ? null : { type: row.authorization },
    handshake: toHandshake(row),
    circuit: shownCircuit(row, nowMs),
    health: {
      consecutiveFailures: row.health?.consecutiveFailures ?? 0,
      failingSince: toDate(row.health?.failingSinceMs),
      lastError: row.health?.lastError ?? null,
      probeAt: row.isActive ? toDateAhead(row.health?.probeAtMs, nowMs) : null,
      throttledUntil: toDateAhead(row.health?.throttledUntilMs, nowMs),
      currentMaxInFlight: inFlightLimit ?? settings.maxInFlight,
      lastDay,
    },
    websub:
      row.websubTopic === null
        ? null
        : { topic: row.websubTopic, leaseExpiresAt: new Date(row.leaseEndsMs as number) },
    createdAt: new Date(row.createdMs),
    updatedAt: new Date(row.updatedMs),
  };
}

function toHandshake({ handshake, grant }: EndpointRow): HandshakeView | null {
  if (handshake === null || grant === null) return null;
  return { ...handshake, ...dated(grant) };
}

function limitReached(tenant: string, max: number): PosthornError {
  return new PosthornError(
    "endpoint_limit_reached",
    `Tenant "${tenant}" has ${counted(max)}, which is the limit. Delete one, or raise maxEndpointsPerTenant.`,
  );
}
