// The host names of URLs when endpoints are created, changed and imported.
import { expect, test } from "vitest";
import { openResources } from "../../../../../tests/support/database/resources.ts";
import { eventually } from "../../../../../tests/support/eventually.ts";
import { gate } from "../../../../../tests/support/gate.ts";
import type { ResolvedAddress } from "../../attempt/guard/resolve-name.ts";

const PUBLIC: ResolvedAddress = { address: "93.184.215.14", family: 4 };
const PRIVATE: ResolvedAddress = { address: "10.0.0.7", family: 4 };
const NAMES: Readonly<Record<string, readonly ResolvedAddress[]>> = {
  "public.example.com": [PUBLIC],
  "private.example.com": [PRIVATE],
};
const asked: string[] = [];
let held: Promise<void> | null = null;

const { endpoints, newTenant, newEndpoint, tenants } = await openResources({
  maxPerTenant: 500,
  resolve: async (name) => {
    asked.push(name);
    await held;
    const addresses = NAMES[name];
    if (addresses === undefined) throw Object.assign(new Error("no such name"), { code: "ENOTFOUND" });
    return addresses;
  },
});

const at = (name: string) => `https://${name}.example.com/in`;
const warning = {
  code: "host_not_resolved",
  pointer: "/url",
  message: expect.stringContaining("could not be resolved (ENOTFOUND)"),
};
const blocked = {
  code: "invalid_endpoint",
  problems: [{ pointer: "/url", message: expect.stringContaining("This address is not allowed") }],
};

test("an endpoint whose name resolves to a private address is refused like the address itself", async () => {
  const tenant = await newTenant();
  const refusal = await endpoints
    .create(tenant, { url: at("private"), events: ["*"] })
    .catch((error) => error);
  expect(refusal).toMatchObject(blocked);
  const literal = await endpoints
    .create(tenant, { url: "https://10.0.0.7/in", events: ["*"] })
    .catch((error) => error);
  expect(refusal.message).toBe(literal.message);
  expect((await endpoints.list(tenant)).data).toEqual([]);
});

test("an endpoint whose name does not resolve is created with a warning, any other without", async () => {
  const tenant = await newTenant();
  const missing = await endpoints.create(tenant, { url: at("missing"), events: ["*"] });
  expect(missing.warnings).toEqual([warning]);
  expect((await endpoints.get(tenant, missing.endpoint.id)).url).toBe(at("missing"));
  const known = await endpoints.create(tenant, { url: at("public"), events: ["*"] });
  expect(known.warnings).toEqual([]);
});

test("a new URL is looked up with all other problems, an unchanged one is not", async () => {
  const { tenant, id } = await newEndpoint({ url: at("public") });
  await expect(endpoints.update(tenant, id, { url: at("private"), timeoutMs: -1 })).rejects.toMatchObject({
    problems: [{ pointer: "/url" }, { pointer: "/timeoutMs" }],
  });
  expect((await endpoints.update(tenant, id, { url: at("missing") })).warnings).toEqual([warning]);
  asked.length = 0;
  const same = await endpoints.update(tenant, id, { url: at("missing"), description: "a" });
  expect(same).toMatchObject({ description: "a", warnings: [] });
  await endpoints.disable(tenant, id);
  expect(asked).toEqual([]);
});

test("an endpoint whose name leads to a private address by now can still be changed", async () => {
  const { tenant, id } = await newEndpoint({ url: at("public") });
  (NAMES as Record<string, readonly ResolvedAddress[]>)["rebound.example.com"] = [PUBLIC];
  await endpoints.update(tenant, id, { url: at("rebound") });
  (NAMES as Record<string, readonly ResolvedAddress[]>)["rebound.example.com"] = [PRIVATE];
  // another spelling of the same URL
  const updated = await endpoints.update(tenant, id, {
    url: "https://REBOUND.example.com/in",
    description: "b",
  });
  expect(updated).toMatchObject({ url: at("rebound"), description: "b", warnings: [] });
});

test("an import reports warnings per endpoint, points at refused names, and asks for new URLs only", async () => {
  const { tenant, endpoint } = await newEndpoint({ url: at("old") });
  asked.length = 0;
  const items = [
    { id: endpoint.id, url: at("old"), description: "kept" },
    { url: at("public"), events: ["*"] },
    { url: at("gone"), events: ["*"] },
  ];
  for (const dryRun of [true, false]) {
    const done = await endpoints.import(tenant, { endpoints: items, dryRun });
    expect(done.endpoints.map(({ warnings }) => warnings)).toEqual([[], [], [warning]]);
  }
  expect(new Set(asked)).toEqual(new Set(["public.example.com", "gone.example.com"]));
  const refused = [...items, { url: at("private"), events: ["*"] }];
  await expect(endpoints.import(tenant, { endpoints: refused })).rejects.toMatchObject({
    code: "invalid_endpoint",
    problems: [{ pointer: "/endpoints/3/url", message: expect.stringContaining("not allowed") }],
  });
});

test("a slow name server holds no lock of the tenant", async () => {
  const { tenant, id } = await newEndpoint({ url: at("public") });
  const { opened, open } = gate();
  held = opened;
  const creating = endpoints.create(tenant, { url: at("slow"), events: ["*"] });
  const updating = endpoints.update(tenant, id, { url: at("slow2") });
  await eventually("both names are being resolved", () => asked.includes("slow2.example.com"));
  await tenants.upsert(tenant, { name: "not blocked" });
  held = null;
  open();
  expect((await creating).warnings).toEqual([warning]);
  expect((await updating).warnings).toEqual([warning]);
});
