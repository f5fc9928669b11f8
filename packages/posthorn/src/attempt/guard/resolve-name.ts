// Resolves names by querying DNS directly. The system's getaddrinfo blocks one of four threads while a name server is silent,
// so four bad names would delay every other lookup and file access. Queried directly, a name is also absolute: the search
// domains of resolv.conf do not apply, and `hooks.example.com` cannot become `hooks.example.com.svc.cluster.local`.
import { Resolver, lookup as systemLookup } from "node:dns/promises";
import { TenantSemaphore } from "../../service/tenant-semaphore.ts";
import type { AddressPolicy } from "./guard-address.ts";

export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/**
 * Returns all addresses of a name, for a tenant or (null) the operator. Rejects with an error code, as `dns.resolve4`
 * does; stops when `signal` is aborted.
 */
export type Resolve = (
  hostname: string,
  signal: AbortSignal,
  tenant: string | null,
) => Promise<readonly ResolvedAddress[]>;

/**
 * Resolves public names only, unless the operator allowed private ranges: then also names that only the system knows.
 */
export function resolverFor(policy: AddressPolicy): Resolve {
  return policy.allowedCidrs.length === 0
    ? resolveByDns()
    : privateNamesToo(resolveByDns(), resolveBySystem());
}

/** Per server: 1.5 s, then 3 s. */
const TRY_MS = 1_500;
const TRIES = 2;
/** Some name servers respond for IPv4 and drop queries for IPv6: the first answer waits this long for the second. */
const OTHER_FAMILY_MS = 1_000;

/** Resolves names at `servers`, given as for `dns.setServers`. Default: those of resolv.conf. */
export function resolveByDns(servers?: readonly string[]): Resolve {
  return async (hostname, signal) => {
    // One resolver per name (23 µs): it can be cancelled alone, and reads the current resolv.conf.
    const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES });
    if (servers !== undefined) resolver.setServers(servers);
    const cancel = (): void => resolver.cancel();
    signal.addEventListener("abort", cancel, { once: true });
    const queries = [resolver.resolve4(hostname), resolver.resolve6(hostname)] as const;
    const [first] = await Promise.allSettled([Promise.any(queries)]);
    const otherTimer = first.status === "fulfilled" ? setTimeout(cancel, OTHER_FAMILY_MS) : undefined;
    const [ipv4, ipv6] = await Promise.allSettled(queries);
    clearTimeout(otherTimer);
    signal.removeEventListener("abort", cancel);
    if (ipv4.status === "rejected" && ipv6.status === "rejected") throw ipv4.reason;
    // IPv4 first, because IPv6 is often configured without being connected; the socket tries them in order.
    return [...addresses(ipv4, 4), ...addresses(ipv6, 6)];
  };
}

function addresses(answer: PromiseSettledResult<string[]>, family: 4 | 6): ResolvedAddress[] {
  return answer.status === "fulfilled" ? answer.value.map((address) => ({ address, family })) : [];
}

/** Single-label names, and those unknown to DNS, may be in /etc/hosts or a search domain. */
export function privateNamesToo(byDns: Resolve, bySystem: Resolve): Resolve {
  return async (hostname, signal, tenant) => {
    if (!hostname.includes(".") || hostname.endsWith(".localhost")) {
      return await bySystem(hostname, signal, tenant);
    }
    try {
      return await byDns(hostname, signal, tenant);
    } catch (error) {
      if (!UNKNOWN_TO_DNS.has((error as { code?: string }).code ?? "")) throw error;
      return await bySystem(hostname, signal, tenant);
    }
  };
}

/** No such name, no address, or no name server. A slow or broken server reveals nothing about the name. */
const UNKNOWN_TO_DNS = new Set(["ENOTFOUND", "ENODATA", "ECONNREFUSED"]);

/** Lookups use the four threads that file access needs too, and cannot be cancelled. A tenant gets one of the two. */
const MAX_SYSTEM_LOOKUPS = 2;

export function resolveBySystem(lookup: typeof systemLookup = systemLookup): Resolve {
  const semaphore = new TenantSemaphore(MAX_SYSTEM_LOOKUPS);
  return (hostname, signal, tenant) =>
    semaphore.run(tenant, signal, async () => {
      const answer = await lookup(hostname, { all: true });
      return answer.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
    });
}
