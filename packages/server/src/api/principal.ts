// Who asks, and whether they may. A key or token of one tenant acts for that tenant alone; what belongs to others is,
// to them, not there.
import { type Permission, type Role, SCOPES, type Scope } from "@posthorn/client";
import { PosthornError } from "posthorn";
import { HttpError } from "./http-error.ts";
import type { Params } from "./router.ts";

export interface Principal {
  /** `admin` is the key of the environment; the others are stored. `portal` was let in by a link, as nobody in particular. */
  readonly kind: "admin" | "key" | "member" | "portal" | "anonymous";
  /** Of the key, token or link; null for the admin key. */
  readonly id: string | null;
  /** Null: all of them. */
  readonly tenant: string | null;
  /** Whose token it is; null unless it is a member's. */
  readonly user: string | null;
  /** What that member is. */
  readonly role: Role | null;
  readonly scopes: ReadonlySet<Scope>;
  /** Null: it does not end. */
  readonly expiresAt: Date | null;
  /** Requests per second of each process; null: no limit. */
  readonly rateLimit: number | null;
  /** Of a person in a browser; null for a program with a key. */
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

/** Whoever calls a public route. */
export const ANONYMOUS: Principal = {
  kind: "anonymous",
  id: null,
  tenant: null,
  user: null,
  role: null,
  scopes: new Set(),
  expiresAt: null,
  rateLimit: null,
  session: null,
};

/** What only the key of the environment, or one like it, may see. */
export const OPERATORS_ONLY: Permission = { scopes: ["admin"], reach: "installation" };

/** Throws when they may not. Who lacks a scope learns which; who asks for another tenant learns nothing. */
export function authorize(principal: Principal, permission: Permission, params: Params): void {
  if (!permission.scopes.some((scope) => hasScope(principal, scope))) {
    throw forbidden(`This needs the scope ${permission.scopes.join(" or ")}, which the key lacks.`);
  }
  if (principal.tenant === null) return;
  if (permission.reach === "installation") {
    throw forbidden("This needs a key of the whole installation, and the key is of one tenant.");
  }
  if (params.tenant !== undefined && params.tenant !== principal.tenant) throw noSuchTenant(params.tenant);
}

export function hasScope({ scopes }: Principal, scope: Scope): boolean {
  return scopes.has(scope) || scopes.has("admin");
}

/** Throws unless they have every one of these. */
export function requireScopes(principal: Principal, scopes: readonly Scope[]): void {
  if (scopes.every((scope) => hasScope(principal, scope))) return;
  throw forbidden(`This needs the scopes ${scopes.join(" and ")}, not all of which the key has.`);
}

/** The tenant a list is narrowed to: the one asked for, or the only one there is for a key of one tenant. */
export function scopedTenant(principal: Principal, asked: string | undefined): string | undefined {
  if (principal.tenant === null) return asked;
  if (asked === undefined || asked === principal.tenant) return principal.tenant;
  throw otherTenant();
}

/** For what is named by its id alone: another tenant's is not found. */
export function tenantScope({ tenant }: Principal): { readonly tenant?: string } {
  return tenant === null ? {} : { tenant };
}

/** What the catalogue hides is shown to those who may see payloads only. */
export function redaction(principal: Principal): { readonly redacted: boolean } {
  return { redacted: !hasScope(principal, "payloads:read") };
}

/** Who makes a key for their tenant gives away no more than they have. */
export function grantableRateLimit(
  { tenant, rateLimit: own }: Principal,
  asked: number | null,
): number | null {
  if (tenant === null || own === null) return asked;
  if (asked !== null && asked > own)
    throw forbidden(`This key may make ${own} requests per second, and can make no key that may make more.`);
  return asked ?? own;
}

/** A key that ends makes none that outlives it. */
export function grantableExpiry({ expiresAt: own }: Principal, asked: Date | null): Date | null {
  if (own === null) return asked;
  if (asked !== null && asked > own) throw outlives(own);
  return asked ?? own;
}

const SHORTEST_TOKEN_SECONDS = 60;
const USUAL_TOKEN_SECONDS = 3_600;

/** And no token that does. */
export function grantableTokenSeconds(
  { expiresAt: own }: Principal,
  asked: number | undefined,
): number | undefined {
  if (own === null) return asked;
  const left = Math.floor((own.getTime() - Date.now()) / 1_000);
  if (left < (asked ?? SHORTEST_TOKEN_SECONDS)) throw outlives(own);
  return asked ?? Math.min(USUAL_TOKEN_SECONDS, left);
}

export interface LinkTimes {
  readonly expiresInSeconds: number | undefined;
  readonly sessionSeconds: number | undefined;
}

const SHORTEST_LINK_SECONDS = 60;
const USUAL_LINK_SECONDS = 300;

/** And no link whose session could. */
export function grantableLinkTimes({ expiresAt: own }: Principal, asked: LinkTimes): LinkTimes {
  if (own === null) return asked;
  const left = Math.floor((own.getTime() - Date.now()) / 1_000);
  const session = asked.sessionSeconds ?? SHORTEST_LINK_SECONDS;
  if (left < (asked.expiresInSeconds ?? SHORTEST_LINK_SECONDS) + session) throw outlives(own);
  const expiresInSeconds = asked.expiresInSeconds ?? Math.min(USUAL_LINK_SECONDS, left - session);
  const sessionSeconds = asked.sessionSeconds ?? Math.min(USUAL_TOKEN_SECONDS, left - expiresInSeconds);
  return { expiresInSeconds, sessionSeconds };
}

function outlives(end: Date): HttpError {
  return forbidden(
    `This key ends at ${end.toISOString()}, and can make no key, token or link that ends later.`,
  );
}

export function otherTenant(): HttpError {
  return forbidden("The key is of one tenant, and this is about another.");
}

/** They may be a member of others too; the same whether they are or not. */
export function cannotPublishForUser(): HttpError {
  return forbidden(
    "The key is of one tenant, and an event for a user goes to every tenant of theirs. Publish it with a key of the whole installation, or for this tenant alone with `tenant`.",
  );
}

/** The same whether the user is known elsewhere or not. */
export function cannotAddMember(user: string): HttpError {
  return forbidden(
    `"${user}" is no member of this tenant, and only a key of the whole installation makes a user one.`,
  );
}

function forbidden(detail: string): HttpError {
  return new HttpError("forbidden", detail);
}

/** As for one that does not exist. */
function noSuchTenant(id: string): PosthornError {
  return new PosthornError("tenant_not_found", `There is no tenant "${id}". Make it first.`);
}
