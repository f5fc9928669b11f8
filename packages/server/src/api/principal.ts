// The authenticated caller and its permissions. A key or token of one tenant acts for that tenant only; resources of
// other tenants do not exist for it.
import { type Permission, type Role, SCOPES, type Scope } from "@posthorn/client";
import { PosthornError } from "posthorn";
import { HttpError } from "./http-error.ts";
import type { Params } from "./router.ts";

export interface Principal {
  /** `admin` is the configured admin key. `portal` is a session from a portal link that names no user. */
  readonly kind: "admin" | "key" | "member" | "portal" | "anonymous";
  /** Id of the key, token or link; null for the admin key. */
  readonly id: string | null;
  /** Null means all tenants. */
  readonly tenant: string | null;
  /** The member; null if the caller is not a member. */
  readonly user: string | null;
  /** The member's role. */
  readonly role: Role | null;
  readonly scopes: ReadonlySet<Scope>;
  /** When the credential expires; null means never. */
  readonly expiresAt: Date | null;
  /** Requests per second and process; null means no limit. */
  readonly rateLimit: number | null;
  /** The browser session; null for a request with a key. */
  readonly session: { readonly id: string; readonly expiresAt: Date } | null;
}

export const ADMIN: Principal = {
  kind: "admin",
  id: null,
  tenant: null,
  user: null,
  role: null,
  scopes: new Set(SCOPES),
  expiresAt: null,
  rateLimit: null,
  session: null,
};

/** The caller of a public route. */
export const ANONYMOUS: Principal = { ...ADMIN, kind: "anonymous", scopes: new Set() };

/** Permission of the admin key and of keys with the scope `admin` for the whole installation. */
export const OPERATORS_ONLY: Permission = { scopes: ["admin"], reach: "installation" };

/** Throws if the caller may not call the route. A missing scope is named; another tenant is reported as not found. */
export function authorize(principal: Principal, permission: Permission, params: Params): void {
  if (!permission.scopes.some((scope) => hasScope(principal, scope))) {
    throw forbidden(`This needs the scope ${permission.scopes.join(" or ")}, which the key lacks.`);
  }
  if (principal.tenant === null) return;
  if (permission.reach === "installation") {
    throw forbidden("This needs a key of the whole installation, and the key belongs to one tenant.");
  }
  if (params.tenant !== undefined && params.tenant !== principal.tenant) throw noSuchTenant(params.tenant);
}

export function hasScope({ scopes }: Principal, scope: Scope): boolean {
  return scopes.has(scope) || scopes.has("admin");
}

/** Throws unless the caller has all of these scopes. */
export function requireScopes(principal: Principal, scopes: readonly Scope[]): void {
  if (scopes.every((scope) => hasScope(principal, scope))) return;
  throw forbidden(`This needs the scopes ${scopes.join(" and ")}, and the key does not have all of them.`);
}

/** Returns the tenant to filter a list by. Throws if a key of one tenant asks for another. */
export function scopedTenant(principal: Principal, asked: string | undefined): string | undefined {
  if (principal.tenant === null) return asked;
  if (asked === undefined || asked === principal.tenant) return principal.tenant;
  throw otherTenant();
}

/** Restricts a lookup by id to the caller's tenant. */
export function tenantScope({ tenant }: Principal): { readonly tenant?: string } {
  return tenant === null ? {} : { tenant };
}

/** Redacts payload fields unless the caller has the scope `payloads:read`. */
export function redaction(principal: Principal): { readonly redacted: boolean } {
  return { redacted: !hasScope(principal, "payloads:read") };
}

/** Returns the rate limit of a new key. A key of one tenant cannot grant more than its own. */
export function grantableRateLimit(
  { tenant, rateLimit: own }: Principal,
  asked: number | null,
): number | null {
  if (tenant === null || own === null) return asked;
  if (asked !== null && asked > own)
    throw forbidden(
      `This key is limited to ${own} requests per second and cannot create a key with a higher limit.`,
    );
  return asked ?? own;
}

/** Returns the expiry of a new key. It cannot be later than the caller's own. */
export function grantableExpiry({ expiresAt: own }: Principal, asked: Date | null): Date | null {
  if (own === null) return asked;
  if (asked !== null && asked > own) throw outlives(own);
  return asked ?? own;
}

const MIN_TOKEN_SECONDS = 60;
const DEFAULT_TOKEN_SECONDS = 3_600;

/** Returns the lifetime of a new token. It cannot outlive the caller's key. */
export function grantableTokenSeconds(
  { expiresAt: own }: Principal,
  asked: number | undefined,
): number | undefined {
  if (own === null) return asked;
  const left = Math.floor((own.getTime() - Date.now()) / 1_000);
  if (left < (asked ?? MIN_TOKEN_SECONDS)) throw outlives(own);
  return asked ?? Math.min(DEFAULT_TOKEN_SECONDS, left);
}

export interface LinkTimes {
  readonly expiresInSeconds: number | undefined;
  readonly sessionSeconds: number | undefined;
}

const MIN_LINK_SECONDS = 60;
const DEFAULT_LINK_SECONDS = 300;

/** Returns the lifetimes of a new portal link and its session. Together they cannot outlive the caller's key. */
export function grantableLinkTimes({ expiresAt: own }: Principal, asked: LinkTimes): LinkTimes {
  if (own === null) return asked;
  const left = Math.floor((own.getTime() - Date.now()) / 1_000);
  const session = asked.sessionSeconds ?? MIN_LINK_SECONDS;
  if (left < (asked.expiresInSeconds ?? MIN_LINK_SECONDS) + session) throw outlives(own);
  const expiresInSeconds = asked.expiresInSeconds ?? Math.min(DEFAULT_LINK_SECONDS, left - session);
  const sessionSeconds = asked.sessionSeconds ?? Math.min(DEFAULT_TOKEN_SECONDS, left - expiresInSeconds);
  return { expiresInSeconds, sessionSeconds };
}

function outlives(end: Date): HttpError {
  return forbidden(
    `This key expires at ${end.toISOString()} and cannot create a key, token or link that expires later.`,
  );
}

export function otherTenant(): HttpError {
  return forbidden("The key belongs to one tenant, and this request is for another.");
}

/** The message does not depend on whether the user is a member of other tenants. */
export function cannotPublishForUser(): HttpError {
  return forbidden(
    "The key belongs to one tenant, and an event for a user goes to all tenants of the user. Use a key of the whole installation, or publish it for this tenant with `tenant`.",
  );
}

/** The message does not depend on whether the user is known elsewhere. */
export function cannotAddMember(user: string): HttpError {
  return forbidden(
    `"${user}" is not a member of this tenant. Only a key of the whole installation can add members.`,
  );
}

function forbidden(detail: string): HttpError {
  return new HttpError("forbidden", detail);
}

/** The same error as for a tenant that does not exist. */
function noSuchTenant(id: string): PosthornError {
  return new PosthornError("tenant_not_found", `There is no tenant "${id}". Create it first.`);
}
