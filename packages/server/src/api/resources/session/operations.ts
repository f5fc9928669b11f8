import { contract, type PosthornContract } from "@posthorn/client";
import type { Audit } from "../../audit.ts";
import type { Exchange } from "../../exchange.ts";
import { HttpError } from "../../http-error.ts";
import { type Handlers, Headed, JsonText, Unread } from "../../implement.ts";
import { readBody } from "../../input/body.ts";
import { invalidBody } from "../../input/invalid-body.ts";
import type { Principal } from "../../principal.ts";
import { type Page, pageOf, writeCookie } from "../../session/cookie.ts";
import { refuseCrossSite } from "../../session/refuse-cross-site.ts";
import type { Door, LetIn } from "../../session/sign-in.ts";
import { presentSession } from "./present.ts";

export function sessionOperations(door: Door, audit: Audit): Handlers<PosthornContract>["session"] {
  return {
    create: new Unread(async (exchange) => {
      const page = refuseCrossSite(door.site, exchange.request);
      const { letIn, by } = await identify(door, exchange);
      const { principal } = letIn;
      if (!isTheirPage(page, principal, by)) throw signInFailed();
      const { id, text, expiresAt, endsInMs } = await audit(
        { ...exchange, principal },
        "session.create",
        { by },
        () => open(letIn),
      );
      const shown = presentSession({ ...principal, session: { id, expiresAt } }, door.theme);
      const cookie = cookieOf(door, exchange, page, text, endsInMs);
      return new JsonText(JSON.stringify(shown), ["Set-Cookie", cookie]);
    }),
    get: async ({ principal }) => presentSession(principal, door.theme),
    end: async ({ principal, exchange }) => {
      if (principal.session === null) throw noSession();
      await door.desk.end(principal.session.id);
      const page = pageOf(exchange.request) ?? "dashboard";
      return new Headed(undefined, ["Set-Cookie", cookieOf(door, exchange, page, "", 0)]);
    },
  };
}

/**
 * A link leads to one of the two pages, and lets nobody in at the other: by a link of their own a customer could otherwise
 * take an operator's session away. What reaches all tenants is never in the portal's cookie, which works in frames.
 */
function isTheirPage(page: Page, { tenant }: Principal, by: "key" | "code"): boolean {
  if (tenant === null) return page === "dashboard";
  return page === "portal" || by === "key";
}

/** By a key or by a code. Whoever fails is told nothing but that, and not too often. */
async function identify(door: Door, exchange: Exchange): Promise<{ letIn: LetIn; by: "key" | "code" }> {
  const { remoteAddress } = exchange.request.socket;
  const given = await readSignIn(exchange);
  // after the body: whoever holds many of them back would otherwise be asked before any has failed
  door.limit.begin(remoteAddress);
  try {
    const letIn = await door.identify(given);
    door.limit.worked(remoteAddress);
    return { letIn, by: "code" in given ? "code" : "key" };
  } catch (error) {
    if (error instanceof HttpError && error.code === "unauthorized") throw signInFailed();
    door.limit.worked(remoteAddress);
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

async function open({ open: openSession, principal }: LetIn) {
  const opened = await openSession();
  if (opened === null) throw signInFailed();
  return { ...opened, tenant: principal.tenant };
}

function cookieOf(door: Door, { request }: Exchange, page: Page, text: string, endsInMs: number): string {
  const isEmbedded = page === "portal" && door.portalOrigins.length > 0;
  return writeCookie(door.site, request, page, text, {
    maxAgeSeconds: Math.floor(endsInMs / 1_000),
    isEmbedded,
  });
}

function signInFailed(): HttpError {
  return new HttpError(
    "sign_in_failed",
    "This key or link lets nobody in: it is not valid, or has ended, or the link was used before. Ask for a new link, or use a key.",
  );
}

function noSession(): HttpError {
  return new HttpError(
    "session_not_found",
    "There is no session to end: this request came with a key. Revoke the key with DELETE /api/v1/keys/{key}.",
  );
}
