// Identifies callers: programs by a key, and people by a key or a one-time link, which opens a session.
import type { IncomingMessage } from "node:http";
import type { Posthorn } from "posthorn";
import { OPERATOR_SECONDS, PORTAL_SECONDS } from "posthorn/internal";
import type { ProcessGroup } from "../../processes/process-group.ts";
import { type Credentials, unauthorized } from "../middleware/credentials.ts";
import type { Principal } from "../principal.ts";
import { SessionStore } from "./session-store.ts";
import { SignInLimit } from "./sign-in-limit.ts";
import type { Site } from "./site.ts";

/** Theme of the customer portal. */
export interface PortalTheme {
  readonly name?: string | undefined;
  /** A path on the same host, or an image as a `data:` URL. */
  readonly logoUrl?: string | undefined;
  /** `#rrggbb`. */
  readonly accent?: string | undefined;
  /** Default `auto`: follows the visitor's system. */
  readonly appearance?: "auto" | "light" | "dark" | undefined;
}

export interface PortalOptions extends PortalTheme {
  /** Origins that may embed the portal in a frame, such as `https://app.example.com`. Default: none. */
  readonly origins?: readonly string[] | undefined;
}

type OpenedSession = Awaited<ReturnType<Posthorn["sessions"]["openWithAdminKey"]>>;

/** An identified caller whose session is not open yet. */
export interface PendingSession {
  readonly principal: Principal;
  /** Returns null if the link was used meanwhile, or the key was revoked. */
  readonly open: () => Promise<OpenedSession | null>;
}

export class SignIn {
  readonly site: Site;
  readonly sessions: SessionStore;
  readonly limit: SignInLimit;
  readonly theme: PortalTheme;
  readonly portalOrigins: readonly string[];
  readonly #sessions: Posthorn["sessions"];
  readonly #credentials: Credentials;

  constructor(
    hooks: Posthorn,
    credentials: Credentials,
    site: Site,
    portal: PortalOptions,
    group?: ProcessGroup,
  ) {
    this.limit = new SignInLimit(group);
    const { origins = [], ...theme } = portal;
    this.site = site;
    this.theme = theme;
    this.portalOrigins = origins;
    this.#sessions = hooks.sessions;
    this.#credentials = credentials;
    this.sessions = new SessionStore(hooks.sessions, credentials, site);
  }

  /** Authenticates by the key in the Authorization header, or by the session cookie if there is none. */
  authenticate(request: IncomingMessage): Principal | Promise<Principal> {
    const { authorization } = request.headers;
    if (authorization === undefined) return this.sessions.ofRequest(request);
    const [, key] = /^Bearer +(\S+) *$/i.exec(authorization) ?? [];
    if (key === undefined) throw unauthorized();
    return this.#credentials.ofText(key);
  }

  /** Every failure is the same 401. A one-time link is not used up before `open`. */
  async identify(given: { readonly key: string } | { readonly code: string }): Promise<PendingSession> {
    const adminDigest = await this.#credentials.adminDigest();
    const sessions = this.#sessions;
    if ("code" in given) {
      const link = await sessions.findLink(given.code, adminDigest);
      if (link === null) throw unauthorized();
      const principal = await this.sessions.principalOf(link);
      return { principal, open: () => sessions.useLink(given.code, adminDigest) };
    }
    const principal = await this.#credentials.ofText(given.key);
    const { id, tenant } = principal;
    const seconds = tenant === null ? OPERATOR_SECONDS : PORTAL_SECONDS;
    const open = async (): Promise<OpenedSession | null> => {
      if (id !== null) return await sessions.openWithKey(id, seconds);
      return adminDigest === null ? null : await sessions.openWithAdminKey(adminDigest);
    };
    return { principal, open };
  }
}
