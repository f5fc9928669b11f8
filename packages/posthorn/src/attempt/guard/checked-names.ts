// Names and the checked addresses they resolve to. Only checked answers are returned and cached, so a name that is
// rebound meanwhile leads nowhere new. Answers and lookups belong to one tenant, like connections: no tenant waits
// for another.
import { BoundedMap } from "@posthorn/wire";
import { TenantSemaphore } from "../../service/tenant-semaphore.ts";
import { BlockedAddressError, NameNotResolvedError } from "../classify-error.ts";
import { type AddressPolicy, isAllowedAddress } from "./guard-address.ts";
import type { Resolve, ResolvedAddress } from "./resolve-name.ts";

export interface CheckedNamesOptions {
  readonly policy: AddressPolicy;
  readonly resolve: Resolve;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  readonly maxRemembered?: number;
  readonly maxLookups?: number;
  readonly lookupTimeoutMs?: number;
}

/** A name may have hundreds of addresses; an attempt tries only a few. */
const MAX_ADDRESSES_TRIED = 8;
const REMEMBERED_MS = 30_000;
/** Twice the attempts in flight of a worker. A single tenant gets 800 of them. */
const MAX_LOOKUPS = 1_000;

interface Remembered {
  readonly answer: readonly ResolvedAddress[];
  readonly until: number;
}

export class CheckedNames {
  readonly #options: CheckedNamesOptions;
  readonly #semaphore: TenantSemaphore;
  /** By name and tenant. */
  readonly #remembered: BoundedMap<string, Remembered>;
  /** One lookup per name and tenant at a time: a slow name takes one slot, however many requests wait for it. */
  readonly #lookups = new Map<string, Promise<readonly ResolvedAddress[]>>();

  constructor(options: CheckedNamesOptions) {
    const { maxRemembered = 10_000, maxLookups = MAX_LOOKUPS } = options;
    this.#options = options;
    this.#remembered = new BoundedMap(maxRemembered);
    this.#semaphore = new TenantSemaphore(maxLookups);
  }

  /**
   * Returns at least one address, all of them allowed, for a tenant or (null) the operator. Rejects with a
   * BlockedAddressError or a NameNotResolvedError.
   */
  addressesOf(tenant: string | null, hostname: string): Promise<readonly ResolvedAddress[]> {
    const key = keyOf(tenant, hostname);
    const known = this.#remembered.get(key);
    if (known !== undefined && known.until > this.#options.now()) return Promise.resolve(known.answer);
    let lookup = this.#lookups.get(key);
    if (lookup === undefined) {
      lookup = this.#lookUp(tenant, hostname).finally(() => this.#lookups.delete(key));
      this.#lookups.set(key, lookup);
    }
    return lookup;
  }

  /** Drops the cached answer: no address of the name is reachable, so it may have moved. Other tenants keep theirs. */
  forget(tenant: string | null, hostname: string): void {
    this.#remembered.delete(keyOf(tenant, hostname));
  }

  async #lookUp(tenant: string | null, hostname: string): Promise<readonly ResolvedAddress[]> {
    const { policy, now } = this.#options;
    const answer = await this.#resolveInTime(tenant, hostname);
    if (answer.length === 0) throw new NameNotResolvedError("ENODATA");
    // One blocked address rejects the whole answer: a mixed answer is an attack, or will be at the next lookup.
    if (!answer.every(({ address, family }) => isAllowedAddress(address, family, policy))) {
      throw new BlockedAddressError();
    }
    const tried = answer.slice(0, MAX_ADDRESSES_TRIED);
    this.#remembered.set(keyOf(tenant, hostname), { answer: tried, until: now() + REMEMBERED_MS });
    return tried;
  }

  /** Waiting for a slot is part of the time limit. */
  async #resolveInTime(tenant: string | null, hostname: string): Promise<readonly ResolvedAddress[]> {
    const { resolve, lookupTimeoutMs = 5_000 } = this.#options;
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), lookupTimeoutMs);
    const late = new Promise<never>((_resolve, reject) => {
      deadline.signal.addEventListener("abort", () => reject(new NameNotResolvedError("ETIMEOUT")));
    });
    try {
      const lookup = this.#semaphore.run(tenant, deadline.signal, () =>
        Promise.race([resolve(hostname, deadline.signal, tenant), late]),
      );
      return await Promise.race([lookup, late]);
    } catch (error) {
      throw error instanceof NameNotResolvedError ? error : new NameNotResolvedError(codeOf(error));
    } finally {
      clearTimeout(timer);
    }
  }
}

/** A host name contains no space. */
function keyOf(tenant: string | null, hostname: string): string {
  return tenant === null ? hostname : `${hostname} ${tenant}`;
}

function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === "string" ? code : "unknown";
}
