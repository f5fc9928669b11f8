// Resolves a session cookie to its principal, with the current permissions of the key or member behind it.
import type { IncomingMessage } from "node:http";
import { performance } from "node:perf_hooks";
import { ROLE_SCOPES, type Role, type Scope } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import { idOf, isByAdminKey, isGenuine, type SessionRow } from "posthorn/internal";
import { type Credentials, unauthorized } from "../middleware/credentials.ts";
import { FreshCache } from "../middleware/fresh-cache.ts";
import { ADMIN, type Principal } from "../principal.ts";
import { cookieName, type Page, readCookie } from "./cookie.ts";
import { refuseCrossSite } from "./refuse-cross-site.ts";
import type { Site } from "./site.ts";

const PAGES: readonly Page[] = ["dashboard", "portal"];

export class SessionStore {
  readonly #sessions: Posthorn["sessions"];
  readonly #credentials: Credentials;
  readonly #site: Site;
  readonly #known: FreshCache<SessionRow>;

  constructor(sessions: Posthorn["sessions"], credentials: Credentials, site: Site) {
    this.#sessions = sessions;
    this.#credentials = credentials;
    this.#site = site;
    this.#known = new FreshCache((id) => sessions.known([id]).then(([session = null]) => session));
  }

  /** Every invalid session is the same 401. A request from another site is a 403 or 421. */
  async ofRequest(request: IncomingMessage): Promise<Principal> {
    const site = this.#site;
    const names = PAGES.map((page) => cookieName(site, request, page));
    if (names.every((name) => readCookie(request, name) === null)) throw unauthorized();
    const page = refuseCrossSite(site, request);
    const text = readCookie(request, cookieName(site, request, page)) ?? "";
    const id = idOf(text, "phs");
    if (id === null) throw unauthorized();
    const { value: session, endsAt } = await this.#known.find(id);
    const adminDigest = await this.#credentials.adminDigest();
    const isValid = session?.isOpen && performance.now() < endsAt && isGenuine(text, session, adminDigest);
    if (!isValid) throw unauthorized();
    return await this.principalOf(session);
  }

  async end(id: string): Promise<void> {
    await this.#sessions.end(id);
    this.#known.forget(id);
  }

  /** Returns the principal of a session, or of a link that could open one. */
  async principalOf(row: SessionRow): Promise<Principal> {
    const credentials = this.#credentials;
    const session = { id: row.id, expiresAt: new Date(row.expiresMs) };
    if (isByAdminKey(row)) return { ...ADMIN, session };
    if (row.keyId !== null) return { ...(await credentials.ofKey(row.keyId)), session };
    const rateLimit = credentials.countRequest(row.id, null);
    return portalPrincipal(row, rateLimit, session);
  }
}

function portalPrincipal(
  row: SessionRow,
  rateLimit: number | null,
  session: NonNullable<Principal["session"]>,
): Principal {
  const { id, tenant, userId: user, role } = row;
  return {
    kind: user === null ? "portal" : "member",
    id,
    tenant,
    user,
    role,
    scopes: new Set(portalScopes(row.scopes as readonly Scope[] | null, role)),
    expiresAt: session.expiresAt,
    rateLimit,
    session,
  };
}

/** Returns the scopes of the link, limited to the current role of a member. */
function portalScopes(given: readonly Scope[] | null, role: Role | null): readonly Scope[] {
  if (role === null) return given ?? [];
  const ofRole: readonly Scope[] = ROLE_SCOPES[role];
  return given === null ? ofRole : given.filter((scope) => ofRole.includes(scope));
}
