// Resolves a key to its principal: the admin key, a stored key, or a member's token. Keys are compared by digest, so that
// lengths are equal for timingSafeEqual and no key is kept in memory or on disk.
import { hash, timingSafeEqual } from "node:crypto";
import { performance } from "node:perf_hooks";
import { ROLE_SCOPES, type Scope } from "@posthorn/client";
import { BoundedMap } from "@posthorn/wire";
import type { Posthorn } from "posthorn";
import { type KnownKey, keyIdOf } from "posthorn/internal";
import type { ProcessGroup } from "../../processes/process-group.ts";
import { HttpError } from "../http-error.ts";
import { ADMIN, type Principal } from "../principal.ts";
import type { AdminKeyDigest } from "./admin-key.ts";
import { type Cached, FreshCache, MAX_CACHED } from "./fresh-cache.ts";
import { RequestRates } from "./request-rates.ts";

const RECORD_USE_MS = 60_000;

export interface CredentialsOptions {
  /** Called until it returns a digest, which is then cached. */
  readonly adminKeyDigest: AdminKeyDigest;
  readonly keys: Posthorn["keys"];
  /** Requests per second of keys without their own limit. 0 means no limit. */
  readonly keyRateLimit: number;
  /** The processes that count requests together. */
  readonly group?: ProcessGroup | undefined;
}

/** Resolves keys. Every failure is the same 401. */
export class Credentials {
  readonly #options: CredentialsOptions;
  readonly #known: FreshCache<KnownKey>;
  readonly #usedAt = new BoundedMap<string, number>(MAX_CACHED);
  readonly #rates: RequestRates;
  #adminDigest: string | null = null;

  constructor(options: CredentialsOptions) {
    const { keys } = options;
    this.#options = options;
    this.#rates = new RequestRates(options.group);
    this.#known = new FreshCache((id) => keys.known([id]).then(([key = null]) => key));
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
    const perSecond = own ?? this.#options.keyRateLimit;
    if (perSecond === 0) return null;
    const waitMs = this.#rates.take(id, perSecond);
    if (waitMs > 0) throw tooFast(perSecond, waitMs);
    return perSecond;
  }

  #ofKey(id: string, isGenuine: (key: KnownKey) => boolean): Principal | Promise<Principal> {
    const check = ({ value: key, endsAt }: Cached<KnownKey>): Principal => {
      if (key === null || !isGenuine(key) || performance.now() >= endsAt) throw unauthorized();
      const perSecond = this.countRequest(id, key.rateLimit);
      this.#recordUse(id);
      return principalOf(key, perSecond);
    };
    const found = this.#known.find(id);
    return found instanceof Promise ? found.then(check) : check(found);
  }

  /** Records the use at most once a minute, in the background; a failure is ignored. */
  #recordUse(id: string): void {
    const now = performance.now();
    if (now - (this.#usedAt.get(id) ?? Number.NEGATIVE_INFINITY) < RECORD_USE_MS) return;
    this.#usedAt.set(id, now);
    this.#options.keys.markUsed([id]).catch(() => {});
  }
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
    `This key exceeded its limit of ${perSecond} requests per second. Wait for the time in Retry-After.`,
    { headers: { "Retry-After": String(Math.ceil(waitMs / 1_000)) } },
  );
}
