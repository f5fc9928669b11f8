// Resolves a key to its principal: the admin key, a stored key, or a member's token. Keys are compared by digest, so that
// lengths are equal for timingSafeEqual and no key is kept in memory or on disk.
import { hash, timingSafeEqual } from "node:crypto";
import { performance } from "node:perf_hooks";
import { ROLE_SCOPES, type Scope } from "@posthorn/client";
import { type KnownKey, keyIdOf } from "posthorn/internal";
import { HttpError } from "../http-error.ts";
import { ADMIN, type Principal } from "../principal.ts";
import type { Cached } from "./fresh-cache.ts";
import type { KeyCache } from "./key-cache.ts";

/** Returns the SHA-256 of the admin key in hex, or null if there is none yet. */
export type AdminKeyDigest = () => string | null | Promise<string | null>;

export interface CredentialsOptions {
  /** Called until it returns a digest, which is then cached. */
  readonly adminKeyDigest: AdminKeyDigest;
  readonly keys: KeyCache;
  /** Requests per second of keys without a limit of their own. 0 means no limit. */
  readonly keyRateLimit: number;
}

/** Resolves keys. Every failure is the same 401. */
export class Credentials {
  readonly #options: CredentialsOptions;
  #adminDigest: string | null = null;

  constructor(options: CredentialsOptions) {
    this.#options = options;
  }

  /** Resolves the text of a key. */
  ofText(text: string): Principal | Promise<Principal> {
    const digest = hash("sha256", text, "buffer");
    const id = keyIdOf(text);
    if (id !== null) return this.#ofKey(id, (key) => timingSafeEqual(digest, key.digest));
    const known = this.adminDigest();
    return known instanceof Promise ? known.then((hex) => asAdmin(digest, hex)) : asAdmin(digest, known);
  }

  /** Resolves a key by its id, for a session that was opened with it. */
  ofKey(id: string): Principal | Promise<Principal> {
    return this.#ofKey(id, () => true);
  }

  adminDigest(): string | null | Promise<string | null> {
    if (this.#adminDigest !== null) return this.#adminDigest;
    return Promise.resolve(this.#options.adminKeyDigest()).then((hex) => {
      this.#adminDigest = hex;
      return hex;
    });
  }

  /** Counts a request. Throws if the key exceeds its rate; returns the rate, or null without a limit. */
  countRequest(id: string, own: number | null): number | null {
    const { keys, keyRateLimit } = this.#options;
    const perSecond = own ?? keyRateLimit;
    const waitMs = perSecond === 0 ? 0 : keys.waitMs(id, perSecond);
    if (waitMs > 0) throw tooFast(perSecond, waitMs);
    return perSecond === 0 ? null : perSecond;
  }

  #ofKey(id: string, isGenuine: (key: KnownKey) => boolean): Principal | Promise<Principal> {
    const { keys } = this.#options;
    const check = ({ value: key, endsAt }: Cached<KnownKey>): Principal => {
      if (key === null || !isGenuine(key) || performance.now() >= endsAt) throw unauthorized();
      const perSecond = this.countRequest(id, key.rateLimit);
      keys.recordUse(id);
      return principalOf(key, perSecond);
    };
    const found = keys.find(id);
    return found instanceof Promise ? found.then(check) : check(found);
  }
}

export function adminKeyDigest(key: string): string {
  return hash("sha256", key, "hex");
}

function asAdmin(digest: Buffer, expected: string | null): Principal {
  if (expected === null || !timingSafeEqual(digest, Buffer.from(expected, "hex"))) throw unauthorized();
  return ADMIN;
}

const principals = new WeakMap<KnownKey, Principal>();

/** Cached per key, so that a request with a cached key allocates nothing. */
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
    role,
    scopes: new Set(scopes),
    expiresAt: key.expiresMs === null ? null : new Date(key.expiresMs),
    rateLimit,
    session: null,
  };
  principals.set(key, principal);
  return principal;
}

export function unauthorized(): HttpError {
  return new HttpError("unauthorized", "Send a valid key as `Authorization: Bearer <key>`.", {
    headers: { "WWW-Authenticate": 'Bearer realm="posthorn"' },
  });
}

function tooFast(perSecond: number, waitMs: number): HttpError {
  return new HttpError(
    "rate_limited",
    `This key exceeded its limit of ${perSecond} requests per second. Wait as long as Retry-After says.`,
    { headers: { "Retry-After": String(Math.ceil(waitMs / 1_000)) } },
  );
}
