// IP addresses as bytes, so that every spelling of an address compares equal. Without dependencies, because npm
// packages for this had several vulnerabilities (CVE-2023-42282, CVE-2024-29415, CVE-2020-28360).
import { isIP } from "node:net";

/** 4 bytes for IPv4, 16 for IPv6, in network order. */
export type IpBytes = readonly number[];

export interface IpRange {
  readonly bytes: IpBytes;
  readonly prefixBits: number;
}

/** Returns null for anything but an address as the operating system or the URL parser writes it. */
export function parseIp(text: string): IpBytes | null {
  const zoneAt = text.indexOf("%");
  const address = zoneAt === -1 ? text : text.slice(0, zoneAt);
  const family = isIP(address);
  if (family === 4) return parseIpv4(address);
  if (family === 6) return unwrapMapped(parseIpv6(address));
  return null;
}

/** Parses `10.0.0.0/8`, `fd00::/8` or a single address; null for anything else. */
export function parseCidr(text: string): IpRange | null {
  const [address = "", prefix, ...rest] = text.trim().split("/");
  if (rest.length > 0 || address.includes("%")) return null;
  const isMapped = isIP(address) === 6 && parseIp(address)?.length === 4;
  const bytes = parseIp(address);
  if (bytes === null || (isMapped && prefix !== undefined)) return null;
  if (prefix === undefined) return { bytes, prefixBits: bytes.length * 8 };
  if (!/^\d{1,3}$/.test(prefix) || Number(prefix) > bytes.length * 8) return null;
  return { bytes, prefixBits: Number(prefix) };
}

export function isInRange(address: IpBytes, range: IpRange): boolean {
  if (address.length !== range.bytes.length) return false;
  for (let i = 0, bits = range.prefixBits; bits > 0; i += 1, bits -= 8) {
    const mask = bits >= 8 ? 0xff : (0xff << (8 - bits)) & 0xff;
    if ((byteAt(address, i) & mask) !== (byteAt(range.bytes, i) & mask)) return false;
  }
  return true;
}

/** `::ffff:10.0.0.1` reaches 10.0.0.1, so it is treated as such. */
function unwrapMapped(bytes: IpBytes): IpBytes {
  const isMapped = bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff;
  return isMapped ? bytes.slice(12) : bytes;
}

function parseIpv4(address: string): IpBytes {
  return address.split(".").map(Number);
}

function parseIpv6(address: string): IpBytes {
  const [head = "", tail] = address.split("::");
  const front = parseGroups(head);
  if (tail === undefined) return front;
  const back = parseGroups(tail);
  return [...front, ...new Array<number>(16 - front.length - back.length).fill(0), ...back];
}

function parseGroups(text: string): number[] {
  if (text === "") return [];
  return text.split(":").flatMap((group) => {
    if (group.includes(".")) return [...parseIpv4(group)];
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}

function byteAt(bytes: IpBytes, index: number): number {
  return bytes[index] ?? 0;
}
