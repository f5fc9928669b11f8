// Which addresses a delivery may connect to. IPv4 uses the whole IANA special-purpose table. IPv6 uses an allow-list,
// 2000::/3 minus specials, because every surveyed deny-list for IPv6 was incomplete at some time (NAT64, 6to4,
// site-local, …).
import { type IpBytes, type IpRange, isInRange, parseCidr, parseIp } from "./ip-address.ts";
import { ownAddresses } from "./own-addresses.ts";

/** Set by the operator, never by a tenant. */
export interface AddressPolicy {
  readonly allowHttp: boolean;
  /** Special ranges that are allowed, such as `127.0.0.0/8` in development. */
  readonly allowedCidrs: readonly IpRange[];
  /** Allows public IPv4 addresses behind a NAT64 translator, `64:ff9b::/96`. */
  readonly allowNat64: boolean;
  /** Returns true for an address of this machine's interfaces. */
  readonly isOwn: (address: IpBytes) => boolean;
}

export function parseRange(text: string): IpRange {
  const range = parseCidr(text);
  if (range !== null) return range;
  throw new Error(
    `"${text}" is not an address range. Write it as 10.0.0.0/8 or fd00::/8, or as one address.`,
  );
}

/** By default only public addresses are allowed, over HTTPS. */
export function parseAddressPolicy({
  allowedCidrs = [],
  ...input
}: Partial<Omit<AddressPolicy, "allowedCidrs">> & {
  readonly allowedCidrs?: readonly string[];
} = {}): AddressPolicy {
  const defaults = { allowHttp: false, allowNat64: false, isOwn: ownAddresses() };
  return { ...defaults, ...input, allowedCidrs: allowedCidrs.map(parseRange) };
}

export const PUBLIC_ONLY: AddressPolicy = parseAddressPolicy();

/** Blocks anything that is not clearly an address of that family. */
export function isAllowedAddress(ip: string, family: 4 | 6, policy: AddressPolicy): boolean {
  if (ip.includes(":") !== (family === 6)) return false;
  const address = parseIp(ip);
  return address !== null && isAllowed(address, policy);
}

function isAllowed(address: IpBytes, policy: AddressPolicy): boolean {
  if (isMetadata(address)) return false;
  if (isInAny(address, policy.allowedCidrs)) return true;
  if (policy.isOwn(address)) return false;
  if (policy.allowNat64 && isInRange(address, NAT64)) return isAllowed(address.slice(12), policy);
  return isPublic(address);
}

/** Returns true if the address is allowed by the operator rather than public. */
export function isOperatorAllowed(ip: string, policy: AddressPolicy): boolean {
  const address = parseIp(ip);
  return address !== null && !isMetadata(address) && isInAny(address, policy.allowedCidrs);
}

function isPublic(address: IpBytes): boolean {
  if (address.length === 4) return !isInAny(address, SPECIAL_IPV4);
  return isInRange(address, GLOBAL_UNICAST) && !isInAny(address, SPECIAL_IPV6);
}

/** Returns true for an address that no setting can allow. */
export function isNeverAllowed(ip: string): boolean {
  const address = parseIp(ip);
  return address !== null && isMetadata(address);
}

/** Returns the ranges within the operator's that stay blocked, as written in the table. */
export function metadataIn({ allowedCidrs }: AddressPolicy): string[] {
  return METADATA_RANGES.filter((text) => {
    const metadata = parseRange(text);
    return allowedCidrs.some((cidr) => isInRange(metadata.bytes, cidr) || isInRange(cidr.bytes, metadata));
  });
}

/**
 * Metadata services return credentials to any caller: blocked even inside an allowed range, also when embedded in
 * IPv6.
 */
function isMetadata(address: IpBytes): boolean {
  return [address, ...embeddedIpv4(address)].some((candidate) => isInAny(candidate, METADATA));
}

/** Returns the IPv4 addresses that a translator or tunnel may connect to for this one: NAT64, 6to4, IPv4-compatible. */
function embeddedIpv4(address: IpBytes): IpBytes[] {
  if (address.length === 4) return [];
  if (isInRange(address, SIX_TO_FOUR)) return [address.slice(2, 6)];
  if (isInRange(address, LOCAL_NAT64)) {
    // RFC 6052 §2.2: the position of the IPv4 address depends on the translator's prefix; byte 8 is always skipped.
    const withoutByte8 = [...address.slice(0, 8), ...address.slice(9)];
    return [6, 7, 8].map((at) => withoutByte8.slice(at, at + 4)).concat([address.slice(12)]);
  }
  return isInAny(address, ENDS_IN_IPV4) ? [address.slice(12)] : [];
}

function isInAny(address: IpBytes, list: readonly IpRange[]): boolean {
  return list.some((range) => isInRange(address, range));
}

// IANA IPv4 Special-Purpose Address Registry, plus multicast and two cloud addresses outside it.
const SPECIAL_IPV4 = [
  "0.0.0.0/8", // this network; 0.0.0.0 reaches loopback on Linux
  "10.0.0.0/8", // private
  "100.64.0.0/10", // carrier-grade NAT
  "127.0.0.0/8", // loopback
  "169.254.0.0/16", // link-local
  "172.16.0.0/12", // private
  "192.0.0.0/24", // IETF protocol assignments
  "192.0.2.0/24", // documentation
  "192.31.196.0/24", // AS112
  "192.52.193.0/24", // AMT
  "192.88.99.0/24", // 6to4 relay
  "192.168.0.0/16", // private
  "192.175.48.0/24", // AS112
  "198.18.0.0/15", // benchmarking
  "198.51.100.0/24", // documentation
  "203.0.113.0/24", // documentation
  "224.0.0.0/4", // multicast
  "240.0.0.0/4", // reserved, broadcast
  "168.63.129.16", // Azure host
].map(parseRange);

const GLOBAL_UNICAST = parseRange("2000::/3");

const SPECIAL_IPV6 = [
  "2001::/23", // IETF protocol assignments: Teredo, ORCHID, benchmarking
  "2001:db8::/32", // documentation
  "2002::/16", // 6to4
  "2620:4f:8000::/48", // AS112
  "3fff::/20", // documentation
].map(parseRange);

const METADATA_RANGES = [
  "169.254.0.0/16", // AWS, GCP, Azure, ECS, Scaleway, Tencent: all of link-local
  "100.100.100.200", // Alibaba
  "168.63.129.16", // Azure
  "192.0.0.192", // Oracle
  "fe80::/10", // link-local
  "fd00:ec2::/32", // AWS
  "fd20:ce::254", // GCP
];
const METADATA = METADATA_RANGES.map(parseRange);

const SIX_TO_FOUR = parseRange("2002::/16");
const NAT64 = parseRange("64:ff9b::/96");
const LOCAL_NAT64 = parseRange("64:ff9b:1::/48");
const ENDS_IN_IPV4 = [NAT64, ...["::/96", "::ffff:0:0:0/96"].map(parseRange)];
