// The admin key, compared by digest: equal lengths for timingSafeEqual, and nothing to steal from memory or disk.
import { hash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { HttpError } from "../http-error.ts";
import { ADMIN, type Principal } from "../principal.ts";

/** The SHA-256 of the admin key in hex, or null while there is none. */
export type AdminKeyDigest = () => string | null | Promise<string | null>;

export type Authenticate = (request: IncomingMessage) => Principal | Promise<Principal>;

/** Throws the same 401 for every reason; `digest` is asked until it knows the answer, then never again. */
export function createAuthenticate(digest: AdminKeyDigest): Authenticate {
  let expected: Buffer | null = null;
  return (request) => {
    const given = bearerKey(request.headers.authorization);
    if (given === null) throw unauthorized();
    if (expected !== null) return check(given, expected);
    return Promise.resolve(digest()).then((hex) => {
      if (hex === null) throw unauthorized();
      expected = Buffer.from(hex, "hex");
      return check(given, expected);
    });
  };
}

export function adminKeyDigest(key: string): string {
  return hash("sha256", key, "hex");
}

function check(given: string, expected: Buffer): Principal {
  if (!timingSafeEqual(hash("sha256", given, "buffer"), expected)) throw unauthorized();
  return ADMIN;
}

function bearerKey(header: string | undefined): string | null {
  const [, key = null] = /^Bearer +(\S+) *$/i.exec(header ?? "") ?? [];
  return key;
}

function unauthorized(): HttpError {
  return new HttpError("unauthorized", "Send the admin key as `Authorization: Bearer <key>`.", {
    headers: { "WWW-Authenticate": 'Bearer realm="posthorn"' },
  });
}
