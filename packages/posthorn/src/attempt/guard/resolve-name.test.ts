import { afterEach, describe, expect, it } from "vitest";
import { type DnsServer, startDnsServer, type Zone } from "../../../../../tests/support/dns-server.ts";
import { BlockedAddressError } from "../classify-error.ts";
import { CheckedNames } from "./checked-names.ts";
import { PUBLIC_ONLY } from "./guard-address.ts";
import { privateNamesToo, type Resolve, resolveByDns, resolveBySystem } from "./resolve-name.ts";

// Only ever asks a name server on loopback; what it answers is dialled by nobody.
const NAME = "hooks.example.com";
const GLOBAL_IPV6 = `2600${"0".repeat(27)}1`;
const PRIVATE_IPV6 = `fd00${"0".repeat(27)}1`;
const MAPPED_PRIVATE = `${"0".repeat(20)}ffff0a000005`;

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(cleanups.splice(0).map((cleanup) => cleanup()));
});

async function dns(zones: Readonly<Record<string, Zone>>): Promise<DnsServer> {
  const started = await startDnsServer(zones);
  cleanups.push(() => started.close());
  return started;
}

function ask(server: DnsServer, hostname = NAME): Promise<unknown> {
  return resolveByDns([server.address])(hostname, new AbortController().signal, null);
}

function check(server: DnsServer, hostname = NAME): Promise<unknown> {
  const resolve = resolveByDns([server.address]);
  return new CheckedNames({ policy: PUBLIC_ONLY, resolve, now: () => 0 }).addressesOf(null, hostname);
}

describe("a name in DNS", () => {
  it("has its IPv4 addresses first, then those of IPv6", async () => {
    const server = await dns({ [NAME]: { A: ["8.8.8.8", "8.8.4.4"], AAAA: [GLOBAL_IPV6] } });
    expect(await ask(server)).toEqual([
      { address: "8.8.8.8", family: 4 },
      { address: "8.8.4.4", family: 4 },
      { address: "2600::1", family: 6 },
    ]);
  });

  it("may have one kind of address only", async () => {
    const server = await dns({ "four.com": { A: ["8.8.8.8"] }, "six.com": { AAAA: [GLOBAL_IPV6] } });
    expect(await ask(server, "four.com")).toEqual([{ address: "8.8.8.8", family: 4 }]);
    expect(await ask(server, "six.com")).toEqual([{ address: "2600::1", family: 6 }]);
  });

  it("is asked for as it is, without the search domains of the machine", async () => {
    const server = await dns({});
    await expect(ask(server)).rejects.toMatchObject({ code: "ENOTFOUND" });
    expect([...new Set(server.questions)].toSorted()).toEqual([`A ${NAME}`, `AAAA ${NAME}`]);
  });

  it.each<[string, Zone, string]>([
    ["it has no address", {}, "ENODATA"],
    ["its server fails", { failure: "SERVFAIL" }, "ESERVFAIL"],
  ])("is an error when %s", async (_what, zone, code) => {
    await expect(ask(await dns({ [NAME]: zone }))).rejects.toMatchObject({ code });
  });

  it("does not wait for IPv6 when its server answers for IPv4 only", async () => {
    const server = await dns({ [NAME]: { A: ["8.8.8.8"], silentFor: "AAAA" } });
    const startedAt = performance.now();
    expect(await ask(server)).toEqual([{ address: "8.8.8.8", family: 4 }]);
    expect(performance.now() - startedAt).toBeLessThan(3_000);
  });

  it("is given up when it is asked to, and holds up no other meanwhile", async () => {
    const server = await dns({ "slow.com": { failure: "silent" }, "quick.com": { A: ["8.8.8.8"] } });
    const resolve = resolveByDns([server.address]);
    const stops = Array.from({ length: 20 }, () => new AbortController());
    const slow = stops.map(({ signal }) => resolve("slow.com", signal, null));
    expect(await resolve("quick.com", new AbortController().signal, null)).toHaveLength(1);
    for (const stop of stops) stop.abort();
    for (const { status } of await Promise.allSettled(slow)) expect(status).toBe("rejected");
  });

  it.each<[string, Zone]>([
    ["a private address", { A: ["10.0.0.5"] }],
    ["a public address and a private one", { A: ["8.8.8.8", "10.0.0.5"] }],
    ["a public address and private IPv6", { A: ["8.8.8.8"], AAAA: [PRIVATE_IPV6] }],
    ["an IPv4-mapped private address", { AAAA: [MAPPED_PRIVATE] }],
    ["an alias of a private name", { CNAME: "inside.example.com" }],
  ])("is blocked with %s", async (_what, zone) => {
    const server = await dns({ [NAME]: zone, "inside.example.com": { A: ["10.0.0.5"] } });
    await expect(check(server)).rejects.toBeInstanceOf(BlockedAddressError);
  });

  it("is allowed as an alias of a public name", async () => {
    const server = await dns({ [NAME]: { CNAME: "lb.example.com" }, "lb.example.com": { A: ["8.8.8.8"] } });
    expect(await check(server)).toEqual([{ address: "8.8.8.8", family: 4 }]);
  });
});

describe("where the operator opened private ranges", () => {
  function failing(code: string): Resolve {
    return () => Promise.reject(Object.assign(new Error(code), { code }));
  }

  const bySystem: Resolve = async () => [{ address: "10.0.0.5", family: 4 }];
  const byDns: Resolve = async () => [{ address: "8.8.8.8", family: 4 }];

  async function answered(hostname: string, dnsAnswer: Resolve): Promise<string | undefined> {
    const answer = await privateNamesToo(dnsAnswer, bySystem)(hostname, new AbortController().signal, null);
    return answer[0]?.address;
  }

  it.each(["receiver", "localhost", "api.localhost"])("the system is asked for %s", async (hostname) => {
    expect(await answered(hostname, byDns)).toBe("10.0.0.5");
  });

  it("the system is asked for what DNS does not know, and only then", async () => {
    expect(await answered(NAME, byDns)).toBe("8.8.8.8");
    for (const code of ["ENOTFOUND", "ENODATA", "ECONNREFUSED"]) {
      expect(await answered(NAME, failing(code)), code).toBe("10.0.0.5");
    }
    for (const code of ["ETIMEOUT", "ESERVFAIL", "ECANCELLED"]) {
      await expect(answered(NAME, failing(code)), code).rejects.toMatchObject({ code });
    }
  });

  it("two names are asked of the system at a time, of one tenant one, and none that nobody waits for any more", async () => {
    const asked: string[] = [];
    const finish: (() => void)[] = [];
    const resolve = resolveBySystem(((hostname: string) => {
      asked.push(hostname);
      return new Promise((answer) => finish.push(() => answer([])));
    }) as unknown as Parameters<typeof resolveBySystem>[0]);
    const stop = new AbortController();
    const { signal } = new AbortController();
    const all = Promise.allSettled([
      resolve("a", signal, "acme"),
      resolve("given-up", stop.signal, "acme"),
      resolve("c", signal, "acme"),
      resolve("b", signal, "other"),
    ]);
    await new Promise(setImmediate);
    expect(asked).toEqual(["a", "b"]);
    stop.abort();
    finish[0]?.();
    await new Promise(setImmediate);
    expect(asked).toEqual(["a", "b", "c"]);
    for (const end of finish) end();
    expect((await all).map(({ status }) => status)).toEqual([
      "fulfilled",
      "rejected",
      "fulfilled",
      "fulfilled",
    ]);
  });
});
