import { expect, test } from "vitest";
import { openResources } from "../../../../../tests/support/database/resources.ts";
import { maxImported } from "./import.ts";

const world = await openResources({ maxPerTenant: maxImported });
const { newTenant, newEndpoint, endpoints } = world;
const hook = { url: "https://example.com/hooks", events: ["*"] };

async function urlsOf(tenant: string): Promise<string[]> {
  return (await endpoints.list(tenant, { limit: 250 })).data.map(({ url }) => url).toReversed();
}

const numbered = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ ...hook, url: `https://example.com/${n}` }));

test.each([
  [{ colour: "red" }, "/endpoints/0/colour"],
  [{ url: "https://example.com/hooks?[redacted]" }, "/endpoints/0/url"],
  [{ headers: { "X-Team": "[redacted]" } }, "/endpoints/0/headers/X-Team"],
])("a returned endpoint with %j is rejected by an import", async (more, pointer) => {
  const { tenant, endpoint } = await newEndpoint();
  await expect(endpoints.import(tenant, { endpoints: [{ ...endpoint, ...more }] })).rejects.toMatchObject({
    code: "invalid_endpoint",
    problems: [{ pointer }],
  });
});

test("items with an id update that endpoint, or are reported as unchanged", async () => {
  const filter = { data: { longer: 1, a: 2 }, subject: "s" };
  const { tenant, endpoint: a } = await newEndpoint({ description: "a", filter });
  const { endpoint: b } = await newEndpoint({ description: "b" }, tenant);
  const version = await world.routingVersion(tenant);
  world.changes.length = 0;
  const { endpoints: done } = await endpoints.import(tenant, {
    endpoints: [
      { id: a.id, description: "a", events: ["*"], filter: { subject: "s", data: { a: 2, longer: 1 } } },
      { id: b.id, description: "c" },
    ],
  });
  expect(done).toEqual([
    { action: "unchanged", id: a.id, url: hook.url, secret: null, warnings: [] },
    { action: "updated", id: b.id, url: hook.url, secret: null, warnings: [] },
  ]);
  expect((await endpoints.get(tenant, a.id)).updatedAt).toEqual(a.updatedAt);
  expect(await endpoints.get(tenant, b.id)).toMatchObject({ description: "c", url: hook.url });
  expect(await world.routingVersion(tenant)).toBe(version + 1);
  expect(world.changes).toEqual([{ endpointId: b.id.slice(3), owner: null }]);
});

test("a dry run reports the same and writes nothing", async () => {
  const { tenant, endpoint } = await newEndpoint();
  const version = await world.routingVersion(tenant);
  const items = [hook, { id: endpoint.id, description: "x" }];
  const { dryRun, endpoints: planned } = await endpoints.import(tenant, { endpoints: items, dryRun: true });
  expect(dryRun).toBe(true);
  expect(planned).toEqual([
    { action: "created", id: null, url: expect.any(String), secret: null, warnings: [] },
    { action: "updated", id: endpoint.id, url: expect.any(String), secret: null, warnings: [] },
  ]);
  expect(await endpoints.list(tenant)).toMatchObject({ data: [{ ...endpoint }] });
  expect(await world.routingVersion(tenant)).toBe(version);
});

test("one invalid item prevents the import, and all problems are reported with pointers, in a dry run too", async () => {
  const { tenant: other, endpoint: foreign } = await newEndpoint();
  const { tenant, id: deleted } = await newEndpoint();
  await endpoints.delete(tenant, deleted);
  const { endpoint: kept } = await newEndpoint({}, tenant);
  const items = [
    { ...hook, url: "http://10.0.0.1/", events: [] },
    { id: foreign.id, description: "taken over" },
    { id: deleted, description: "x" },
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

test("an invalid secret, a repeated id and a list that is not of 1 to 500 endpoints are reported", async () => {
  const { tenant, endpoint } = await newEndpoint();
  const { id } = endpoint;
  for (const [input, pointer] of [
    [{ endpoints: [{ id, secret: "whsec_x" }] }, "/endpoints/0/secret"],
    [{ endpoints: [{ id }, hook, { id }] }, "/endpoints/2/id"],
    [
      { endpoints: [{ id, signature: { schemes: ["standard-webhooks-v1a"] } }] },
      "/endpoints/0/signature/schemes",
    ],
    [{ endpoints: {} }, "/endpoints"],
    [{ endpoints: [] }, "/endpoints"],
    [{ endpoints: numbered(maxImported + 1) }, "/endpoints"],
    [{ endpoints: [hook], dryRun: "yes" }, "/dryRun"],
    [{ endpoints: [hook], dry: true }, "/dry"],
  ] as const) {
    await expect(endpoints.import(tenant, input as never)).rejects.toMatchObject({ problems: [{ pointer }] });
  }
  await expect(endpoints.import("nobody", { endpoints: [hook] })).rejects.toMatchObject({
    code: "tenant_not_found",
  });
});

test("an import may have 500 endpoints, and the tenant's limit holds", async () => {
  const { tenant, id } = await newEndpoint();
  const most = { endpoints: numbered(maxImported), dryRun: true };
  expect((await endpoints.import(await newTenant(), most)).endpoints).toHaveLength(500);
  await world.pool.query(
    `insert into posthorn.endpoints (id, tenant, url, events)
     select posthorn.uuidv7(now()), $1, 'https://example.com/', '{*}' from generate_series(2, 500)`,
    [tenant],
  );
  const full = {
    code: "endpoint_limit_reached",
    message: expect.stringContaining("500 endpoints, the import adds 1"),
  };
  await expect(endpoints.import(tenant, { endpoints: [hook] })).rejects.toMatchObject(full);
  await expect(endpoints.import(tenant, { endpoints: [hook], dryRun: true })).rejects.toMatchObject(full);
  await endpoints.delete(tenant, id);
  await expect(endpoints.import(tenant, { endpoints: [hook, hook] })).rejects.toMatchObject({
    code: "endpoint_limit_reached",
  });
  await endpoints.import(tenant, { endpoints: [hook] });
});
