import { type NetworkInterfaceInfo, networkInterfaces } from "node:os";
import { expect, test } from "vitest";
import { type IpBytes, parseIp } from "./ip-address.ts";
import { ownAddresses } from "./own-addresses.ts";

function bytes(ip: string): IpBytes {
  return parseIp(ip) ?? [];
}

function interfaces(...addresses: string[]): () => NodeJS.Dict<NetworkInterfaceInfo[]> {
  return () => ({ eth0: addresses.map((address) => ({ address }) as NetworkInterfaceInfo) });
}

test("every address of every interface is this machine's own", () => {
  const isOwn = ownAddresses();
  for (const { address } of Object.values(networkInterfaces()).flatMap((list) => list ?? [])) {
    expect(isOwn(bytes(address)), address).toBe(true);
  }
  expect(isOwn(bytes("8.8.8.8"))).toBe(false);
});

test("an address is the same in every spelling, and its neighbour is not", () => {
  const isOwn = ownAddresses({ read: interfaces("8.8.8.8", "2600::1", "fe80::1%eth0") });
  for (const ip of ["8.8.8.8", "::ffff:8.8.8.8", "2600:0:0:0:0:0:0:1", "fe80::1"])
    expect(isOwn(bytes(ip))).toBe(true);
  for (const ip of ["8.8.8.7", "8.8.8.9", "2600::2", "::"]) expect(isOwn(bytes(ip))).toBe(false);
});

test("interfaces are looked at again after 30 s", () => {
  let read = interfaces("8.8.8.8");
  let nowMs = 0;
  const isOwn = ownAddresses({ read: () => read(), now: () => nowMs });
  expect(isOwn(bytes("8.8.8.8"))).toBe(true);
  read = interfaces("8.8.4.4");
  nowMs = 29_999;
  expect(isOwn(bytes("8.8.4.4"))).toBe(false);
  nowMs = 30_000;
  expect([isOwn(bytes("8.8.4.4")), isOwn(bytes("8.8.8.8"))]).toEqual([true, false]);
});

test("a system that does not say keeps what was known", () => {
  let nowMs = 0;
  let isSilent = false;
  const isOwn = ownAddresses({
    now: () => nowMs,
    read: () => {
      if (isSilent) throw new Error("EPERM");
      return interfaces("8.8.8.8")();
    },
  });
  expect(isOwn(bytes("8.8.8.8"))).toBe(true);
  isSilent = true;
  nowMs = 60_000;
  expect(isOwn(bytes("8.8.8.8"))).toBe(true);
});
