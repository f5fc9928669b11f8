// Sessions of the dashboard and the portal, and the one-time links that open them. Only digests are stored. A session opened
// with a key ends with the key, a member's with the membership, and an operator's when the admin key changes, because its
// digest depends on that key.

import { createHmac, timingSafeEqual } from "node:crypto";
import { ROLE_SCOPES, type Scope } from "@posthorn/wire";
import { PosthornError } from "../../errors.ts";
import type { Database } from "../../storage/database.ts";
import { cancelScheduledBy } from "../../storage/queries/replays/requester.ts";
import {
  deletePortalSession,
  deleteSession,
  insertSession,
  knownSessions,
  openSession,
  type SessionRow,
} from "../../storage/queries/sessions.ts";
import { integer, optional, readFields, unchecked } from "../read-fields.ts";
import { memberNotFound } from "../tenants/members.ts";
import { isCustomerTenantId, isTenantId, tenantNotFound } from "../tenants/tenants.ts";
import { idOf, keyDigest, mintKey } from "./key-text.ts";

/** The scopes of the portal: a customer cannot create keys or publish events there. */
const PORTAL_SCOPES = ROLE_SCOPES.admin;

export interface PortalLinkInput {
  /** The member that the session acts as, with the role at the time of use. Default: no member. */
  readonly user?: string | undefined;
  /** The largest set of scopes. Default: `PORTAL_SCOPES`, or the scopes of the member's role. */
  readonly scopes?: readonly Scope[] | undefined;
  /** How long the link can be used: 1 minute to 1 hour. Default 5 minutes. */
  readonly expiresInSeconds?: number | undefined;
  /** How long the session lasts: 1 minute to 1 hour. Default 1 hour. */
  readonly sessionSeconds?: number | undefined;
}

export interface OneTimeLink {
  /** The id of the link and of the session that it opens. */
  readonly id: string;
  /** Returned only here. Put it into the URL fragment, which is not sent to servers: `…/portal#code=…`. */
  readonly code: string;
  readonly expiresAt: Date;
}

export interface OpenedSession {
  readonly id: string;
  /** The value of the session cookie, returned only here. */
  readonly text: string;
  readonly expiresAt: Date;
  readonly endsInMs: number;
}

/** SHA-256 of the admin key in hex. Null if there is no admin key. */
export type AdminDigest = string | null;

export interface Sessions {
  createPortalLink(tenant: string, input?: PortalLinkInput): Promise<OneTimeLink>;
  /** Also ends the session that the link opened. */
  revokePortalLink(tenant: string, id: string): Promise<void>;
  /** Creates a link to a session with the rights of the admin key. */
  createOperatorLink(adminDigest: string): Promise<OneTimeLink>;
  /** Returns the link of a code. Null if it is not valid. */
  findLink(code: string, adminDigest: AdminDigest): Promise<SessionRow | null>;
  /** Opens the session. Returns null if the link is not valid or was already used. */
  useLink(code: string, adminDigest: AdminDigest): Promise<OpenedSession | null>;
  /** The caller has verified the key. Returns null if it was revoked in the meantime. */
  openWithKey(keyId: string, seconds: number): Promise<OpenedSession | null>;
  openWithAdminKey(adminDigest: string): Promise<OpenedSession>;
  /** Returns the sessions with these ids that have not ended. */
  known(ids: readonly string[]): Promise<readonly SessionRow[]>;
  end(id: string): Promise<void>;
}

const MINUTE_SECONDS = 60;
const HOUR_SECONDS = 3_600;
export const OPERATOR_SECONDS = 12 * HOUR_SECONDS;
export const PORTAL_SECONDS = HOUR_SECONDS;
const LINK_SECONDS = 5 * MINUTE_SECONDS;
/** Longer than other links, because it is printed to a terminal and may be opened later. */
const OPERATOR_LINK_SECONDS = HOUR_SECONDS;
/** Limit per key, for the admin key, and per tenant's portal; beyond it the oldest is deleted. */
const MAX_SESSIONS = 1_000;

export function createSessions({ db }: { readonly db: Database }): Sessions {
  return {
    async createPortalLink(tenant, input = {}) {
      const asked = readFields("invalid_portal_link", "A portal link has no", input, LINK_FIELDS);
      const { user } = asked;
      if (!isCustomerTenantId(tenant)) throw tenantNotFound(tenant);
      if (user !== null && !isTenantId(user)) throw memberNotFound(user);
      const scopes = asked.scopes ?? (user === null ? PORTAL_SCOPES : null);
      const openSeconds = asked.sessionSeconds ?? PORTAL_SECONDS;
      const grant = { keyId: null, tenant, userId: user, scopes, openSeconds };
      const made = await insert("phl", grant, asked.expiresInSeconds ?? LINK_SECONDS);
      if (made === null) throw user === null ? tenantNotFound(tenant) : memberNotFound(user);
      return toLink(made);
    },

    async revokePortalLink(tenant, id) {
      const isGone = /^[0-9A-Za-z]{1,32}$/.test(id) && (await revokeLink(tenant, id));
      if (!isGone)
        throw new PosthornError(
          "portal_link_not_found",
          "There is no such portal link. It was revoked, or it has expired together with its session.",
        );
    },

    async createOperatorLink(adminDigest) {
      return toLink((await insert("phl", OF_ADMIN, OPERATOR_LINK_SECONDS, adminDigest)) as Inserted);
    },

    async openWithAdminKey(adminDigest) {
      return toOpened((await insert("phs", OF_ADMIN, OPERATOR_SECONDS, adminDigest)) as Inserted);
    },

    async openWithKey(keyId, seconds) {
      const made = await insert("phs", { ...OF_ADMIN, keyId, openSeconds: seconds }, seconds);
      return made === null ? null : toOpened(made);
    },

    findLink,

    async useLink(code, adminDigest) {
      const link = await findLink(code, adminDigest);
      if (link === null) return null;
      const { text } = mintKey("phs", link.id);
      const sessionDigest = digestOf(text, link, adminDigest);
      const session = await openSession(db, { id: link.id, linkDigest: link.digest, sessionDigest });
      return session === null ? null : toOpened({ session, text });
    },

    known: (ids) => knownSessions(db, ids),
    end: (id) => deleteSession(db, id),
  };

  async function revokeLink(tenant: string, id: string): Promise<boolean> {
    return await db.transaction(async (tx) => {
      if (!(await deletePortalSession(tx, tenant, id))) return false;
      await cancelScheduledBy(tx, { credentialId: id, tenant: null, userId: null }, "key_revoked");
      return true;
    });
  }

  /** Returns null if the key, tenant or member does not exist. An operator's session has none of them. */
  async function insert(
    kind: "phl" | "phs",
    grant: Grant,
    expiresInSeconds: number,
    adminDigest: AdminDigest = null,
  ): Promise<Inserted | null> {
    const { id, text } = mintKey(kind);
    const digest = digestOf(text, grant, adminDigest);
    const row = { ...grant, id, digest, isOpen: kind === "phs", expiresInSeconds };
    const session = await insertSession(db, row, MAX_SESSIONS);
    return session === null ? null : { session, text };
  }

  async function findLink(code: string, adminDigest: AdminDigest): Promise<SessionRow | null> {
    const id = idOf(code, "phl");
    const [link] = id === null ? [] : await knownSessions(db, [id]);
    return link !== undefined && !link.isOpen && isGenuine(code, link, adminDigest) ? link : null;
  }
}

interface Inserted {
  readonly session: SessionRow;
  readonly text: string;
}

interface Grant extends Pick<SessionRow, "keyId" | "tenant" | "userId" | "scopes"> {
  readonly openSeconds: number;
}

const OF_ADMIN: Grant = {
  keyId: null,
  tenant: null,
  userId: null,
  scopes: null,
  openSeconds: OPERATOR_SECONDS,
};

function toLink({ session, text: code }: Inserted): OneTimeLink {
  return { id: session.id, code, expiresAt: new Date(session.expiresMs) };
}

function toOpened({ session: { id, expiresMs, endsInMs }, text }: Inserted): OpenedSession {
  return { id, text, expiresAt: new Date(expiresMs), endsInMs };
}

/** Compares a code or cookie with the stored digest, in constant time. */
export function isGenuine(text: string, session: SessionRow, adminDigest: AdminDigest): boolean {
  if (isByAdminKey(session) && adminDigest === null) return false;
  return timingSafeEqual(digestOf(text, session, adminDigest), session.digest);
}

export function isByAdminKey({ keyId, tenant }: Pick<SessionRow, "keyId" | "tenant">): boolean {
  return keyId === null && tenant === null;
}

function digestOf(
  text: string,
  owner: Pick<SessionRow, "keyId" | "tenant">,
  adminDigest: AdminDigest,
): Buffer {
  if (!isByAdminKey(owner)) return keyDigest(text);
  if (adminDigest === null) throw new Error("An operator's session needs the digest of the admin key.");
  return createHmac("sha256", Buffer.from(adminDigest, "hex")).update(text).digest();
}

const LINK_FIELDS = {
  user: unchecked<string>(),
  scopes: optional<readonly Scope[]>(
    (scopes) =>
      Array.isArray(scopes) && scopes.length > 0 && scopes.every((scope) => PORTAL_SCOPES.includes(scope)),
    `is a list of at least one of ${PORTAL_SCOPES.join(", ")}.`,
  ),
  expiresInSeconds: integer(MINUTE_SECONDS, HOUR_SECONDS),
  sessionSeconds: integer(MINUTE_SECONDS, HOUR_SECONDS),
};
