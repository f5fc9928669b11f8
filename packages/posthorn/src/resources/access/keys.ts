// API keys and tokens of members. The text is returned once, at creation; only its digest is stored.

import { findUnknown } from "../../did-you-mean.ts";
import { type InputProblem, PosthornError } from "../../errors.ts";
import type { Database, Queryable } from "../../storage/database.ts";
import type { KeyRow, KnownKey } from "../../storage/queries/api-keys/key-row.ts";
import { knownKeys, listKeys } from "../../storage/queries/api-keys/read.ts";
import {
  countKeys,
  deleteExpired,
  deleteKey,
  insertKey,
  type KeyOwner,
  markUsed,
  type NewKey,
} from "../../storage/queries/api-keys/write.ts";
import type { MemberRole } from "../../storage/queries/members/member-row.ts";
import { lockTenant } from "../../storage/queries/tenants/lock.ts";
import { type Page, type PageQuery, QueryReader, toPage } from "../page.ts";
import { memberNotFound } from "../tenants/members.ts";
import { isCustomerTenantId, isTenantId, tenantNotFound } from "../tenants/tenants.ts";
import { type KeyKind, mintKey } from "./key-text.ts";

/** `admin` includes all others. */
export const SCOPES = [
  "events:publish",
  "webhooks:manage",
  "deliveries:read",
  "deliveries:retry",
  "payloads:read",
  "admin",
] as const;
export type Scope = (typeof SCOPES)[number];

export interface Key {
  readonly id: string;
  readonly name: string;
  /** Null for a key of the whole installation. */
  readonly tenant: string | null;
  /** The member that a token belongs to. Null for a key. */
  readonly user: string | null;
  /** The current role of a token's member. Null for a key. */
  readonly role: MemberRole | null;
  /** Empty for a token: its member's role decides. */
  readonly scopes: readonly string[];
  /** Requests per second and process. Null uses the deployment default. */
  readonly rateLimit: number | null;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  /** To the minute. */
  readonly lastUsedAt: Date | null;
}

export interface KeyInput {
  readonly name: string;
  readonly tenant?: string | null | undefined;
  readonly scopes: readonly Scope[];
  readonly expiresAt?: Date | null | undefined;
  readonly rateLimit?: number | null | undefined;
}

export interface TokenInput {
  /** 1 minute to 30 days. Default 1 hour. */
  readonly expiresInSeconds?: number | undefined;
  readonly rateLimit?: number | null | undefined;
}

export interface Keys {
  /** `text` is the key itself, returned only here. */
  create(input: KeyInput): Promise<{ readonly key: Key; readonly text: string }>;
  /** Creates a token for a member. It has the role that the member has at the time of use. */
  createToken(
    tenant: string,
    user: string,
    input?: TokenInput,
  ): Promise<{ readonly key: Key; readonly text: string }>;
  list(query?: PageQuery & { readonly tenant?: string | undefined }): Promise<Page<Key>>;
  /** Servers that have the key cached reject it within a second, others at once. */
  revoke(id: string, scope?: { readonly tenant?: string | undefined }): Promise<void>;
  /** Returns the valid keys with these ids, including their digests. */
  known(ids: readonly string[]): Promise<readonly KnownKey[]>;
  markUsed(ids: readonly string[]): Promise<void>;
}

const HOUR_SECONDS = 3_600;
const MAX_TOKEN_SECONDS = 30 * 24 * HOUR_SECONDS;
const MAX_RATE = 100_000;
/** Limit per tenant; keys of the whole installation are not limited. */
export const MAX_KEYS = 100;
/** Limit per member. */
export const MAX_TOKENS = 100;

export function createKeys({ db, nowMs }: { readonly db: Database; readonly nowMs: () => number }): Keys {
  return {
    create,
    createToken,
    list,
    revoke,
    known: (ids) => knownKeys(db, ids),
    markUsed: (ids) => markUsed(db, ids),
  };

  async function create(input: KeyInput) {
    checkInput(input, nowMs());
    const { name, scopes, tenant = null, expiresAt = null, rateLimit = null } = input;
    if (tenant !== null && !isCustomerTenantId(tenant)) throw tenantNotFound(tenant);
    const once = [...new Set(scopes)];
    const made = await insert("phk", { name, scopes: once, tenant, userId: null, expiresAt, rateLimit });
    if (made === null) throw tenantNotFound(tenant);
    return made;
  }

  async function createToken(tenant: string, user: string, input: TokenInput = {}) {
    const seconds = checkToken(input);
    const { rateLimit = null } = input;
    const expiresAt = new Date(nowMs() + seconds * 1_000);
    const isNamed = isTenantId(tenant) && isTenantId(user);
    const name = `token of ${user}`;
    const made = isNamed
      ? await insert("pht", { name, scopes: [], tenant, userId: user, expiresAt, rateLimit })
      : null;
    if (made === null) throw memberNotFound(user);
    return made;
  }

  async function insert(kind: KeyKind, key: Omit<NewKey, "id" | "digest">) {
    const { id, text, digest } = mintKey(kind);
    const { tenant, userId } = key;
    const row = await db.transaction(async (tx) => {
      if (tenant !== null) await checkLimit(tx, { tenant, userId });
      return await insertKey(tx, { ...key, id, digest });
    });
    return row === null ? null : { key: toKey(row), text };
  }

  async function list(query: PageQuery & { readonly tenant?: string | undefined } = {}) {
    const reader = new QueryReader();
    const limit = reader.limit(query);
    const after = reader.cursor("keys", query);
    const tenant = reader.text("tenant", query.tenant);
    reader.finish(["limit", "cursor", "tenant"], query);
    const rows = await listKeys(db, { tenant, after, limit: limit + 1 });
    return toPage("keys", rows, limit, toKey, (row) => row.id);
  }

  async function revoke(id: string, scope: { readonly tenant?: string | undefined } = {}): Promise<void> {
    const isGone = /^[0-9A-Za-z]{1,32}$/.test(id) && (await deleteKey(db, id, scope.tenant ?? null));
    if (!isGone)
      throw new PosthornError("key_not_found", "There is no such key. List keys to see their ids.");
  }
}

/** Expired keys stay listed until the limit is reached. */
async function checkLimit(tx: Queryable, owner: KeyOwner): Promise<void> {
  // of two concurrent calls, the second must count the key of the first
  await lockTenant(tx, owner.tenant);
  const max = owner.userId === null ? MAX_KEYS : MAX_TOKENS;
  if ((await countKeys(tx, owner)) < max) return;
  await deleteExpired(tx, owner);
  if ((await countKeys(tx, owner)) < max) return;
  const what =
    owner.userId === null
      ? `Tenant "${owner.tenant}" has ${max} keys`
      : `Member "${owner.userId}" has ${max} tokens`;
  throw new PosthornError(
    "key_limit_reached",
    `${what}, which is the limit. Revoke one, or wait until one has expired.`,
  );
}

function checkInput(input: KeyInput, nowMs: number): void {
  const problems: InputProblem[] = [];
  const refuse = (pointer: string, message: string) => problems.push({ pointer, message });
  if (typeof input !== "object" || input === null) {
    throw new PosthornError("invalid_key", "A key is an object with a name and scopes.");
  }
  findUnknown("A key has no", input, ["name", "tenant", "scopes", "expiresAt", "rateLimit"], problems);
  const { name, scopes, tenant, expiresAt, rateLimit } = input;
  if (typeof name !== "string" || name.trim() === "" || name.length > 200 || /\p{Cc}/u.test(name)) {
    refuse("/name", "name is text of 1 to 200 characters; it tells people what the key is for.");
  }
  if (!Array.isArray(scopes) || scopes.length === 0 || !scopes.every((scope) => SCOPES.includes(scope))) {
    refuse("/scopes", `scopes is a list of at least one of ${SCOPES.join(", ")}.`);
  }
  if (tenant !== undefined && tenant !== null && !isTenantId(tenant)) {
    refuse("/tenant", "tenant is a tenant's id, or null for a key of the whole installation.");
  }
  if (expiresAt !== undefined && expiresAt !== null) {
    const ms = expiresAt instanceof Date ? expiresAt.getTime() : Number.NaN;
    if (!(ms > nowMs)) refuse("/expiresAt", "expiresAt is a time in the future, or null.");
  }
  checkRate(rateLimit, problems);
  const [first] = problems;
  if (first !== undefined) throw new PosthornError("invalid_key", first.message, { problems });
}

function checkToken(input: TokenInput): number {
  const problems: InputProblem[] = [];
  findUnknown("A token has no", input, ["expiresInSeconds", "rateLimit"], problems);
  checkRate(input.rateLimit, problems);
  const { expiresInSeconds = HOUR_SECONDS } = input;
  if (!isWholeNumber(expiresInSeconds, 60, MAX_TOKEN_SECONDS)) {
    const message = `expiresInSeconds is a whole number from 60 to ${MAX_TOKEN_SECONDS}.`;
    problems.push({ pointer: "/expiresInSeconds", message });
  }
  const [first] = problems;
  if (first !== undefined) throw new PosthornError("invalid_key", first.message, { problems });
  return expiresInSeconds;
}

function checkRate(rateLimit: number | null | undefined, problems: InputProblem[]): void {
  if (rateLimit === undefined || rateLimit === null || isWholeNumber(rateLimit, 1, MAX_RATE)) return;
  const message = `rateLimit is a whole number of requests per second from 1 to ${MAX_RATE}, or null.`;
  problems.push({ pointer: "/rateLimit", message });
}

function isWholeNumber(value: unknown, least: number, most: number): boolean {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
}

function toKey(row: KeyRow): Key {
  return {
    id: row.id,
    name: row.name,
    tenant: row.tenant,
    user: row.userId,
    role: row.role,
    scopes: row.scopes,
    rateLimit: row.rateLimit,
    createdAt: new Date(row.createdMs),
    expiresAt: row.expiresMs === null ? null : new Date(row.expiresMs),
    lastUsedAt: row.lastUsedMs === null ? null : new Date(row.lastUsedMs),
  };
}
