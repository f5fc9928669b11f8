// Who asks: the admin key of the environment, a stored key, or a member's token. All are compared by digest: equal
// lengths for timingSafeEqual, and nothing to steal from memory or disk.
import { hash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { performance } from "node:perf_hooks";
import { ROLE_SCOPES, type Scope } from "@posthorn/client";
import { type KnownKey, keyIdOf } from "posthorn/internal";
import { HttpError } from "../http-error.ts";
import { ADMIN, type Principal } from "../principal.ts";
import type { CachedKey, KeyCache } from "./key-cache.ts";

/** The SHA-256 of the admin key in hex, or null while there is none. */
export type AdminKeyDigest = () => string | null | Promise<string | null>;

export type Authenticate = (request: IncomingMessage) => Principal | Promise<Principal>;

export interface AuthenticateOptions {
  /** Asked until it knows the answer, then never again. */
  readonly adminKeyDigest: AdminKeyDigest;
  readonly keys: KeyCache;
  /** Requests per second of a key that says nothing of its own; 0: no limit. */
  readonly keyRateLimit: number;
}

/** Throws the same 401 for every reason. */
export function createAuthenticate(options: AuthenticateOptions): Authenticate {
  let adminDigest: Buffer | null = null;
  return (request) => {
    const given = bearerKey(request.headers.authorization);
    if (given === null) throw unauthorized();
    const digest = hash("sha256", given, "buffer");
    const id = keyIdOf(given);
    if (id !== null) return byKey(id, digest);
    if (adminDigest !== null) return asAdmin(digest, adminDigest);
    return Promise.resolve(options.adminKeyDigest()).then((hex) => {
      if (hex === null) throw unauthorized();
      adminDigest = Buffer.from(hex, "hex");
      return asAdmin(digest, adminDigest);
    });
  };

  function byKey(id: string, digest: Buffer): Principal | Promise<Principal> {
    const found = options.keys.find(id);
    return found instanceof Promise ? found.then((cached) => check(cached, digest)) : check(found, digest);
  }

  function check({ key, endsAt }: CachedKey, digest: Buffer): Principal {
    if (key === null || !timingSafeEqual(digest, key.digest) || performance.now() >= endsAt)
      throw unauthorized();
    const perSecond = key.rateLimit ?? options.keyRateLimit;
    const waitMs = perSecond === 0 ? 0 : options.keys.waitMs(key.id, perSecond);
    if (waitMs > 0) throw tooFast(perSecond, waitMs);
    options.keys.noteUse(key.id);
    return principalOf(key, perSecond === 0 ? null : perSecond);
  }
}

export function adminKeyDigest(key: string): string {
  return hash("sha256", key, "hex");
}

function asAdmin(digest: Buffer, expected: Buffer): Principal {
  if (!timingSafeEqual(digest, expected)) throw unauthorized();
  return ADMIN;
}

const principals = new WeakMap<KnownKey, Principal>();

/** The same for every request that finds the key in the cache. */
function principalOf(key: KnownKey, rateLimit: number | null): Principal {
  const known = principals.get(key);
  if (known !== undefined) return known;
  const { id, tenant, userId: user, role } = key;
  const scopes = role === null ? (key.scopes as readonly Scope[]) : ROLE_SCOPES[role];
  const principal: Principal = {
    kind: role === null ? "key" : "member",
    id,
    tenant,
    user,
    scopes: new Set(scopes),
    expiresAt: key.expiresMs === null ? null : new Date(key.expiresMs),
    rateLimit,
  };
  principals.set(key, principal);
  return principal;
}

function bearerKey(header: string | undefined): string | null {
  const [, key = null] = /^Bearer +(\S+) *$/i.exec(header ?? "") ?? [];
  return key;
}

function unauthorized(): HttpError {
  return new HttpError("unauthorized", "Send a valid key as `Authorization: Bearer <key>`.", {
    headers: { "WWW-Authenticate": 'Bearer realm="posthorn"' },
  });
}

function tooFast(perSecond: number, waitMs: number): HttpError {
  return new HttpError(
    "rate_limited",
    `This key may make ${perSecond} requests per second, and made more. Wait as long as Retry-After says.`,
    { headers: { "Retry-After": String(Math.ceil(waitMs / 1_000)) } },
  );
}
