import { type NetworkInterfaceInfo, networkInterfaces } from "node:os";
import { expect, test } from "vitest";
import { parseIp } from "./ip-address.ts";
import { ownAddresses } from "./own-addresses.ts";

type Read = typeof networkInterfaces;

function interfaces(...addresses: string[]): Read {
  return () => ({ eth0: addresses.map((address) => ({ address }) as NetworkInterfaceInfo) });
}

/** Returns which of the addresses are this machine's own. */
const own = (isOwn: ReturnType<typeof ownAddresses>, ...ips: string[]) =>
  ips.filter((ip) => isOwn(parseIp(ip) ?? []));

test("every address of every interface is this machine's own", () => {
  const all = Object.values(networkInterfaces()).flatMap((list) =>
    (list ?? []).map(({ address }) => address),
  );
  expect(own(ownAddresses(), ...all, "8.8.8.8")).toEqual(all);
});

test("an address is recognised in every spelling, and an adjacent one is not", () => {
  const isOwn = ownAddresses({ read: interfaces("8.8.8.8", "2600::1", "fe80::1%eth0") });
  const spellings = ["8.8.8.8", "::ffff:8.8.8.8", "2600:0:0:0:0:0:0:1", "fe80::1"];
  expect(own(isOwn, ...spellings, "8.8.8.7", "8.8.8.9", "2600::2", "::")).toEqual(spellings);
});

test("interfaces are read again after 30 s, and if that fails the previous addresses are used", () => {
  let read = interfaces("8.8.8.8");
  let nowMs = 0;
  const isOwn = ownAddresses({ read: () => read(), now: () => nowMs });
  const both = ["8.8.8.8", "8.8.4.4"];
  expect(own(isOwn, ...both)).toEqual(["8.8.8.8"]);
  read = interfaces("8.8.4.4");
  nowMs = 29_999;
  expect(own(isOwn, ...both)).toEqual(["8.8.8.8"]);
  nowMs = 30_000;
  expect(own(isOwn, ...both)).toEqual(["8.8.4.4"]);
  read = () => {
    throw new Error("EPERM");
  };
  nowMs = 60_000;
  expect(own(isOwn, ...both)).toEqual(["8.8.4.4"]);
});
