// Tenants, identified by your own ids. A tenant must exist before its first endpoint is created.

import { findUnknown } from "../../did-you-mean.ts";
import { type InputProblem, PosthornError } from "../../errors.ts";
import {
  hubTenant,
  hubTenantInWords,
  maxTypeLength,
  tenantSyntax,
  tenantSyntaxInWords,
} from "../../event/limits.ts";
import { matches, SYSTEM_TYPE_PREFIX } from "../../fan-out/matches.ts";
import type { Uuid } from "../../model.ts";
import type { Database, Queryable } from "../../storage/database.ts";
import { syncLanes } from "../../storage/queries/endpoints/sync-lanes.ts";
import { cancelQueued } from "../../storage/queries/queue/cancel.ts";
import {
  deleteTenant,
  hasUnfinishedDeliveries,
  restOfTenant,
  type TenantRest,
} from "../../storage/queries/tenants/delete.ts";
import { incrementRoutingVersion, lockTenant } from "../../storage/queries/tenants/lock.ts";
import { findTenant, listTenants } from "../../storage/queries/tenants/read.ts";
import {
  forgetDeletion,
  insertTenant,
  touchEndpoints,
  updateTenant,
  wasDeleted,
} from "../../storage/queries/tenants/save.ts";
import type { TenantRow } from "../../storage/queries/tenants/tenant-row.ts";
import { subscriptionsOfTenant } from "../../storage/queries/websub/subscriptions.ts";
import { NOT_OFFERED, revokeSubscriptions } from "../endpoints/subscription-end.ts";
import { type Page, type PageQuery, QueryReader, toPage } from "../page.ts";

export interface Tenant {
  readonly id: string;
  readonly name: string | null;
  /** False: nothing is sent. See `TenantInput`. */
  readonly isActive: boolean;
  /** Event types that anyone may read and subscribe to with WebSub, such as `order.*`. */
  readonly websubTopics: readonly string[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
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

export interface Tenants {
  upsert(id: string, input?: TenantInput): Promise<Tenant>;
  get(id: string): Promise<Tenant>;
  list(query?: PageQuery): Promise<Page<Tenant>>;
  /**
   * Throws while the tenant has endpoints. WebSub subscriptions are ended and their subscribers notified. Events and
   * deliveries stay, so the id can only be used again with `restore`.
   */
  delete(id: string): Promise<void>;
}

export interface TenantsOptions {
  readonly db: Database;
  /** Called after the commit, to notify each worker that owns lanes of the tenant. */
  readonly onChanged?: (owner: number | null) => void;
  /** Called after subscriptions were revoked, to notify the subscribers. */
  readonly onRevoked?: () => void;
}

export function createTenants({ db, onChanged, onRevoked }: TenantsOptions): Tenants {
  return { upsert, get, list, delete: remove };

  async function upsert(id: string, input: TenantInput = {}): Promise<Tenant> {
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
  }

  async function afterCommit(owners: readonly (number | null)[], revoked: readonly Uuid[]): Promise<void> {
    for (const owner of owners) onChanged?.(owner);
    if (revoked.length === 0) return;
    await cancelQueued(db, revoked);
    onRevoked?.();
  }

  async function get(id: string): Promise<Tenant> {
    const row = isTenantId(id) ? await findTenant(db, id) : null;
    if (row === null) throw tenantNotFound(id);
    return toTenant(row);
  }

  async function list(query: PageQuery = {}): Promise<Page<Tenant>> {
    const reader = new QueryReader();
    const limit = reader.limit(query);
    const after = reader.cursor("tenants", query);
    reader.finish(["limit", "cursor"], query);
    const rows = await listTenants(db, after, limit + 1);
    return toPage("tenants", rows, limit, toTenant, (row) => row.id);
  }

  async function remove(id: string): Promise<void> {
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
}

/** Returns the workers to notify. */
async function sync(tx: Queryable, tenant: string, changed: readonly Uuid[]): Promise<(number | null)[]> {
  if (changed.length === 0) return [];
  await incrementRoutingVersion(tx, tenant);
  return [...new Set((await syncLanes(tx, changed)).values())];
}

/** Returns what is left of a tenant that is to be deleted. Throws if it has endpoints. */
async function restWithoutEndpoints(tx: Queryable, id: string): Promise<TenantRest> {
  if ((await lockTenant(tx, id)) === null) throw tenantNotFound(id);
  const rest = await restOfTenant(tx, id);
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
  if (restore) return await forgetDeletion(tx, id);
  if (await wasDeleted(tx, id)) throw tenantDeleted(id);
}

/** Revokes the subscriptions to topics that are no longer open, and returns their ids. */
async function revokeClosed(tx: Queryable, { id, websubTopics }: TenantRow): Promise<Uuid[]> {
  const subscriptions = await subscriptionsOfTenant(tx, id);
  const closed = subscriptions
    .filter(({ eventType }) => !isOpenTopic(websubTopics ?? [], eventType))
    .map((subscription) => subscription.id);
  if (closed.length > 0) await revokeSubscriptions(tx, closed, NOT_OFFERED);
  return closed;
}

/** Posthorn's own events are never open. */
export function isOpenTopic(openTypes: readonly string[], type: string): boolean {
  return !type.startsWith(SYSTEM_TYPE_PREFIX) && matches(openTypes, type);
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

/** Excludes the hub's own tenant: its endpoints would reveal all subscribers and could send to them. */
export function isCustomerTenantId(id: unknown): id is string {
  return isTenantId(id) && id !== hubTenant;
}

export function tenantNotFound(id: unknown): PosthornError {
  if (id === hubTenant) return new PosthornError("tenant_not_found", hubTenantInWords);
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
  const refuse = (pointer: string, message: string) => problems.push({ pointer, message });
  if (!isTenantId(id)) refuse("/id", `A tenant's id has ${tenantSyntaxInWords}`);
  if (id === hubTenant) refuse("/id", hubTenantInWords);
  findUnknown("A tenant has no", input, ["name", "isActive", "websubTopics", "restore"], problems);
  const { name, isActive, websubTopics, restore } = input;
  const nameFits = typeof name !== "string" || (name.length <= MAX_NAME_LENGTH && !name.includes("\0"));
  if (!nameFits || (name !== undefined && name !== null && typeof name !== "string")) {
    refuse("/name", `name is text of at most ${MAX_NAME_LENGTH} characters, or null.`);
  }
  if (isActive !== undefined && typeof isActive !== "boolean")
    refuse("/isActive", "isActive is true or false.");
  if (websubTopics !== undefined && !areTypePatterns(websubTopics)) {
    refuse(
      "/websubTopics",
      `websubTopics is a list of at most ${MAX_TOPICS} event types such as order.paid, order.* or *.`,
    );
  } else if (websubTopics?.some((type) => type.startsWith(SYSTEM_TYPE_PREFIX))) {
    const message = `Types that begin with ${SYSTEM_TYPE_PREFIX} are Posthorn's own and cannot be topics.`;
    refuse("/websubTopics", message);
  }
  if (restore !== undefined && typeof restore !== "boolean") refuse("/restore", "restore is true or false.");
  const [first] = problems;
  if (first !== undefined) throw new PosthornError("invalid_tenant", first.message, { problems });
}

const MAX_TOPICS = 100;
const patternSyntax = /^(\*|[a-z0-9_]+(\.[a-z0-9_]+)*(\.\*)?)$/;

function areTypePatterns(patterns: unknown): boolean {
  return (
    Array.isArray(patterns) &&
    patterns.length <= MAX_TOPICS &&
    patterns.every(
      (pattern) =>
        typeof pattern === "string" && pattern.length <= maxTypeLength && patternSyntax.test(pattern),
    )
  );
}

function toTenant(row: TenantRow): Tenant {
  return {
    id: row.id,
    name: row.name,
    isActive: row.isActive,
    websubTopics: row.websubTopics ?? [],
    createdAt: new Date(row.createdMs),
    updatedAt: new Date(row.updatedMs),
  };
}
