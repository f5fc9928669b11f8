import { expect, test } from "vitest";
import { openResources, readPages } from "../../../../../tests/support/database/resources.ts";

const world = await openResources();
const { tenants, newTenant, newEndpoint, members, endpoints } = world;

test("upsert creates and updates a tenant under your own id", async () => {
  const made = await tenants.upsert("acme:1", { name: "Acme" });
  expect(made).toEqual({
    id: "acme:1",
    name: "Acme",
    isActive: true,
    websubTopics: [],
    createdAt: expect.any(Date),
    updatedAt: expect.any(Date),
  });
  const changed = await tenants.upsert("acme:1", { isActive: false });
  expect(changed).toMatchObject({ name: "Acme", isActive: false, createdAt: made.createdAt });
  expect(await tenants.get("acme:1")).toEqual(changed);
  expect(await tenants.upsert("acme:1", { name: null })).toMatchObject({ name: null, isActive: false });
  expect(await tenants.upsert("...")).toMatchObject({ id: "..." });
});

test("two concurrent calls that create the same tenant both succeed", async () => {
  const made = await Promise.all(Array.from({ length: 5 }, () => tenants.upsert("at-once")));
  expect(new Set(made.map(({ createdAt }) => createdAt.getTime())).size).toBe(1);
});

test.each(["", "a b", "ä", "x".repeat(129), "a/b", ".", "..", null])("the id %j is refused", async (id) => {
  await expect(tenants.upsert(id as string)).rejects.toMatchObject({
    code: "invalid_tenant",
    problems: [{ pointer: "/id", message: expect.stringContaining("other than . and ..") }],
  });
  await expect(tenants.get(id as string)).rejects.toMatchObject({ code: "tenant_not_found" });
  await expect(members.put(await newTenant(), id as string, { role: "owner" })).rejects.toMatchObject({
    code: "invalid_member",
    problems: [{ pointer: "/user" }],
  });
});

test("invalid settings are refused, with a suggestion for unknown ones", async () => {
  const input = { name: 5, isActive: 1, restore: "yes", is_active: true } as never;
  await expect(tenants.upsert("bad", input)).rejects.toMatchObject({
    code: "invalid_tenant",
    problems: [
      { pointer: "/is_active", message: expect.stringContaining("Did you mean isActive?") },
      { pointer: "/name" },
      { pointer: "/isActive" },
      { pointer: "/restore" },
    ],
  });
});

test.each([["order paid"], ["webhook.*"], ["webhook.test"], [1]])("%j cannot be a topic", async (topic) => {
  const opened = tenants.upsert("bad", { websubTopics: ["order.*", topic as string] });
  await expect(opened).rejects.toMatchObject({
    code: "invalid_tenant",
    problems: [{ pointer: "/websubTopics" }],
  });
});

test("making a tenant inactive increments its routing version and pauses its lanes, a new name does not", async () => {
  const { tenant, id } = await newEndpoint();
  const { id: disabled } = await newEndpoint({ isActive: false }, tenant);
  const before = await world.routingVersion(tenant);
  await tenants.upsert(tenant, { name: "New" });
  expect(await world.routingVersion(tenant)).toBe(before);

  await tenants.upsert(tenant, { isActive: false });
  expect(await world.routingVersion(tenant)).toBe(before + 1);
  expect(await world.lane(id)).toMatchObject({ paused: true });

  await tenants.upsert(tenant, { isActive: true });
  expect(await world.lane(id)).toMatchObject({ paused: false });
  expect(await world.lane(disabled), "a disabled endpoint stays paused").toMatchObject({ paused: true });
});

test("tenants are listed a page at a time, in the order of their ids", async () => {
  for (const id of ["page-1", "page-2", "page-3"]) await tenants.upsert(id);
  const pages = await readPages((cursor) => tenants.list({ limit: 2, cursor }));
  const ids = pages.flat().map(({ id }) => id);
  expect(ids).toEqual(expect.arrayContaining(["page-1", "page-2", "page-3"]));
  expect(new Set(ids).size).toBe(ids.length);
  await expect(tenants.list({ limit: 251 })).rejects.toMatchObject({ code: "invalid_query" });
});

test("a tenant can be deleted without endpoints, and not while a delivery to a deleted one is in flight", async () => {
  const { tenant, id } = await newEndpoint();
  const delivery = await world.addQueued(await world.addEvent(tenant), id, { claimedBy: 1 });
  await expect(tenants.delete(tenant)).rejects.toMatchObject({
    code: "tenant_not_empty",
    status: 409,
    message: `Tenant "${tenant}" has 1 endpoint. Delete it first.`,
  });
  await endpoints.delete(tenant, id);
  await expect(tenants.delete(tenant)).rejects.toMatchObject({ code: "tenant_not_empty" });
  await world.pool.query("update posthorn.queue set claimed_by = null where id = $1", [delivery.slice(4)]);
  await tenants.delete(tenant);
  await expect(tenants.get(tenant)).rejects.toMatchObject({ code: "tenant_not_found" });
  await expect(tenants.delete(tenant)).rejects.toMatchObject({ code: "tenant_not_found" });
});

test("a restored tenant never has a routing version that it had before", async () => {
  const { tenant, id } = await newEndpoint();
  await endpoints.delete(tenant, id);
  const before = await world.routingVersion(tenant);
  await tenants.delete(tenant);
  await tenants.upsert(tenant, { restore: true });
  expect(await world.routingVersion(tenant)).toBeGreaterThan(before);
});

test("the id of a deleted tenant is refused until it is restored", async () => {
  await tenants.upsert("left", { name: "Left Ltd." });
  await tenants.delete("left");
  for (const input of [{}, { restore: false }, { name: "Somebody else" }]) {
    await expect(tenants.upsert("left", input)).rejects.toMatchObject({
      code: "tenant_deleted",
      status: 409,
      message: expect.stringContaining("restore: true"),
    });
  }
  await expect(tenants.get("left")).rejects.toMatchObject({ code: "tenant_not_found" });
  expect(await tenants.upsert("left", { restore: true })).toMatchObject({ id: "left", name: null });
  expect(await tenants.upsert("left", { name: "Back" })).toMatchObject({ name: "Back" });
  expect(await tenants.upsert("never-deleted", { restore: true })).toMatchObject({ id: "never-deleted" });
});

test("creating a tenant during its deletion either succeeds before it or is refused", async () => {
  for (let round = 0; round < 20; round++) {
    const id = `raced-${round}`;
    await tenants.upsert(id);
    const [, made] = await Promise.allSettled([tenants.delete(id), tenants.upsert(id)]);
    if (made.status === "rejected") expect(made.reason).toMatchObject({ code: "tenant_deleted" });
    await expect(tenants.get(id)).rejects.toMatchObject({ code: "tenant_not_found" });
  }
});
