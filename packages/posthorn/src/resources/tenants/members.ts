// Members: your users who belong to a tenant, and their roles. Owners and admins with an e-mail address are notified when
// an endpoint is disabled.
import { findUnknown } from "../../did-you-mean.ts";
import { type InputProblem, PosthornError } from "../../errors.ts";
import { tenantSyntaxInWords } from "../../event/limits.ts";
import type { Database } from "../../storage/database.ts";
import type { MemberRole, MemberRow } from "../../storage/queries/members/member-row.ts";
import { findMember, listMembers } from "../../storage/queries/members/read.ts";
import { deleteMember, saveMember, updateMember } from "../../storage/queries/members/save.ts";
import { findTenant } from "../../storage/queries/tenants/read.ts";
import { type Page, type PageQuery, QueryReader, toPage } from "../page.ts";
import { isCustomerTenantId, isTenantId, tenantNotFound } from "./tenants.ts";

export interface Member {
  readonly tenant: string;
  /** Your own id for the user. */
  readonly user: string;
  readonly role: MemberRole;
  readonly email: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
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
  delete(tenant: string, user: string): Promise<void>;
}

export function createMembers(db: Database): Members {
  return { put, update, get, list, delete: remove };

  async function put(tenant: string, user: string, input: MemberInput): Promise<Member> {
    checkInput(user, input);
    const row = isCustomerTenantId(tenant) ? await saveMember(db, tenant, user, input) : null;
    if (row === null) throw tenantNotFound(tenant);
    return toMember(row);
  }

  async function update(tenant: string, user: string, input: MemberInput): Promise<Member> {
    checkInput(user, input);
    const row = isTenantId(tenant) ? await updateMember(db, tenant, user, input) : null;
    if (row === null) throw memberNotFound(user);
    return toMember(row);
  }

  async function get(tenant: string, user: string): Promise<Member> {
    const row = isTenantId(tenant) && isTenantId(user) ? await findMember(db, tenant, user) : null;
    if (row === null) throw memberNotFound(user);
    return toMember(row);
  }

  async function list(tenant: string, query: PageQuery = {}): Promise<Page<Member>> {
    const reader = new QueryReader();
    const limit = reader.limit(query);
    const after = reader.cursor("members", query);
    reader.finish(["limit", "cursor"], query);
    if (!isTenantId(tenant)) throw tenantNotFound(tenant);
    const rows = await listMembers(db, tenant, after, limit + 1);
    if (rows.length === 0 && (await findTenant(db, tenant)) === null) throw tenantNotFound(tenant);
    return toPage("members", rows, limit, toMember, (row) => row.userId);
  }

  async function remove(tenant: string, user: string): Promise<void> {
    const isGone = isTenantId(tenant) && isTenantId(user) && (await deleteMember(db, tenant, user));
    if (!isGone) throw memberNotFound(user);
  }
}

const ROLES: readonly MemberRole[] = ["owner", "admin", "member"];

function checkInput(user: unknown, input: MemberInput): void {
  const problems: InputProblem[] = [];
  const refuse = (pointer: string, message: string) => problems.push({ pointer, message });
  // the caller chooses ids of users as well as of tenants; the same syntax applies
  if (!isTenantId(user)) refuse("/user", `A user's id has ${tenantSyntaxInWords}`);
  if (typeof input !== "object" || input === null) {
    throw new PosthornError("invalid_member", "A member is an object with a role and an optional email.");
  }
  findUnknown("A member has no", input, ["role", "email"], problems);
  if (!ROLES.includes(input.role)) refuse("/role", `role is one of ${ROLES.join(", ")}.`);
  const { email } = input;
  if (email !== undefined && email !== null && !isMailAddress(email)) {
    refuse("/email", "email is one address such as anna@example.com, or null.");
  }
  const [first] = problems;
  if (first !== undefined) throw new PosthornError("invalid_member", first.message, { problems });
}

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

function toMember(row: MemberRow): Member {
  return {
    tenant: row.tenant,
    user: row.userId,
    role: row.role,
    email: row.email,
    createdAt: new Date(row.createdMs),
    updatedAt: new Date(row.updatedMs),
  };
}
