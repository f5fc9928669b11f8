// Tenants: under your own ids, made before their first endpoint.

import { findUnknown } from "../did-you-mean.ts";
import { type InputProblem, PosthornError } from "../errors.ts";
import { maxTypeLength, tenantSyntax, tenantSyntaxInWords } from "../event/limits.ts";
import { matches, SYSTEM_TYPE_PREFIX } from "../fan-out/matches.ts";
import type { Uuid } from "../model.ts";
import type { Database, Queryable } from "../storage/database.ts";
import { syncLanes } from "../storage/queries/endpoints/sync-lanes.ts";
import { cancelOwed } from "../storage/queries/queue/cancel.ts";
import { deleteTenant, isOwedAnything, restOfTenant } from "../storage/queries/tenants/delete.ts";
import { lockTenant, raiseRoutingVersion } from "../storage/queries/tenants/lock.ts";
import { findTenant, listTenants } from "../storage/queries/tenants/read.ts";
import {
  forgetDeletion,
  insertTenant,
  touchEndpoints,
  updateTenant,
  wasDeleted,
} from "../storage/queries/tenants/save.ts";
import type { TenantRow } from "../storage/queries/tenants/tenant-row.ts";
import { subscriptionsOfTenant } from "../storage/queries/websub/subscriptions.ts";
import { type Page, type PageQuery, QueryReader, toPage } from "./page.ts";
import { NOT_OFFERED, revokeSubscription } from "./subscription-end.ts";

export interface Tenant {
  readonly id: string;
  readonly name: string | null;
  /** False: nothing is sent. See `TenantInput`. */
  readonly isActive: boolean;
  /** Event types that anybody may read and follow by WebSub, such as `order.*`. */
  readonly websubTopics: readonly string[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What is left out stays as it is. */
export interface TenantInput {
  readonly name?: string | null | undefined;
  /**
   * False: nothing is sent. Events published from now on are kept and reach nobody, also not later: an inactive tenant
   * gets nothing. Deliveries that were owed before wait, and go out when it is active again. Default true.
   */
  readonly isActive?: boolean | undefined;
  /**
   * Event types, exact, as `order.*` or as `*`, that anybody may read and follow at `/websub/topics/{tenant}/{type}` where
   * the hub is switched on. What is taken away ends the subscriptions to it. Default: none.
   */
  readonly websubTopics?: readonly string[] | undefined;
  /** Brings back one that was deleted, with the history that was kept; otherwise its id is refused. Default false. */
  readonly restore?: boolean | undefined;
}

export interface Tenants {
  upsert(id: string, input?: TenantInput): Promise<Tenant>;
  get(id: string): Promise<Tenant>;
  list(query?: PageQuery): Promise<Page<Tenant>>;
  /** Refused while it has endpoints. Its events and deliveries stay, and nobody else gets its id. */
  delete(id: string): Promise<void>;
}

export interface TenantsOptions {
  readonly db: Database;
  /** After the commit, so that each worker that owns lanes of the tenant can be told. */
  readonly onChanged?: (owner: number | null) => void;
  /** Subscribers are to be told. */
  readonly onRevoked?: () => void;
}

export function createTenants({ db, onChanged, onRevoked }: TenantsOptions): Tenants {
  return { upsert, get, list, delete: remove };

  async function upsert(id: string, input: TenantInput = {}): Promise<Tenant> {
    checkInput(id, input);
    const { row, owners, revoked } = await db.transaction(async (tx) => {
      if (await insertTenant(tx, id)) await settleDeletion(tx, id, input);
      const before = await lockTenant(tx, id);
      // by somebody else, since we saw it a moment ago
      if (before === null) throw tenantDeleted(id);
      const row = await updateTenant(tx, id, input);
      const revoked = input.websubTopics === undefined ? [] : await revokeClosed(tx, row);
      if (before.isActive === row.isActive && revoked.length === 0) return { row, owners: [], revoked };
      await raiseRoutingVersion(tx, id);
      const lanes = await syncLanes(tx, [...(await touchEndpoints(tx, id)), ...revoked]);
      return { row, owners: [...new Set(lanes.values())], revoked };
    });
    for (const owner of owners) onChanged?.(owner);
    if (revoked.length > 0) {
      await cancelOwed(db, revoked);
      onRevoked?.();
    }
    return toTenant(row);
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
    if (!isTenantId(id)) throw tenantNotFound(id);
    await db.transaction(async (tx) => {
      if ((await lockTenant(tx, id)) === null) throw tenantNotFound(id);
      const { endpoints, deletedIds } = await restOfTenant(tx, id);
      if (endpoints > 0) {
        throw new PosthornError(
          "tenant_not_empty",
          `Tenant "${id}" has ${counted(endpoints)}. Delete ${endpoints === 1 ? "it" : "them"} first.`,
        );
      }
      await cancelOwed(tx, deletedIds);
      if (await isOwedAnything(tx, deletedIds)) {
        throw new PosthornError(
          "tenant_not_empty",
          `A last delivery to a deleted endpoint of tenant "${id}" is being sent. Try again in a minute.`,
        );
      }
      await deleteTenant(tx, id);
    });
  }
}

/** Whoever gets the id of one that was deleted gets what is left of it: that is asked for, or refused. */
async function settleDeletion(tx: Queryable, id: string, { restore = false }: TenantInput): Promise<void> {
  if (restore) return await forgetDeletion(tx, id);
  if (await wasDeleted(tx, id)) throw tenantDeleted(id);
}

/** What is not open any more is not sent any more, from this transaction on. */
async function revokeClosed(tx: Queryable, { id, websubTopics }: TenantRow): Promise<Uuid[]> {
  const subscriptions = await subscriptionsOfTenant(tx, id);
  const closed = subscriptions.filter(({ eventType }) => !isOpenTopic(websubTopics ?? [], eventType));
  for (const subscription of closed) await revokeSubscription(tx, subscription, NOT_OFFERED);
  return closed.map((subscription) => subscription.id);
}

/** Posthorn's own events are nobody else's business, whatever is open. */
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

export function tenantNotFound(id: unknown): PosthornError {
  const shown = isTenantId(id) ? `"${id}"` : "of that name";
  return new PosthornError("tenant_not_found", `There is no tenant ${shown}. Make it first.`);
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
    const kept = `Types that begin with ${SYSTEM_TYPE_PREFIX} are Posthorn's own, and open to nobody.`;
    refuse("/websubTopics", kept);
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
