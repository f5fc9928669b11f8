// API keys and tokens of members. The text is returned once, at creation; only its digest is stored.
import { SCOPES, type Scope } from "@posthorn/wire";
import { PosthornError } from "../../errors.ts";
import type { Database, Queryable } from "../../storage/database.ts";
import {
  countKeys,
  deleteExpired,
  deleteKey,
  insertKey,
  type KeyOwner,
  type KeyRow,
  type KnownKey,
  knownKeys,
  listKeys,
  markUsed,
  type NewKey,
} from "../../storage/queries/api-keys.ts";
import { cancelScheduledBy } from "../../storage/queries/replays/requester.ts";
import { lockTenant } from "../../storage/queries/tenants.ts";
import { type Dated, dated, type Page, type PageQuery, readPage, toPage } from "../page.ts";
import { integer, isWholeNumber, optional, readFields, required, text as textField } from "../read-fields.ts";
import { memberNotFound } from "../tenants/members.ts";
import { isCustomerTenantId, isTenantId, tenantNotFound } from "../tenants/tenants.ts";
import { type KeyKind, mintKey } from "./key-text.ts";

export interface Key extends Dated<Omit<KeyRow, "userId">> {
  /** The member that a token belongs to. Null for a key. */
  readonly user: string | null;
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
  /**
   * Servers that have the key cached reject it within a second, others at once. Replays that it has scheduled are
   * cancelled.
   */
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
    async create(input) {
      const { scopes, tenant, ...rest } = readFields(
        "invalid_key",
        "A key has no",
        input,
        keyFields(nowMs()),
      );
      if (tenant !== null && !isCustomerTenantId(tenant)) throw tenantNotFound(tenant);
      const made = await insert("phk", { ...rest, scopes: [...new Set(scopes)], tenant, userId: null });
      if (made === null) throw tenantNotFound(tenant);
      return made;
    },

    async createToken(tenant, user, input = {}) {
      const { expiresInSeconds, rateLimit } = readFields(
        "invalid_key",
        "A token has no",
        input,
        TOKEN_FIELDS,
      );
      const expiresAt = new Date(nowMs() + (expiresInSeconds ?? HOUR_SECONDS) * 1_000);
      const isNamed = isTenantId(tenant) && isTenantId(user);
      const name = `token of ${user}`;
      const made = isNamed
        ? await insert("pht", { name, scopes: [], tenant, userId: user, expiresAt, rateLimit })
        : null;
      if (made === null) throw memberNotFound(user);
      return made;
    },

    async list(query = {}) {
      const { limit, cursor, tenant } = readPage("keys", query, { tenant: textField() });
      const rows = await listKeys(db, tenant, cursor ?? "", limit + 1);
      return toPage("keys", rows, limit, toKey, (row) => row.id);
    },

    async revoke(id, scope = {}) {
      const isGone = /^[0-9A-Za-z]{1,32}$/.test(id) && (await revoke(id, scope.tenant ?? null));
      if (!isGone)
        throw new PosthornError("key_not_found", "There is no such key. List keys to see their ids.");
    },

    known: (ids) => knownKeys(db, ids),
    markUsed: (ids) => markUsed(db, ids),
  };

  async function revoke(id: string, tenant: string | null): Promise<boolean> {
    return await db.transaction(async (tx) => {
      if (!(await deleteKey(tx, id, tenant))) return false;
      await cancelScheduledBy(tx, { credentialId: id, tenant: null, userId: null }, "key_revoked");
      return true;
    });
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

const rateLimit = optional<number>(
  (value) => value === null || isWholeNumber(value, 1, MAX_RATE),
  `is a whole number of requests per second from 1 to ${MAX_RATE}, or null.`,
);
const TOKEN_FIELDS = { expiresInSeconds: integer(60, MAX_TOKEN_SECONDS), rateLimit };

function keyFields(nowMs: number) {
  return {
    name: required<string>(
      (name) => typeof name === "string" && name.trim() !== "" && name.length <= 200 && !/\p{Cc}/u.test(name),
      "is text of 1 to 200 characters; it describes what the key is for.",
    ),
    tenant: optional<string>(
      (tenant) => tenant === null || isTenantId(tenant),
      "is a tenant's id, or null for a key of the whole installation.",
    ),
    scopes: required<readonly Scope[]>(
      (scopes) =>
        Array.isArray(scopes) && scopes.length > 0 && scopes.every((scope) => SCOPES.includes(scope)),
      `is a list of at least one of ${SCOPES.join(", ")}.`,
    ),
    expiresAt: optional<Date>(
      (at) => at === null || (at instanceof Date && at.getTime() > nowMs),
      "is a time in the future, or null.",
    ),
    rateLimit,
  };
}

function toKey({ userId: user, ...row }: KeyRow): Key {
  return { ...dated(row), user };
}
