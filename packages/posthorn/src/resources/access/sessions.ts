// Sessions of people in the dashboard and the portal, and the one-time links that open them. The texts are shown once;
// only digests are kept. A session by a key ends with the key, one of a member with the membership, and an operator's
// with the admin key: its digests are made with that key's own.
import { createHmac, timingSafeEqual } from "node:crypto";
import { findUnknown } from "../../did-you-mean.ts";
import { type InputProblem, PosthornError } from "../../errors.ts";
import type { Database } from "../../storage/database.ts";
import { knownSessions } from "../../storage/queries/sessions/read.ts";
import type { SessionRow } from "../../storage/queries/sessions/session-row.ts";
import {
  deletePortalSession,
  deleteSession,
  insertSession,
  openSession,
} from "../../storage/queries/sessions/write.ts";
import { memberNotFound } from "../tenants/members.ts";
import { isSomebodysTenantId, isTenantId, tenantNotFound } from "../tenants/tenants.ts";
import { idOf, keyDigest, mintKey } from "./key-text.ts";
import type { Scope } from "./keys.ts";

/** What a customer may do in the portal. Keys are made by programs, and events published by them. */
export const PORTAL_SCOPES = [
  "webhooks:manage",
  "deliveries:read",
  "deliveries:retry",
  "payloads:read",
] as const satisfies readonly Scope[];

export interface PortalLinkInput {
  /** The member it acts as, in the role they have when they use it; left out: nobody in particular. */
  readonly user?: string | undefined;
  /** What it may do at most; left out: all of `PORTAL_SCOPES`, or what the member's role may. */
  readonly scopes?: readonly Scope[] | undefined;
  /** How long the link can be used: 1 minute to 1 hour, 5 minutes unless told. */
  readonly expiresInSeconds?: number | undefined;
  /** How long the session lasts that it opens: 1 minute to 1 hour, an hour unless told. */
  readonly sessionSeconds?: number | undefined;
}

export interface OneTimeLink {
  /** Of the link, and of the session that it opens. */
  readonly id: string;
  /** Shown this once. It belongs behind a #: `…/portal#code=…`. */
  readonly code: string;
  readonly expiresAt: Date;
}

export interface OpenedSession {
  readonly id: string;
  /** What the cookie says, shown this once. */
  readonly text: string;
  readonly expiresAt: Date;
  readonly endsInMs: number;
}

/** The admin key's SHA-256 in hex; null while there is none. */
export type AdminDigest = string | null;

export interface Sessions {
  createPortalLink(tenant: string, input?: PortalLinkInput): Promise<OneTimeLink>;
  /** Ends what the link opened as well. */
  revokePortalLink(tenant: string, id: string): Promise<void>;
  /** A link for an operator, with all that the admin key may. */
  createOperatorLink(adminDigest: string): Promise<OneTimeLink>;
  /** What a code would open; null when it is not valid (any more). */
  findLink(code: string, adminDigest: AdminDigest): Promise<SessionRow | null>;
  /** Once: null for whoever comes second. */
  useLink(code: string, adminDigest: AdminDigest): Promise<OpenedSession | null>;
  /** With a key that was checked. Null when it is gone meanwhile. */
  openWithKey(keyId: string, seconds: number): Promise<OpenedSession | null>;
  openWithAdminKey(adminDigest: string): Promise<OpenedSession>;
  /** Of these ids those that have not ended. */
  known(ids: readonly string[]): Promise<readonly SessionRow[]>;
  end(id: string): Promise<void>;
}

const MINUTE_SECONDS = 60;
const HOUR_SECONDS = 3_600;
export const OPERATOR_SECONDS = 12 * HOUR_SECONDS;
export const PORTAL_SECONDS = HOUR_SECONDS;
const LINK_SECONDS = 5 * MINUTE_SECONDS;
/** It stands on a terminal, and is looked at when there is time. */
const OPERATOR_LINK_SECONDS = HOUR_SECONDS;
/** Of each key, of the admin key, and of each tenant's portal: the oldest goes. */
const MAX_SESSIONS = 1_000;

export function createSessions({ db }: { readonly db: Database }): Sessions {
  return {
    createPortalLink,
    revokePortalLink,
    createOperatorLink,
    findLink,
    useLink,
    openWithKey,
    openWithAdminKey,
    known: (ids) => knownSessions(db, ids),
    end: async (id) => {
      await deleteSession(db, id);
    },
  };

  async function createPortalLink(tenant: string, input: PortalLinkInput = {}): Promise<OneTimeLink> {
    const { expiresInSeconds, sessionSeconds } = checkLink(input);
    const { user = null } = input;
    if (!isSomebodysTenantId(tenant)) throw tenantNotFound(tenant);
    if (user !== null && !isTenantId(user)) throw memberNotFound(user);
    const scopes = input.scopes ?? (user === null ? PORTAL_SCOPES : null);
    const grant = { keyId: null, tenant, userId: user, scopes, openSeconds: sessionSeconds };
    const made = await insert("phl", grant, expiresInSeconds);
    if (made === null) throw user === null ? tenantNotFound(tenant) : memberNotFound(user);
    return toLink(made);
  }

  async function revokePortalLink(tenant: string, id: string): Promise<void> {
    const isGone = /^[0-9A-Za-z]{1,32}$/.test(id) && (await deletePortalSession(db, tenant, id));
    if (!isGone)
      throw new PosthornError(
        "portal_link_not_found",
        "There is no such portal link: it was revoked, or has ended with what it opened.",
      );
  }

  async function createOperatorLink(adminDigest: string): Promise<OneTimeLink> {
    return toLink((await insert("phl", OF_ADMIN, OPERATOR_LINK_SECONDS, adminDigest)) as Inserted);
  }

  async function openWithAdminKey(adminDigest: string): Promise<OpenedSession> {
    return toOpened((await insert("phs", OF_ADMIN, OPERATOR_SECONDS, adminDigest)) as Inserted);
  }

  async function openWithKey(keyId: string, seconds: number): Promise<OpenedSession | null> {
    const made = await insert("phs", { ...OF_ADMIN, keyId, openSeconds: seconds }, seconds);
    return made === null ? null : toOpened(made);
  }

  /** Null when the key, tenant or member is not there; an operator's needs none of them. */
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

  async function useLink(code: string, adminDigest: AdminDigest): Promise<OpenedSession | null> {
    const link = await findLink(code, adminDigest);
    if (link === null) return null;
    const { text } = mintKey("phs", link.id);
    const sessionDigest = digestOf(text, link, adminDigest);
    const session = await openSession(db, { id: link.id, linkDigest: link.digest, sessionDigest });
    return session === null ? null : toOpened({ session, text });
  }
}

interface Inserted {
  readonly session: SessionRow;
  readonly text: string;
}

interface Grant {
  readonly keyId: string | null;
  readonly tenant: string | null;
  readonly userId: string | null;
  readonly scopes: readonly string[] | null;
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

function toOpened({ session, text }: Inserted): OpenedSession {
  return { id: session.id, text, expiresAt: new Date(session.expiresMs), endsInMs: session.endsInMs };
}

/** Compares the whole of a code or cookie with what is kept of it. */
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
  if (adminDigest === null) throw new Error("An operator's session is made with the admin key's digest.");
  return createHmac("sha256", Buffer.from(adminDigest, "hex")).update(text).digest();
}

function checkLink(input: PortalLinkInput): { expiresInSeconds: number; sessionSeconds: number } {
  const problems: InputProblem[] = [];
  findUnknown(
    "A portal link has no",
    input,
    ["user", "scopes", "expiresInSeconds", "sessionSeconds"],
    problems,
  );
  const { scopes, expiresInSeconds = LINK_SECONDS, sessionSeconds = PORTAL_SECONDS } = input;
  if (scopes !== undefined && !isPortalScopes(scopes)) {
    const message = `scopes is a list of at least one of ${PORTAL_SCOPES.join(", ")}.`;
    problems.push({ pointer: "/scopes", message });
  }
  for (const [name, value] of Object.entries({ expiresInSeconds, sessionSeconds })) {
    if (Number.isInteger(value) && value >= MINUTE_SECONDS && value <= HOUR_SECONDS) continue;
    const message = `${name} is a whole number from ${MINUTE_SECONDS} to ${HOUR_SECONDS}.`;
    problems.push({ pointer: `/${name}`, message });
  }
  const [first] = problems;
  if (first !== undefined) throw new PosthornError("invalid_portal_link", first.message, { problems });
  return { expiresInSeconds, sessionSeconds };
}

function isPortalScopes(scopes: unknown): boolean {
  const allowed: readonly unknown[] = PORTAL_SCOPES;
  return Array.isArray(scopes) && scopes.length > 0 && scopes.every((scope) => allowed.includes(scope));
}
