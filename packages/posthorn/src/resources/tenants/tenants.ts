// Tenants, identified by your own ids. A tenant must exist before its first endpoint is created.
import type { SubscriptionKind } from "../../destinations/destination.ts";
import { type InputProblem, PosthornError } from "../../errors.ts";
import {
  maxTypeLength,
  reservedTenant,
  reservedTenantInWords,
  tenantSyntax,
  tenantSyntaxInWords,
} from "../../event/limits.ts";
import { SYSTEM_TYPE_PREFIX } from "../../fan-out/matches.ts";
import type { Uuid } from "../../model.ts";
import type { Database, Queryable } from "../../storage/database.ts";
import { syncLanes } from "../../storage/queries/endpoints/sync-lanes.ts";
import { markDeleted } from "../../storage/queries/endpoints/write.ts";
import { cancelQueued } from "../../storage/queries/queue/cancel.ts";
import {
  countEndpointsOfTenant,
  deleteTenant,
  findTenant,
  hasUnfinishedDeliveries,
  incrementRoutingVersion,
  insertTenant,
  listTenants,
  lockTenant,
  type TenantEndpoints,
  type TenantRow,
  touchEndpoints,
  unreserveId,
  updateTenant,
  wasDeleted,
} from "../../storage/queries/tenants.ts";
import { type Dated, dated, type Page, type PageQuery, readPage, toPage } from "../page.ts";
import { boolean, optional, readFields, text } from "../read-fields.ts";

export interface Tenant extends Dated<Omit<TenantRow, "websubTopics">> {
  /** Event types that anyone may read and subscribe to with WebSub, such as `order.*`. */
  readonly websubTopics: readonly string[];
}

/** Fields left out stay unchanged. */
export interface TenantInput {
  readonly name?: string | null | undefined;
  /**
   * False: nothing is sent. Events published from now on are stored but never delivered, not even later. Queued deliveries
   * wait until the tenant is active again. Default true.
   */
  readonly isActive?: boolean | undefined;
  /**
   * Event types (exact, `order.*` or `*`) that anyone may read and subscribe to at `/websub/topics/{tenant}/{type}` if the
   * hub is enabled. Removing a topic ends its subscriptions. Default: none.
   */
  readonly websubTopics?: readonly string[] | undefined;
  /** Restores a deleted tenant with its history; without it, the id of a deleted tenant is refused. Default false. */
  readonly restore?: boolean | undefined;
}

export interface TenantQuery extends PageQuery {
  /** A part of the id or of the name, in any letter case. */
  readonly search?: string | undefined;
}

export interface Tenants {
  upsert(id: string, input?: TenantInput): Promise<Tenant>;
  get(id: string): Promise<Tenant>;
  list(query?: TenantQuery): Promise<Page<Tenant>>;
  /**
   * Throws while the tenant has endpoints. Subscriptions are ended and their subscribers notified. Events and
   * deliveries stay, so the id can only be used again with `restore`.
   */
  delete(id: string): Promise<void>;
}

export interface TenantsOptions {
  readonly db: Database;
  readonly subscriptions: SubscriptionKind;
  /** Called after the commit, to notify each worker that owns lanes of the tenant. */
  readonly onChanged?: (owner: number | null) => void;
  /** Called after subscriptions were revoked, to notify the subscribers. */
  readonly onRevoked?: () => void;
}

export function createTenants({ db, subscriptions, onChanged, onRevoked }: TenantsOptions): Tenants {
  return {
    async upsert(id, input = {}) {
      checkInput(id, input);
      const { row, owners, revoked } = await db.transaction(async (tx) => {
        if (await insertTenant(tx, id)) await restoreDeleted(tx, id, input);
        const before = await lockTenant(tx, id);
        // deleted concurrently, after insertTenant found it
        if (before === null) throw tenantDeleted(id);
        const row = await updateTenant(tx, id, input);
        const revoked = input.websubTopics === undefined ? [] : await revokeClosed(tx, row);
        const touched = before.isActive === row.isActive ? [] : await touchEndpoints(tx, id);
        return { row, revoked, owners: await sync(tx, id, [...touched, ...revoked]) };
      });
      await afterCommit(owners, revoked);
      return toTenant(row);
    },

    async get(id) {
      const row = isTenantId(id) ? await findTenant(db, id) : null;
      if (row === null) throw tenantNotFound(id);
      return toTenant(row);
    },

    async list(query = {}) {
      const { limit, cursor, search } = readPage("tenants", query, { search: text() });
      const rows = await listTenants(db, cursor ?? "", limit + 1, search);
      return toPage("tenants", rows, limit, toTenant, (row) => row.id);
    },

    async delete(id) {
      if (!isCustomerTenantId(id)) throw tenantNotFound(id);
      await closeTopics(id);
      await db.transaction(async (tx) => {
        const { deletedIds, subscriptions } = await restWithoutEndpoints(tx, id);
        // verified after closeTopics
        if (subscriptions > 0) throw stillSending(id);
        await cancelQueued(tx, deletedIds);
        if (await hasUnfinishedDeliveries(tx, deletedIds)) throw stillSending(id);
        await deleteTenant(tx, id);
      });
    },
  };

  async function afterCommit(owners: readonly (number | null)[], revoked: readonly Uuid[]): Promise<void> {
    for (const owner of owners) onChanged?.(owner);
    if (revoked.length === 0) return;
    await cancelQueued(db, revoked);
    onRevoked?.();
  }

  /** A separate transaction that stays committed if the deletion has to wait: with many subscribers, something is always in flight. */
  async function closeTopics(id: string): Promise<void> {
    const { owners, revoked } = await db.transaction(async (tx) => {
      const { subscriptions } = await restWithoutEndpoints(tx, id);
      if (subscriptions === 0) return { owners: [], revoked: [] };
      const revoked = await revokeClosed(tx, await updateTenant(tx, id, { websubTopics: [] }));
      return { revoked, owners: await sync(tx, id, revoked) };
    });
    await afterCommit(owners, revoked);
  }

  /** Deletes the subscriptions to topics that are no longer open, and returns their ids. */
  async function revokeClosed(tx: Queryable, tenant: TenantRow): Promise<Uuid[]> {
    const closed = await subscriptions.disallowed(tx, tenant);
    if (closed.length === 0) return closed;
    await markDeleted(tx, closed);
    await subscriptions.onDeleted(tx, closed);
    return closed;
  }
}

/** Returns the workers to notify. */
async function sync(tx: Queryable, tenant: string, changed: readonly Uuid[]): Promise<(number | null)[]> {
  if (changed.length === 0) return [];
  await incrementRoutingVersion(tx, tenant);
  return [...new Set((await syncLanes(tx, changed)).values())];
}

/** Returns what is left of a tenant that is to be deleted. Throws if it has endpoints. */
async function restWithoutEndpoints(tx: Queryable, id: string): Promise<TenantEndpoints> {
  if ((await lockTenant(tx, id)) === null) throw tenantNotFound(id);
  const rest = await countEndpointsOfTenant(tx, id);
  if (rest.endpoints === 0) return rest;
  throw new PosthornError(
    "tenant_not_empty",
    `Tenant "${id}" has ${counted(rest.endpoints)}. Delete ${rest.endpoints === 1 ? "it" : "them"} first.`,
  );
}

function stillSending(id: string): PosthornError {
  return new PosthornError(
    "tenant_not_empty",
    `A delivery to a deleted endpoint of tenant "${id}" is still in flight. Try again in a minute.`,
  );
}

/** A new tenant with the id of a deleted one would get its history, so that must be requested. */
async function restoreDeleted(tx: Queryable, id: string, { restore = false }: TenantInput): Promise<void> {
  if (restore) return await unreserveId(tx, id);
  if (await wasDeleted(tx, id)) throw tenantDeleted(id);
}

function tenantDeleted(id: string): PosthornError {
  return new PosthornError(
    "tenant_deleted",
    `Tenant "${id}" was deleted, and its history is kept. Send restore: true to bring it back with its history, or choose another id.`,
  );
}

export function isTenantId(id: unknown): id is string {
  return typeof id === "string" && tenantSyntax.test(id);
}

/** Excludes Posthorn's own tenant: its endpoints would reveal all subscribers and could send to them. */
export function isCustomerTenantId(id: unknown): id is string {
  return isTenantId(id) && id !== reservedTenant;
}

export function tenantNotFound(id: unknown): PosthornError {
  if (id === reservedTenant) return new PosthornError("tenant_not_found", reservedTenantInWords);
  const shown = isTenantId(id) ? `"${id}"` : "of that name";
  return new PosthornError("tenant_not_found", `There is no tenant ${shown}. Create it first.`);
}

/** `1 endpoint`, `2 endpoints`. */
export function counted(endpoints: number): string {
  return `${endpoints} endpoint${endpoints === 1 ? "" : "s"}`;
}

const MAX_NAME_LENGTH = 200;

function checkInput(id: unknown, input: TenantInput): void {
  const problems: InputProblem[] = [];
  const refuse = (message: string) => problems.push({ pointer: "/id", message });
  if (!isTenantId(id)) refuse(`A tenant's id has ${tenantSyntaxInWords}`);
  if (id === reservedTenant) refuse(reservedTenantInWords);
  readFields("invalid_tenant", "A tenant has no", input, FIELDS, problems);
}

const MAX_TOPICS = 100;
const patternSyntax = /^(\*|[a-z0-9_]+(\.[a-z0-9_]+)*(\.\*)?)$/;

const FIELDS = {
  name: optional(
    (name) =>
      name === null || (typeof name === "string" && name.length <= MAX_NAME_LENGTH && !name.includes("\0")),
    `is text of at most ${MAX_NAME_LENGTH} characters, or null.`,
  ),
  isActive: boolean,
  websubTopics: optional(
    (topics) => Array.isArray(topics) && topics.length <= MAX_TOPICS && topics.every(isTopic),
    `is a list of at most ${MAX_TOPICS} event types such as order.paid, order.* or *, and none that begins with ${SYSTEM_TYPE_PREFIX}.`,
  ),
  restore: boolean,
};

function isTopic(pattern: unknown): boolean {
  return (
    typeof pattern === "string" &&
    pattern.length <= maxTypeLength &&
    patternSyntax.test(pattern) &&
    !pattern.startsWith(SYSTEM_TYPE_PREFIX)
  );
}

function toTenant(row: TenantRow): Tenant {
  return { ...dated(row), websubTopics: row.websubTopics ?? [] };
}
