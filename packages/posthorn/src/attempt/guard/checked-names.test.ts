import { describe, expect, it, vi } from "vitest";
import { BlockedAddressError, NameNotResolvedError } from "../classify-error.ts";
import { CheckedNames, type CheckedNamesOptions } from "./checked-names.ts";
import { PUBLIC_ONLY } from "./guard-address.ts";
import type { Resolve, ResolvedAddress } from "./resolve-name.ts";

// Nothing here opens a socket, so any address can be used.
const NAME = "hooks.example.com";
const TENANT = "acme";

function addresses(...list: string[]): ResolvedAddress[] {
  return list.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
}

function names(resolve: Resolve, options: Partial<CheckedNamesOptions> = {}): CheckedNames {
  return new CheckedNames({ policy: PUBLIC_ONLY, now: () => 0, resolve, ...options });
}

/** Returns the answers one after the other, then the last one again and again. */
function resolverOf(...answers: string[][]) {
  return vi.fn<Resolve>(async () =>
    addresses(...((answers.length > 1 ? answers.shift() : answers[0]) ?? [])),
  );
}

/** A resolver that responds on command. */
function heldResolver() {
  const asked: string[] = [];
  const answers = new Map<string, (answer: ResolvedAddress[]) => void>();
  const signals = new Map<string, AbortSignal>();
  const resolve: Resolve = (hostname, signal) => {
    asked.push(hostname);
    signals.set(hostname, signal);
    return new Promise((answer) => answers.set(hostname, answer));
  };
  const answer = (hostname: string) => answers.get(hostname)?.(addresses("8.8.8.8"));
  return { resolve, asked, signals, answer };
}

describe("an answer", () => {
  it.each([
    ["a private address", ["10.0.0.5"]],
    ["a public address and then a private one", ["8.8.8.8", "10.0.0.5"]],
    ["a private address and then a public one", ["10.0.0.5", "8.8.8.8"]],
    ["a public address and private IPv6", ["8.8.8.8", "fd00::1"]],
    ["a name instead of an address", ["localhost"]],
    ["500 addresses, the last one private", [...new Array<string>(499).fill("8.8.8.8"), "10.0.0.5"]],
  ])("with %s is rejected as a whole and not cached", async (_name, answer) => {
    const resolve = resolverOf(answer);
    const checked = names(resolve);
    for (const lookups of [1, 2]) {
      await expect(checked.addressesOf(TENANT, NAME)).rejects.toBeInstanceOf(BlockedAddressError);
      expect(resolve).toHaveBeenCalledTimes(lookups);
    }
  });

  it("is returned in its order, at most eight addresses", async () => {
    const both = ["8.8.8.8", "2600::1"];
    expect(await names(resolverOf(both)).addressesOf(TENANT, NAME)).toEqual(addresses(...both));
    const many = names(resolverOf(Array(500).fill("8.8.8.8")));
    expect(await many.addressesOf(TENANT, NAME)).toHaveLength(8);
  });

  it("without an address is an error, as is a failed lookup", async () => {
    await expect(names(resolverOf([])).addressesOf(TENANT, NAME)).rejects.toThrow("(ENODATA)");
    const failing = names(() => Promise.reject(Object.assign(new Error("x"), { code: "ESERVFAIL" })));
    await expect(failing.addressesOf(TENANT, NAME)).rejects.toThrow(new NameNotResolvedError("ESERVFAIL"));
  });

  it("is cached for 30 s, so that a rebound name keeps its checked address", async () => {
    let nowMs = 1_000;
    const checked = names(resolverOf(["8.8.8.8"], ["10.0.0.5"], ["8.8.4.4"]), { now: () => nowMs });
    await checked.addressesOf(TENANT, NAME);
    nowMs += 29_999;
    expect(await checked.addressesOf(TENANT, NAME)).toEqual(addresses("8.8.8.8"));
    nowMs += 1;
    await expect(checked.addressesOf(TENANT, NAME)).rejects.toBeInstanceOf(BlockedAddressError);
    expect(await checked.addressesOf(TENANT, NAME)).toEqual(addresses("8.8.4.4"));
  });

  it("that is dropped for one tenant is kept for the others", async () => {
    const checked = names(resolverOf(["8.8.8.8"], ["8.8.4.4"], ["1.1.1.1"]));
    await checked.addressesOf("a", NAME);
    await checked.addressesOf("b", NAME);
    checked.forget("a", NAME);
    expect(await checked.addressesOf("b", NAME)).toEqual(addresses("8.8.4.4"));
    expect(await checked.addressesOf("a", NAME)).toEqual(addresses("1.1.1.1"));
  });

  it("is cached for a limited number of names, and the oldest is evicted", async () => {
    const resolve = resolverOf(["8.8.8.8"]);
    const checked = names(resolve, { maxRemembered: 2 });
    for (const name of ["a.com", "b.com", "a.com", "b.com", "c.com", "b.com", "a.com"])
      await checked.addressesOf(TENANT, name);
    expect(resolve.mock.calls.map(([hostname]) => hostname)).toEqual(["a.com", "b.com", "c.com", "a.com"]);
  });
});

describe("a lookup", () => {
  it("is shared by concurrent requests of a tenant for the same name", async () => {
    const resolver = heldResolver();
    const checked = names(resolver.resolve);
    const waiting = [1, 2, 3].map(() => checked.addressesOf(TENANT, NAME));
    await new Promise(setImmediate);
    resolver.answer(NAME);
    expect(await Promise.all(waiting)).toEqual(new Array(3).fill(addresses("8.8.8.8")));
    expect(resolver.asked).toEqual([NAME]);
  });

  it("is not delayed by thousands of unanswered lookups of another tenant, even for the same name", async () => {
    const resolver = heldResolver();
    const checked = names(resolver.resolve);
    const crowd = Array.from({ length: 3_000 }, (_, n) => `dead-${n}.example.com`);
    for (const name of [...crowd, NAME]) checked.addressesOf("crowd", name).catch(() => {});
    const other = checked.addressesOf("other", NAME);
    await new Promise(setImmediate);
    expect(resolver.asked).toHaveLength(801);
    resolver.answer(NAME);
    expect(await other).toEqual(addresses("8.8.8.8"));
  });

  it("is aborted at its deadline, and the next one starts", async () => {
    const resolver = heldResolver();
    const checked = names(resolver.resolve, { maxLookups: 1, lookupTimeoutMs: 20 });
    await expect(checked.addressesOf(TENANT, "slow.example.com")).rejects.toThrow("(ETIMEOUT)");
    expect(resolver.signals.get("slow.example.com")?.aborted).toBe(true);
    // its own deadline does not run, however busy the machine is
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    const next = checked.addressesOf(TENANT, "quick.example.com");
    vi.useRealTimers();
    await new Promise(setImmediate);
    resolver.answer("quick.example.com");
    expect(await next).toEqual(addresses("8.8.8.8"));
  });
});
