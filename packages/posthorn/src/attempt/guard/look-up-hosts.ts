// Looks up the host names of URLs that tenants register: a name that leads to a blocked address is refused at once, and
// one that cannot be resolved is reported. Attempts do not rely on this: each resolves and checks the name again.
import { isIP } from "node:net";
import { BlockedAddressError, NameNotResolvedError } from "../classify-error.ts";
import { BLOCKED, checkUrl } from "./check-url.ts";
import { CheckedNames } from "./checked-names.ts";
import type { AddressPolicy } from "./guard-address.ts";
import type { Resolve } from "./resolve-name.ts";

export interface LookUpHostsOptions {
  readonly policy: AddressPolicy;
  readonly resolve: Resolve;
  /** Default 2,000. */
  readonly timeoutMs?: number;
  /** Default 100. */
  readonly maxLookups?: number;
}

/** Returns the findings on the hosts of these URLs. Values that are no allowed URLs are skipped. */
export type LookUpHosts = (tenant: string, urls: readonly unknown[]) => Promise<HostFindings>;

/** What the lookups found, by the normalised URL. */
export interface HostFindings {
  /** Why the URL is refused; null if it is not. */
  problemOf(href: string): string | null;
  /** Why deliveries to the URL will fail for now; null if they need not. */
  warningOf(href: string): string | null;
}

export const NO_FINDINGS: HostFindings = { problemOf: () => null, warningOf: () => null };

type Finding = { readonly isBlocked: boolean; readonly message: string };

/** Covers all lookups of a call, including the wait for one of `maxLookups` slots. */
const TIMEOUT_MS = 2_000;
/** One tenant gets 80 of them. */
const MAX_LOOKUPS = 100;

export function createLookUpHosts(options: LookUpHostsOptions): LookUpHosts {
  const { policy, resolve, timeoutMs = TIMEOUT_MS, maxLookups = MAX_LOOKUPS } = options;
  const now = () => performance.now();
  const names = new CheckedNames({ policy, resolve, now, maxLookups, lookupTimeoutMs: timeoutMs });

  return async (tenant, urls) => {
    const hosts = new Set(urls.flatMap((url) => hostNameIn(url, policy)));
    const found = await Promise.all(
      [...hosts].map(async (host) => [host, await lookUp(tenant, host)] as const),
    );
    const findings = new Map(found);
    const findingOf = (href: string) => findings.get(new URL(href).hostname) ?? null;
    const messageIf = (isBlocked: boolean) => (href: string) => {
      const finding = findingOf(href);
      return finding?.isBlocked === isBlocked ? finding.message : null;
    };
    return { problemOf: messageIf(true), warningOf: messageIf(false) };
  };

  async function lookUp(tenant: string, host: string): Promise<Finding | null> {
    try {
      await names.addressesOf(tenant, host);
      return null;
    } catch (error) {
      if (error instanceof BlockedAddressError) return { isBlocked: true, message: BLOCKED.message };
      if (!(error instanceof NameNotResolvedError)) throw error;
      return { isBlocked: false, message: unresolved(host, error) };
    }
  }
}

function hostNameIn(url: unknown, policy: AddressPolicy): string[] {
  if (typeof url !== "string") return [];
  const checked = checkUrl(url, policy);
  if (!checked.ok) return [];
  const { hostname } = new URL(checked.href);
  return hostname.startsWith("[") || isIP(hostname) !== 0 ? [] : [hostname];
}

function unresolved(host: string, { code }: NameNotResolvedError): string {
  return `The host name "${host}" could not be resolved (${code}). Deliveries fail until it can be: check its spelling and its DNS records.`;
}
