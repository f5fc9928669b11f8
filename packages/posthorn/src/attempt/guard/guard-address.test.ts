import { describe, expect, it } from "vitest";
import { isAllowedAddress, metadataIn, PUBLIC_ONLY, parseAddressPolicy } from "./guard-address.ts";

function isAllowed(ip: string, policy = PUBLIC_ONLY): boolean {
  return isAllowedAddress(ip, ip.includes(":") ? 6 : 4, policy);
}

// First and last address of every special range, and their public neighbours.
type SpecialRange = readonly [first: string, last: string, below: string | null, above: string | null];
const SPECIAL_IPV4: readonly SpecialRange[] = [
  ["0.0.0.0", "0.255.255.255", null, "1.0.0.0"],
  ["10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"],
  ["100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0"],
  ["127.0.0.0", "127.255.255.255", "126.255.255.255", "128.0.0.0"],
  ["169.254.0.0", "169.254.255.255", "169.253.255.255", "169.255.0.0"],
  ["172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0"],
  ["192.0.0.0", "192.0.0.255", "191.255.255.255", "192.0.1.0"],
  ["192.0.2.0", "192.0.2.255", "192.0.1.255", "192.0.3.0"],
  ["192.31.196.0", "192.31.196.255", "192.31.195.255", "192.31.197.0"],
  ["192.52.193.0", "192.52.193.255", "192.52.192.255", "192.52.194.0"],
  ["192.88.99.0", "192.88.99.255", "192.88.98.255", "192.88.100.0"],
  ["192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0"],
  ["192.175.48.0", "192.175.48.255", "192.175.47.255", "192.175.49.0"],
  ["198.18.0.0", "198.19.255.255", "198.17.255.255", "198.20.0.0"],
  ["198.51.100.0", "198.51.100.255", "198.51.99.255", "198.51.101.0"],
  ["203.0.113.0", "203.0.113.255", "203.0.112.255", "203.0.114.0"],
  ["224.0.0.0", "255.255.255.255", "223.255.255.255", null],
  ["168.63.129.16", "168.63.129.16", "168.63.129.15", "168.63.129.17"],
];

describe("isAllowedAddress", () => {
  it.each(SPECIAL_IPV4)("blocks IPv4 %s to %s and no adjacent address", (first, last, below, above) => {
    expect(isAllowed(first)).toBe(false);
    expect(isAllowed(last)).toBe(false);
    if (below !== null) expect(isAllowed(below)).toBe(true);
    if (above !== null) expect(isAllowed(above)).toBe(true);
  });

  // metadata; loopback, mapped and embedded; special ranges of IPv6
  const refused = `
    100.100.100.200 169.254.169.254 169.254.170.2 192.0.0.192
    ::1 :: ::ffff:127.0.0.1 ::ffff:7f00:1 0:0:0:0:0:ffff:7f00:1 ::7f00:1 ::ffff:0:7f00:1 ::ffff:10.0.0.5
    64:ff9b::169.254.169.254 64:ff9b:1::7f00:1 2002:7f00:1:: 2001::1 2001:1ff:ffff::1 2001:db8::1
    fec0::1 fe80::1 fe80::1%eth0 fc00::1 fd00:ec2::254 fd20:ce::254 ff02::1 100::1 3fff::1 3fff:fff::1
    5f00::1 4000::1 1fff:ffff::1 2620:4f:8000::1 8000::1`;
  const allowed = `
    2600:: 2000::1 2001:200::1 2001:db9::1 2001:db7::1 2003::1 2620:4f:7fff::1 2620:4f:8001::1
    3ffe:ffff::1 3fff:1000::1 2606:4700::1111 ::ffff:8.8.8.8 1.1.1.1`;

  it.each([
    ...refused
      .trim()
      .split(/\s+/)
      .map((ip) => [ip, false] as const),
    ...allowed
      .trim()
      .split(/\s+/)
      .map((ip) => [ip, true] as const),
  ])("%s is allowed: %s", (ip, expected) => {
    expect(isAllowed(ip)).toBe(expected);
  });

  it.each(["", "localhost", "1.2.3", "1.2.3.4.5", "256.1.1.1", "0x7f.1", "1.2.3.4/8", "::g", " 8.8.8.8"])(
    "blocks %j, which is not an address",
    (text) => {
      expect(isAllowedAddress(text, 4, PUBLIC_ONLY)).toBe(false);
      expect(isAllowedAddress(text, 6, PUBLIC_ONLY)).toBe(false);
    },
  );

  it("blocks an address with the wrong family", () => {
    expect(isAllowedAddress("8.8.8.8", 6, PUBLIC_ONLY)).toBe(false);
    expect(isAllowedAddress("2600::1", 4, PUBLIC_ONLY)).toBe(false);
  });

  it("allows only the range that the operator allows", () => {
    const policy = parseAddressPolicy({ allowedCidrs: ["10.1.0.0/16", "fd12::/16", "127.0.0.1"] });
    const inside = ["10.1.0.0", "10.1.255.255", "::ffff:10.1.2.3", "fd12::1", "127.0.0.1"];
    const outside = ["10.0.255.255", "10.2.0.0", "fd13::1", "127.0.0.2"];
    expect([...inside, ...outside].filter((ip) => isAllowed(ip, policy))).toEqual(inside);
  });

  it.each([
    [["10.0.0.0/8", "127.0.0.0/8", "::1"], []],
    [["169.254.169.254"], ["169.254.0.0/16"]],
    [
      ["169.0.0.0/8", "192.0.0.0/24"],
      ["169.254.0.0/16", "192.0.0.192"],
    ],
    [["fd00::/8"], ["fd00:ec2::/32", "fd20:ce::254"]],
  ])("knows which addresses of %j stay blocked", (allowedCidrs, closed) => {
    expect(metadataIn(parseAddressPolicy({ allowedCidrs }))).toEqual(closed);
  });

  it("blocks cloud metadata even if every range is allowed", () => {
    const policy = parseAddressPolicy({ allowedCidrs: ["0.0.0.0/0", "::/0"] });
    const metadata =
      "169.254.169.254 169.254.170.2 169.254.170.23 100.100.100.200 168.63.129.16 192.0.0.192 fd00:ec2::254 fd20:ce::254 ::ffff:169.254.169.254 64:ff9b::a9fe:a9fe 64:ff9b:1::a9fe:a9fe 64:ff9b:1:a9fe:a9:fe00:: 64:ff9b:1:a9:fe:a9fe:: 64:ff9b:1:0:a9:fea9:fe00:: 2002:a9fe:a9fe::1 ::a9fe:a9fe";
    for (const ip of metadata.split(" ")) expect(isAllowed(ip, policy), ip).toBe(false);
    for (const ip of ["10.0.0.1", "::1", "127.0.0.1", "fd00::1"])
      expect(isAllowed(ip, policy), ip).toBe(true);
  });

  it("blocks a public address of this machine, unless the operator allows it", () => {
    const isOwn = (address: readonly number[]) => address.join(".") === "8.8.8.8";
    const policy = parseAddressPolicy({ isOwn });
    const near = ["8.8.8.7", "8.8.8.8", "8.8.8.9", "::ffff:8.8.8.8"];
    expect(near.filter((ip) => isAllowed(ip, policy))).toEqual(["8.8.8.7", "8.8.8.9"]);
    expect(isAllowed("8.8.8.8", parseAddressPolicy({ isOwn, allowedCidrs: ["8.8.8.8/32"] }))).toBe(true);
  });

  it("checks the IPv4 address behind NAT64 if the operator allows NAT64", () => {
    const policy = parseAddressPolicy({
      allowNat64: true,
      allowedCidrs: ["10.1.0.0/16"],
      isOwn: (address) => address.join(".") === "8.8.4.4",
    });
    for (const ip of ["8.8.8.8", "9.255.255.255", "10.1.0.1"]) {
      expect(isAllowed(`64:ff9b::${ip}`, PUBLIC_ONLY), ip).toBe(false);
      expect(isAllowed(`64:ff9b::${ip}`, policy), ip).toBe(true);
    }
    for (const ip of ["127.0.0.1", "10.0.0.1", "169.254.169.254", "100.100.100.200", "0.0.0.0", "8.8.4.4"])
      expect(isAllowed(`64:ff9b::${ip}`, policy), ip).toBe(false);
    // neighbours of the well-known prefix, and the one for local use, do not count as NAT64
    for (const ip of ["64:ff9b:1::808:808", "64:ff9b::1:808:808", "64:ff9a::808:808", "64:ff9c::808:808"])
      expect(isAllowed(ip, policy), ip).toBe(false);
  });

  const notRanges = ["10.0.0.0/33", "10.0.0.0/", "10.0.0.0/8/8", "ten", "fd00::/129", "10.0.0.0/-1", ""];
  it.each([...notRanges, "::ffff:10.0.0.0/104"])("rejects the range %j with the valid syntax", (cidr) => {
    expect(() => parseAddressPolicy({ allowedCidrs: [cidr] })).toThrow("Write it as 10.0.0.0/8");
  });
});
