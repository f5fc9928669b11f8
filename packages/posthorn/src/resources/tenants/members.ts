// Members: your users who belong to a tenant, and their roles. Owners and admins with an e-mail address are notified when
// an endpoint is disabled.
import { type InputProblem, PosthornError } from "../../errors.ts";
import { tenantSyntaxInWords } from "../../event/limits.ts";
import type { Database } from "../../storage/database.ts";
import {
  deleteMember,
  findMember,
  listMembers,
  type MemberRole,
  type MemberRow,
  saveMember,
  updateMember,
} from "../../storage/queries/members.ts";
import { cancelScheduledBy } from "../../storage/queries/replays/requester.ts";
import { findTenant } from "../../storage/queries/tenants.ts";
import { type Dated, dated, type Page, type PageQuery, readPage, toPage } from "../page.ts";
import { optional, readFields, required } from "../read-fields.ts";
import { isCustomerTenantId, isTenantId, tenantNotFound } from "./tenants.ts";

export interface Member extends Dated<Omit<MemberRow, "userId">> {
  /** Your own id for the user. */
  readonly user: string;
}

export interface MemberInput {
  readonly role: MemberRole;
  /** Left out, it stays unchanged; null removes it. */
  readonly email?: string | null | undefined;
}

export interface Members {
  /** Creates or updates the member. */
  put(tenant: string, user: string, input: MemberInput): Promise<Member>;
  /** Updates the member. Throws if there is none. */
  update(tenant: string, user: string, input: MemberInput): Promise<Member>;
  get(tenant: string, user: string): Promise<Member>;
  list(tenant: string, query?: PageQuery): Promise<Page<Member>>;
  /** Also ends the member's tokens and cancels the replays that they have scheduled. */
  delete(tenant: string, user: string): Promise<void>;
}

export function createMembers(db: Database): Members {
  return {
    async put(tenant, user, input) {
      checkInput(user, input);
      const row = isCustomerTenantId(tenant) ? await saveMember(db, tenant, user, input) : null;
      if (row === null) throw tenantNotFound(tenant);
      return toMember(row);
    },

    async update(tenant, user, input) {
      checkInput(user, input);
      const row = isTenantId(tenant) ? await updateMember(db, tenant, user, input) : null;
      if (row === null) throw memberNotFound(user);
      return toMember(row);
    },

    async get(tenant, user) {
      const row = isTenantId(tenant) && isTenantId(user) ? await findMember(db, tenant, user) : null;
      if (row === null) throw memberNotFound(user);
      return toMember(row);
    },

    async list(tenant, query = {}) {
      const { limit, cursor } = readPage("members", query, {});
      if (!isTenantId(tenant)) throw tenantNotFound(tenant);
      const rows = await listMembers(db, tenant, cursor ?? "", limit + 1);
      if (rows.length === 0 && (await findTenant(db, tenant)) === null) throw tenantNotFound(tenant);
      return toPage("members", rows, limit, toMember, (row) => row.userId);
    },

    async delete(tenant, user) {
      const isGone = isTenantId(tenant) && isTenantId(user) && (await remove(tenant, user));
      if (!isGone) throw memberNotFound(user);
    },
  };

  async function remove(tenant: string, userId: string): Promise<boolean> {
    return await db.transaction(async (tx) => {
      if (!(await deleteMember(tx, tenant, userId))) return false;
      await cancelScheduledBy(tx, { credentialId: null, tenant, userId }, "member_removed");
      return true;
    });
  }
}

const ROLES: readonly MemberRole[] = ["owner", "admin", "member"];

function checkInput(user: unknown, input: MemberInput): void {
  const problems: InputProblem[] = [];
  // the caller chooses ids of users as well as of tenants; the same syntax applies
  if (!isTenantId(user))
    problems.push({ pointer: "/user", message: `A user's id has ${tenantSyntaxInWords}` });
  readFields("invalid_member", "A member has no", input, FIELDS, problems);
}

const FIELDS = {
  role: required((role) => ROLES.some((known) => known === role), `is one of ${ROLES.join(", ")}.`),
  email: optional(
    (email) => email === null || isMailAddress(email),
    "is one address such as anna@example.com, or null.",
  ),
};

// The check of browsers (HTML Living Standard, 4.10.5.1.5) with the length limits of RFC 5321. No space, comma, bracket or
// line break, because it is used in a header. No leading hyphen, which some mail programs take for an option.
const MAIL_ADDRESS =
  /^(?!-)[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/;
const MAX_MAIL_ADDRESS_LENGTH = 254;

export function isMailAddress(value: unknown): value is string {
  return typeof value === "string" && value.length <= MAX_MAIL_ADDRESS_LENGTH && MAIL_ADDRESS.test(value);
}

export function memberNotFound(user: unknown): PosthornError {
  const shown = isTenantId(user) ? `"${user}"` : "of that name";
  return new PosthornError("member_not_found", `There is no member ${shown} in this tenant.`);
}

function toMember({ userId: user, ...row }: MemberRow): Member {
  return { ...dated(row), user };
}
