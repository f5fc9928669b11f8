import { expect, test } from "vitest";
import { gate } from "../../../../../tests/support/gate.ts";
import { parseAddressPolicy } from "./guard-address.ts";
import { createLookUpHosts, type LookUpHostsOptions } from "./look-up-hosts.ts";
import type { Resolve, ResolvedAddress } from "./resolve-name.ts";

const PUBLIC: ResolvedAddress = { address: "93.184.215.14", family: 4 };
const PRIVATE: ResolvedAddress = { address: "10.0.0.7", family: 4 };
const silent: Resolve = () => new Promise(() => {});

function lookUp(resolve: Resolve, options: Partial<LookUpHostsOptions> = {}) {
  return createLookUpHosts({ policy: parseAddressPolicy(), resolve, ...options });
}

test("a name with a public address has neither a problem nor a warning", async () => {
  const hosts = await lookUp(async () => [PUBLIC])("acme", ["https://hooks.example.com/in"]);
  const href = "https://hooks.example.com/in";
  expect([hosts.problemOf(href), hosts.warningOf(href)]).toEqual([null, null]);
});

test("a name with one blocked address among public ones is refused like the literal address", async () => {
  const hosts = await lookUp(async () => [PUBLIC, PRIVATE])("acme", ["https://hooks.example.com/in"]);
  expect(hosts.problemOf("https://hooks.example.com/in")).toMatch(/^This address is not allowed/);
  expect(hosts.warningOf("https://hooks.example.com/in")).toBeNull();
});

test("an address that the operator allowed is no problem", async () => {
  const policy = parseAddressPolicy({ allowedCidrs: ["10.0.0.0/8"] });
  const hosts = await lookUp(async () => [PRIVATE], { policy })("acme", ["https://hooks.example.com/in"]);
  expect(hosts.problemOf("https://hooks.example.com/in")).toBeNull();
});

test.each([
  [
    "has no such record",
    async () => Promise.reject(Object.assign(new Error(), { code: "ENOTFOUND" })),
    "ENOTFOUND",
  ],
  ["has no address", async () => [], "ENODATA"],
  ["has a silent name server", silent, "ETIMEOUT"],
] satisfies [string, Resolve, string][])("a name that %s gives a warning", async (_, resolve, code) => {
  const hosts = await lookUp(resolve, { timeoutMs: 10 })("acme", ["https://hooks.example.com/in"]);
  const href = "https://hooks.example.com/in";
  expect(hosts.warningOf(href)).toContain(`"hooks.example.com" could not be resolved (${code})`);
  expect(hosts.problemOf(href)).toBeNull();
});

test("each name is looked up once, and literal addresses and refused URLs are not", async () => {
  const asked: string[] = [];
  const resolve: Resolve = async (name) => {
    asked.push(name);
    return [PUBLIC];
  };
  await lookUp(resolve)("acme", [
    "https://a.example.com/1",
    "https://A.example.com/2",
    "https://93.184.215.14/",
    "https://[2606:2800::1]/",
    "http://b.example.com/",
    "https://localhost/",
    "nonsense",
    7,
    null,
  ]);
  expect(asked).toEqual(["a.example.com"]);
});

test("a tenant's names are looked up at the same time, up to its share of the slots", async () => {
  const open = gate();
  let running = 0;
  let most = 0;
  const resolve: Resolve = async () => {
    most = Math.max(most, ++running);
    if (running === 8) open.open();
    await open.opened;
    running -= 1;
    return [PUBLIC];
  };
  const urls = Array.from({ length: 30 }, (_, index) => `https://h${index}.example.com/`);
  const hosts = await lookUp(resolve, { maxLookups: 10 })("acme", urls);
  expect(most).toBe(8);
  expect(urls.every((url) => hosts.problemOf(url) === null && hosts.warningOf(url) === null)).toBe(true);
});

test("names that get no slot in time give a warning, so any number of silent ones takes no longer", async () => {
  const urls = Array.from({ length: 30 }, (_, index) => `https://h${index}.example.com/`);
  const hosts = await lookUp(silent, { maxLookups: 10, timeoutMs: 10 })("acme", urls);
  expect(urls.every((url) => hosts.warningOf(url)?.includes("ETIMEOUT"))).toBe(true);
});
