import { contract, type PosthornContract, SCOPES, type Session } from "@posthorn/client";
import type { Audit } from "../../audit.ts";
import type { Exchange } from "../../exchange.ts";
import { HttpError, invalidBody } from "../../http-error.ts";
import { type Handlers, JsonText, RawHandler } from "../../implement.ts";
import { readBody } from "../../input/body.ts";
import { type FromLibrary, present } from "../../present.ts";
import type { Principal } from "../../principal.ts";
import { type Page, pageOf, writeCookie } from "../../session/cookie.ts";
import { refuseCrossSite } from "../../session/refuse-cross-site.ts";
import type { PendingSession, PortalTheme, SignIn } from "../../session/sign-in.ts";

export function sessionOperations(signIn: SignIn, audit: Audit): Handlers<PosthornContract>["session"] {
  return {
    create: new RawHandler(async (exchange) => {
      const page = refuseCrossSite(signIn.site, exchange.request);
      const { pending, by } = await identify(signIn, exchange);
      const { principal } = pending;
      if (!isAllowedPage(page, principal, by)) throw signInFailed();
      const { id, text, expiresAt, endsInMs } = await audit(
        { ...exchange, principal },
        "session.create",
        { by },
        () => open(pending),
      );
      const session = sessionOf({ ...principal, session: { id, expiresAt } }, signIn.theme);
      const cookie = cookieOf(signIn, exchange, page, text, endsInMs);
      const body = present(contract.session.create.response.schema, session);
      return new JsonText(JSON.stringify(body), ["Set-Cookie", cookie]);
    }),
    get: async ({ principal }) => sessionOf(principal, signIn.theme),
    end: async ({ principal, exchange }) => {
      if (principal.session === null) throw noSession();
      await signIn.sessions.end(principal.session.id);
      const page = pageOf(exchange.request) ?? "dashboard";
      return new JsonText("", ["Set-Cookie", cookieOf(signIn, exchange, page, "", 0)]);
    },
  };
}

/**
 * A link is valid for one of the two pages only. Otherwise a customer could replace an operator's session with their own
 * link. Access to all tenants is never stored in the portal's cookie, which is also sent in frames.
 */
function isAllowedPage(page: Page, { tenant }: Principal, by: "key" | "code"): boolean {
  if (tenant === null) return page === "dashboard";
  return page === "portal" || by === "key";
}

/** Identifies the caller by a key or a code. Every failure is the same error, and failures are limited. */
async function identify(
  signIn: SignIn,
  exchange: Exchange,
): Promise<{ pending: PendingSession; by: "key" | "code" }> {
  const { remoteAddress } = exchange.request.socket;
  const given = await readSignIn(exchange);
  // after the body was read, so that slow parallel requests cannot bypass the limit
  signIn.limit.begin(remoteAddress);
  try {
    const pending = await signIn.identify(given);
    signIn.limit.succeeded(remoteAddress);
    return { pending, by: "code" in given ? "code" : "key" };
  } catch (error) {
    if (error instanceof HttpError && error.code === "unauthorized") throw signInFailed();
    signIn.limit.succeeded(remoteAddress);
    throw error;
  }
}

async function readSignIn(exchange: Exchange): Promise<{ key: string } | { code: string }> {
  const { create } = contract.session;
  const { key, code } = create.body.parse(await readBody(exchange, create, create.body));
  if (key !== undefined && code === undefined) return { key };
  if (code !== undefined && key === undefined) return { code };
  throw invalidBody([{ pointer: "", message: "Give either a key, or the code of a one-time link." }]);
}

async function open({ open: openSession, principal }: PendingSession) {
  const opened = await openSession();
  if (opened === null) throw signInFailed();
  return { ...opened, tenant: principal.tenant };
}

function cookieOf(signIn: SignIn, { request }: Exchange, page: Page, text: string, endsInMs: number): string {
  const isEmbedded = page === "portal" && signIn.portalOrigins.length > 0;
  return writeCookie(signIn.site, request, page, text, {
    maxAgeSeconds: Math.floor(endsInMs / 1_000),
    isEmbedded,
  });
}

/** Returns the session resource of a principal. A request with a key has no expiry. */
function sessionOf(principal: Principal, theme: PortalTheme): FromLibrary<Session> {
  const { tenant, user, role, scopes, session } = principal;
  return {
    kind: tenant === null ? "operator" : "portal",
    tenant,
    user,
    role,
    scopes: SCOPES.filter((scope) => scopes.has(scope)),
    expiresAt: session?.expiresAt ?? null,
    theme: {
      name: theme.name ?? null,
      logoUrl: theme.logoUrl ?? null,
      accent: theme.accent ?? null,
      appearance: theme.appearance ?? "auto",
    },
  };
}

function signInFailed(): HttpError {
  return new HttpError(
    "sign_in_failed",
    "This key or link is not valid: it is wrong, has expired, or the link was used before. Ask for a new link, or use a key.",
  );
}

function noSession(): HttpError {
  return new HttpError(
    "session_not_found",
    "There is no session to end: this request came with a key. Revoke the key with DELETE /api/v1/keys/{key}.",
  );
}
