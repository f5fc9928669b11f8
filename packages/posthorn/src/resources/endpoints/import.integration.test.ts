import { expect, test } from "vitest";
import { openResources } from "../../../../../tests/support/resources.ts";
import { maxImported } from "./import.ts";

const world = await openResources({ maxPerTenant: maxImported });
const { tenants, endpoints, targets } = world;
const hook = { url: "https://example.com/hooks", events: ["*"] };

/** Each test has a tenant of its own. */
async function newTenant(): Promise<string> {
  return (await tenants.upsert(`tenant-${crypto.randomUUID()}`)).id;
}

async function urlsOf(tenant: string): Promise<string[]> {
  return (await endpoints.list(tenant, { limit: 250 })).data.map(({ url }) => url).toReversed();
}

const numbered = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ ...hook, url: `https://example.com/${n}` }));

test("items without an id are created, each with its own secret, returned once", async () => {
  const tenant = await newTenant();
  const own = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  const input = { endpoints: [hook, { ...hook, secret: own, filter: { data: { a: 1 } } }] };
  const { dryRun, endpoints: made } = await endpoints.import(tenant, input);
  expect(dryRun).toBe(false);
  expect(made).toEqual([
    {
      action: "created",
      id: expect.stringMatching(/^ep_/),
      url: expect.any(String),
      secret: expect.stringMatching(/^whsec_/),
    },
    { action: "created", id: expect.stringMatching(/^ep_/), url: expect.any(String), secret: own },
  ]);
  for (const { id, secret } of made) {
    const uuid = String(id).slice(3);
    expect((await targets.byIds([uuid])).get(uuid)?.secrets).toEqual([{ value: secret, expiresAt: null }]);
  }
  expect(await endpoints.get(tenant, made[1]?.id as string)).toMatchObject({ filter: { data: { a: 1 } } });
});

test("listed endpoints can be imported, and their read-only fields are ignored", async () => {
  const [from, to] = [await newTenant(), await newTenant()];
  const { endpoint } = await endpoints.create(from, {
    ...hook,
    url: "https://example.com/hooks?token=1",
    headers: { "X-Team": "a" },
    retryPolicy: "exponential",
    isActive: false,
  });
  const before = await endpoints.get(from, endpoint.id);
  const [same] = (await endpoints.import(from, { endpoints: [before] })).endpoints;
  expect(same).toMatchObject({ id: endpoint.id });
  expect(await endpoints.get(from, endpoint.id)).toEqual({ ...before, updatedAt: expect.any(Date) });
  expect((await endpoints.import(from, { endpoints: [before] })).endpoints[0]?.action).toBe("unchanged");
  const { id: _, ...withoutId } = before;
  const [made] = (await endpoints.import(to, { endpoints: [withoutId] })).endpoints;
  const copy = await endpoints.get(to, made?.id as string);
  expect(copy).toEqual({
    ...before,
    id: made?.id,
    tenant: to,
    disabledAt: expect.any(Date),
    createdAt: expect.any(Date),
    updatedAt: expect.any(Date),
  });
});

test.each([
  [{ colour: "red" }, "/endpoints/0/colour"],
  [{ url: "https://example.com/hooks?[redacted]" }, "/endpoints/0/url"],
  [{ headers: { "X-Team": "[redacted]" } }, "/endpoints/0/headers/X-Team"],
])("%j of an endpoint that is shown is not taken", async (more, pointer) => {
  const tenant = await newTenant();
  const { endpoint } = await endpoints.create(tenant, hook);
  await expect(endpoints.import(tenant, { endpoints: [{ ...endpoint, ...more }] })).rejects.toMatchObject({
    code: "invalid_endpoint",
    problems: [{ pointer }],
  });
});

test("items with an id update that endpoint, or are reported as unchanged", async () => {
  const tenant = await newTenant();
  const filter = { data: { longer: 1, a: 2 }, subject: "s" };
  const { endpoint: a } = await endpoints.create(tenant, { ...hook, description: "a", filter });
  const { endpoint: b } = await endpoints.create(tenant, { ...hook, description: "b" });
  const version = await world.routingVersion(tenant);
  world.changes.length = 0;
  const { endpoints: done } = await endpoints.import(tenant, {
    endpoints: [
      { id: a.id, description: "a", events: ["*"], filter: { subject: "s", data: { a: 2, longer: 1 } } },
      { id: b.id, description: "c" },
    ],
  });
  expect(done).toEqual([
    { action: "unchanged", id: a.id, url: hook.url, secret: null },
    { action: "updated", id: b.id, url: hook.url, secret: null },
  ]);
  expect((await endpoints.get(tenant, a.id)).updatedAt).toEqual(a.updatedAt);
  expect(await endpoints.get(tenant, b.id)).toMatchObject({ description: "c", url: hook.url });
  expect(await world.routingVersion(tenant)).toBe(version + 1);
  expect(world.changes).toEqual([{ endpointId: b.id.slice(3), owner: null }]);
});

test("a dry run reports the same and writes nothing", async () => {
  const tenant = await newTenant();
  const { endpoint } = await endpoints.create(tenant, hook);
  const version = await world.routingVersion(tenant);
  const items = [hook, { id: endpoint.id, description: "x" }];
  const { dryRun, endpoints: told } = await endpoints.import(tenant, { endpoints: items, dryRun: true });
  expect(dryRun).toBe(true);
  expect(told).toEqual([
    { action: "created", id: null, url: expect.any(String), secret: null },
    { action: "updated", id: endpoint.id, url: expect.any(String), secret: null },
  ]);
  expect(await endpoints.list(tenant)).toMatchObject({ data: [{ ...endpoint }] });
  expect(await world.routingVersion(tenant)).toBe(version);
});

test("one invalid item prevents the import, and all problems are reported with pointers, in a dry run too", async () => {
  const tenant = await newTenant();
  const other = await newTenant();
  const { endpoint: foreign } = await endpoints.create(other, hook);
  const { endpoint: deleted } = await endpoints.create(tenant, hook);
  await endpoints.delete(tenant, deleted.id);
  const { endpoint: kept } = await endpoints.create(tenant, hook);
  const items = [
    { ...hook, url: "http://10.0.0.1/", events: [] },
    { id: foreign.id, description: "taken over" },
    { id: deleted.id, description: "x" },
    { id: "ep_0198c2f0-0000-7000-8000-000000000000", description: "x" },
    { id: kept.id, timeoutMs: 1 },
    { id: kept.id.replace(/.$/, "") },
    hook,
    { events: ["*"] },
    { ...hook, filter: { data: { a: { $gtr: 1 } } } },
    "https://example.com",
  ] as never[];
  for (const dryRun of [false, true]) {
    const refused = await endpoints.import(tenant, { endpoints: items, dryRun }).catch((error) => error);
    expect(refused).toMatchObject({
      code: "invalid_endpoint",
      message: expect.stringMatching(/^9 of 10 endpoints cannot be imported, so none was\./),
    });
    expect(refused.problems.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
      "/endpoints/0/url",
      "/endpoints/0/events",
      "/endpoints/1/id",
      "/endpoints/2/id",
      "/endpoints/3/id",
      "/endpoints/4/timeoutMs",
      "/endpoints/5/id",
      "/endpoints/7/url",
      "/endpoints/8/filter/data/a/$gtr",
      "/endpoints/9",
      "/endpoints/9/url",
      "/endpoints/9/events",
    ]);
    const [, , a, b, c] = refused.problems;
    expect([b.message, c.message]).toEqual([a.message, a.message]);
  }
  expect(await urlsOf(tenant)).toEqual([hook.url]);
  expect(await endpoints.get(other, foreign.id)).toEqual(foreign);
});

test("an invalid secret, a repeated id and an invalid list are reported", async () => {
  const tenant = await newTenant();
  const { endpoint } = await endpoints.create(tenant, hook);
  const refusal = async (input: object) =>
    (await endpoints.import(tenant, input as never).catch((error) => error)).problems?.[0]?.pointer;
  expect(await refusal({ endpoints: [{ id: endpoint.id, secret: "whsec_x" }] })).toBe("/endpoints/0/secret");
  expect(await refusal({ endpoints: [{ id: endpoint.id }, hook, { id: endpoint.id }] })).toBe(
    "/endpoints/2/id",
  );
  expect(
    await refusal({ endpoints: [{ id: endpoint.id, signature: { schemes: ["standard-webhooks-v1a"] } }] }),
  ).toBe("/endpoints/0/signature/schemes");
  expect(await refusal({ endpoints: {} })).toBe("/endpoints");
  expect(await refusal({ endpoints: [hook], dryRun: "yes" })).toBe("/dryRun");
  expect(await refusal({ endpoints: [hook], dry: true })).toBe("/dry");
  await expect(endpoints.import("nobody", { endpoints: [hook] })).rejects.toMatchObject({
    code: "tenant_not_found",
  });
});

test("an import has 1 to 500 endpoints, and the tenant's limit holds", async () => {
  const tenant = await newTenant();
  await expect(endpoints.import(tenant, { endpoints: [] })).rejects.toMatchObject({
    problems: [{ pointer: "/endpoints" }],
  });
  await expect(endpoints.import(tenant, { endpoints: numbered(maxImported + 1) })).rejects.toMatchObject({
    problems: [{ pointer: "/endpoints" }],
  });
  const { endpoints: made } = await endpoints.import(tenant, { endpoints: numbered(maxImported) });
  expect(made).toHaveLength(500);
  const full = {
    code: "endpoint_limit_reached",
    message: expect.stringContaining("500 endpoints, the import adds 1"),
  };
  await expect(endpoints.import(tenant, { endpoints: [hook] })).rejects.toMatchObject(full);
  await expect(endpoints.import(tenant, { endpoints: [hook], dryRun: true })).rejects.toMatchObject(full);
  await endpoints.delete(tenant, made[0]?.id as string);
  await expect(endpoints.import(tenant, { endpoints: [hook, hook] })).rejects.toMatchObject({
    code: "endpoint_limit_reached",
  });
  await endpoints.import(tenant, { endpoints: [hook] });
});

test("two concurrent imports keep the limit", async () => {
  const tenant = await newTenant();
  const results = await Promise.allSettled(
    [300, 201].map((count) => endpoints.import(tenant, { endpoints: numbered(count) })),
  );
  expect(results.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
});
