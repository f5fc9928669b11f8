import { describe, expect, it } from "vitest";
import { BlockedAddressError, NameNotResolvedError } from "../classify-error.ts";
import { CheckedNames, type CheckedNamesOptions } from "./checked-names.ts";
import { PUBLIC_ONLY, parseAddressPolicy } from "./guard-address.ts";
import type { Resolve, ResolvedAddress } from "./resolve-name.ts";

// Nothing here opens a socket, so that addresses may be anybody's.
const NAME = "hooks.example.com";
const TENANT = "acme";

function addresses(...list: string[]): ResolvedAddress[] {
  return list.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
}

function names(resolve: Resolve, options: Partial<CheckedNamesOptions> = {}): CheckedNames {
  return new CheckedNames({ policy: PUBLIC_ONLY, now: () => 0, resolve, ...options });
}

/** A resolver that answers when it is told to. */
function heldResolver() {
  const asked: string[] = [];
  const answers = new Map<string, (answer: ResolvedAddress[]) => void>();
  const signals = new Map<string, AbortSignal>();
  const resolve: Resolve = (hostname, signal) => {
    asked.push(hostname);
    signals.set(hostname, signal);
    return new Promise((answer) => answers.set(hostname, answer));
  };
  return {
    resolve,
    asked,
    signals,
    answer: (hostname: string) => answers.get(hostname)?.(addresses("8.8.8.8")),
  };
}

describe("an answer", () => {
  it.each([
    ["a private address", ["10.0.0.5"]],
    ["a public address and then a private one", ["8.8.8.8", "10.0.0.5"]],
    ["a private address and then a public one", ["10.0.0.5", "8.8.8.8"]],
    ["a public address and private IPv6", ["8.8.8.8", "fd00::1"]],
    ["an IPv4-mapped private address", ["::ffff:10.0.0.5"]],
    ["a NAT64 address", ["64:ff9b::808:808"]],
    ["cloud metadata", ["169.254.169.254"]],
    ["a name instead of an address", ["localhost"]],
    ["500 addresses, the last one private", [...new Array<string>(499).fill("8.8.8.8"), "10.0.0.5"]],
  ])("is refused whole with %s in it, and not remembered", async (_name, answer) => {
    let count = 0;
    const checked = names(async () => {
      count += 1;
      return addresses(...answer);
    });
    await expect(checked.addressesOf(TENANT, NAME)).rejects.toBeInstanceOf(BlockedAddressError);
    await expect(checked.addressesOf(TENANT, NAME)).rejects.toBeInstanceOf(BlockedAddressError);
    expect(count).toBe(2);
  });

  it("is refused with an address of this machine's own in it", async () => {
    const policy = parseAddressPolicy({ isOwn: (address) => address.join(".") === "8.8.4.4" });
    const checked = names(async () => addresses("8.8.8.8", "8.8.4.4"), { policy });
    await expect(checked.addressesOf(TENANT, NAME)).rejects.toBeInstanceOf(BlockedAddressError);
  });

  it("may be a NAT64 address when the operator says so, and only of a public one", async () => {
    const policy = parseAddressPolicy({ allowNat64: true });
    const good = names(async () => addresses("8.8.8.8", "64:ff9b::808:808"), { policy });
    expect(await good.addressesOf(TENANT, NAME)).toHaveLength(2);
    const bad = names(async () => addresses("8.8.8.8", "64:ff9b::10.0.0.5"), { policy });
    await expect(bad.addressesOf(TENANT, NAME)).rejects.toBeInstanceOf(BlockedAddressError);
  });

  it("is handed on as it came, eight addresses at most", async () => {
    expect(await names(async () => addresses("8.8.8.8", "2600::1")).addressesOf(TENANT, NAME)).toEqual(
      addresses("8.8.8.8", "2600::1"),
    );
    const many = names(async () => addresses(...new Array<string>(500).fill("8.8.8.8")));
    expect(await many.addressesOf(TENANT, NAME)).toHaveLength(8);
  });

  it("without an address is an error, and so is none at all", async () => {
    await expect(names(async () => []).addressesOf(TENANT, NAME)).rejects.toThrow("(ENODATA)");
    const failing = names(() => Promise.reject(Object.assign(new Error("x"), { code: "ESERVFAIL" })));
    await expect(failing.addressesOf(TENANT, NAME)).rejects.toThrow(new NameNotResolvedError("ESERVFAIL"));
  });

  it("is remembered for 30 s: a name that is rebound meanwhile stays where it was checked", async () => {
    const answers = [addresses("8.8.8.8"), addresses("10.0.0.5"), addresses("8.8.4.4")];
    let nowMs = 1_000;
    const checked = names(async () => answers.shift() ?? [], { now: () => nowMs });
    await checked.addressesOf(TENANT, NAME);
    nowMs += 29_999;
    expect(await checked.addressesOf(TENANT, NAME)).toEqual(addresses("8.8.8.8"));
    nowMs += 1;
    await expect(checked.addressesOf(TENANT, NAME)).rejects.toBeInstanceOf(BlockedAddressError);
    expect(await checked.addressesOf(TENANT, NAME)).toEqual(addresses("8.8.4.4"));
  });

  it("is forgotten on request", async () => {
    const answers = [addresses("8.8.8.8"), addresses("8.8.4.4")];
    const checked = names(async () => answers.shift() ?? []);
    await checked.addressesOf(TENANT, NAME);
    checked.forget(TENANT, NAME);
    expect(await checked.addressesOf(TENANT, NAME)).toEqual(addresses("8.8.4.4"));
  });

  it("that one tenant forgets is still there for the others", async () => {
    const answers = [addresses("8.8.8.8"), addresses("8.8.4.4"), addresses("1.1.1.1")];
    const checked = names(async () => answers.shift() ?? []);
    await checked.addressesOf("a", NAME);
    await checked.addressesOf("b", NAME);
    checked.forget("a", NAME);
    expect(await checked.addressesOf("b", NAME)).toEqual(addresses("8.8.4.4"));
    expect(await checked.addressesOf("a", NAME)).toEqual(addresses("1.1.1.1"));
  });

  it("is remembered for so many names, and the oldest makes room", async () => {
    const asked: string[] = [];
    const checked = names(
      async (hostname) => {
        asked.push(hostname);
        return addresses("8.8.8.8");
      },
      { maxRemembered: 2 },
    );
    for (const name of ["a.com", "b.com", "a.com", "b.com", "c.com", "b.com", "a.com"]) {
      await checked.addressesOf(TENANT, name);
    }
    expect(asked).toEqual(["a.com", "b.com", "c.com", "a.com"]);
  });
});

describe("a question", () => {
  it("is asked once for all of a tenant's that wait for the same name", async () => {
    const resolver = heldResolver();
    const checked = names(resolver.resolve);
    const waiting = [1, 2, 3].map(() => checked.addressesOf(TENANT, NAME));
    await new Promise(setImmediate);
    resolver.answer(NAME);
    expect(await Promise.all(waiting)).toEqual(new Array(3).fill(addresses("8.8.8.8")));
    expect(resolver.asked).toEqual([NAME]);
  });

  it("that gets no answer holds up no other name", async () => {
    const resolver = heldResolver();
    const checked = names(resolver.resolve);
    const slow = checked.addressesOf(TENANT, "slow.example.com");
    const quick = checked.addressesOf(TENANT, "quick.example.com");
    await new Promise(setImmediate);
    resolver.answer("quick.example.com");
    expect(await quick).toEqual(addresses("8.8.8.8"));
    resolver.answer("slow.example.com");
    await slow;
  });

  it("of one tenant is not held up by thousands of another's that get no answer, the same name's included", async () => {
    const resolver = heldResolver();
    const checked = names(resolver.resolve);
    const dead = Array.from({ length: 3_000 }, (_, n) =>
      checked.addressesOf("crowd", `dead-${n}.example.com`),
    );
    dead.push(checked.addressesOf("crowd", NAME));
    const other = checked.addressesOf("other", NAME);
    await new Promise(setImmediate);
    expect(resolver.asked).toHaveLength(801);
    resolver.answer(NAME);
    expect(await other).toEqual(addresses("8.8.8.8"));
    for (const lookup of dead) lookup.catch(() => {});
  });

  it("waits for its turn when as many are asked as may be", async () => {
    const resolver = heldResolver();
    const checked = names(resolver.resolve, { maxLookups: 3 });
    const all = ["a.com", "b.com", "c.com"].map((name) => checked.addressesOf(TENANT, name));
    await new Promise(setImmediate);
    expect(resolver.asked).toEqual(["a.com", "b.com"]);
    resolver.answer("a.com");
    await all[0];
    await new Promise(setImmediate);
    expect(resolver.asked).toEqual(["a.com", "b.com", "c.com"]);
    resolver.answer("b.com");
    resolver.answer("c.com");
    await Promise.all(all);
  });

  it("is given up at its deadline, and its turn goes to the next", async () => {
    const resolver = heldResolver();
    const checked = names(resolver.resolve, { maxLookups: 1, lookupTimeoutMs: 20 });
    await expect(checked.addressesOf(TENANT, "slow.example.com")).rejects.toThrow("(ETIMEOUT)");
    expect(resolver.signals.get("slow.example.com")?.aborted).toBe(true);
    const next = checked.addressesOf(TENANT, "quick.example.com");
    await new Promise(setImmediate);
    resolver.answer("quick.example.com");
    expect(await next).toEqual(addresses("8.8.8.8"));
  });
});
