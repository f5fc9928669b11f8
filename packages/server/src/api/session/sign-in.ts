// Sign-in of people: identifies them by a key or a one-time link, and opens their sessions.
import type { Posthorn } from "posthorn";
import { OPERATOR_SECONDS, PORTAL_SECONDS } from "posthorn/internal";
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
  readonly limit = new SignInLimit();
  readonly theme: PortalTheme;
  readonly portalOrigins: readonly string[];
  readonly #sessions: Posthorn["sessions"];
  readonly #credentials: Credentials;

  constructor(hooks: Posthorn, credentials: Credentials, site: Site, portal: PortalOptions) {
    const { origins = [], ...theme } = portal;
    this.site = site;
    this.theme = theme;
    this.portalOrigins = origins;
    this.#sessions = hooks.sessions;
    this.#credentials = credentials;
    this.sessions = new SessionStore({ sessions: hooks.sessions, credentials, site });
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
