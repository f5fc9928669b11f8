// Authenticates a request: by a key in the Authorization header, or by a session cookie.
import type { IncomingMessage } from "node:http";
import type { Principal } from "../principal.ts";
import type { SessionStore } from "../session/session-store.ts";
import { type Credentials, unauthorized } from "./credentials.ts";

export type Authenticate = (request: IncomingMessage) => Principal | Promise<Principal>;

/** A key takes precedence over a cookie. */
export function createAuthenticate(credentials: Credentials, sessions: SessionStore): Authenticate {
  return (request) => {
    const { authorization } = request.headers;
    if (authorization === undefined) return sessions.ofRequest(request);
    const key = bearerKey(authorization);
    if (key === null) throw unauthorized();
    return credentials.ofText(key);
  };
}

function bearerKey(header: string): string | null {
  const [, key = null] = /^Bearer +(\S+) *$/i.exec(header) ?? [];
  return key;
}
