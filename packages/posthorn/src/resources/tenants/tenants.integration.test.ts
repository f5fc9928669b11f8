import { expect, test } from "vitest";
import { openResources } from "../../../../../tests/support/resources.ts";

const world = await openResources();
const { tenants, members, endpoints } = world;
const hook = { url: "https://example.com/hooks", events: ["*"] };

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
});

test("two concurrent calls that create the same tenant both succeed", async () => {
  const made = await Promise.all(Array.from({ length: 5 }, () => tenants.upsert("at-once")));
  expect(new Set(made.map(({ createdAt }) => createdAt.getTime())).size).toBe(1);
});

test.each(["", "a b", "ä", "x".repeat(129), "a/b", null])("the id %j is refused", async (id) => {
  await expect(tenants.upsert(id as string)).rejects.toMatchObject({
    code: "invalid_tenant",
    problems: [{ pointer: "/id" }],
  });
  await expect(tenants.get(id as string)).rejects.toMatchObject({ code: "tenant_not_found" });
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

test.each([".", ".."])(
  "%s is refused as an id because URLs cannot contain it, three dots are allowed",
  async (id) => {
    await expect(tenants.upsert(id)).rejects.toMatchObject({
      code: "invalid_tenant",
      problems: [{ pointer: "/id", message: expect.stringContaining("other than . and ..") }],
    });
    expect(await tenants.upsert("...")).toMatchObject({ id: "..." });
    await expect(members.put("...", id, { role: "owner" })).rejects.toMatchObject({
      code: "invalid_member",
      problems: [{ pointer: "/user" }],
    });
  },
);

test("making a tenant inactive increments its routing version and pauses its lanes, a new name does not", async () => {
  await tenants.upsert("switch");
  const { endpoint } = await endpoints.create("switch", hook);
  const before = await world.routingVersion("switch");
  await tenants.upsert("switch", { name: "New" });
  expect(await world.routingVersion("switch")).toBe(before);

  await tenants.upsert("switch", { isActive: false });
  expect(await world.routingVersion("switch")).toBe(before + 1);
  expect(await world.lane(endpoint.id)).toMatchObject({ paused: true });

  await tenants.upsert("switch", { isActive: true });
  expect(await world.lane(endpoint.id)).toMatchObject({ paused: false });
});

test("a disabled endpoint stays paused when its tenant becomes active", async () => {
  await tenants.upsert("both");
  const { endpoint } = await endpoints.create("both", { ...hook, isActive: false });
  await tenants.upsert("both", { isActive: false });
  await tenants.upsert("both", { isActive: true });
  expect(await world.lane(endpoint.id)).toMatchObject({ paused: true });
});

test("tenants are listed a page at a time, in the order of their ids", async () => {
  for (const id of ["page-1", "page-2", "page-3"]) await tenants.upsert(id);
  const ids: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await tenants.list({ limit: 2, cursor });
    ids.push(...page.data.map(({ id }) => id));
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
  }
  expect(ids).toEqual(expect.arrayContaining(["page-1", "page-2", "page-3"]));
  expect(new Set(ids).size).toBe(ids.length);
  await expect(tenants.list({ limit: 251 })).rejects.toMatchObject({ code: "invalid_query" });
});

test("a tenant with endpoints cannot be deleted, one without can", async () => {
  await tenants.upsert("full");
  const { endpoint } = await endpoints.create("full", hook);
  await expect(tenants.delete("full")).rejects.toMatchObject({
    code: "tenant_not_empty",
    status: 409,
    message: 'Tenant "full" has 1 endpoint. Delete it first.',
  });
  await endpoints.delete("full", endpoint.id);
  await tenants.delete("full");
  await expect(tenants.get("full")).rejects.toMatchObject({ code: "tenant_not_found" });
  await expect(tenants.delete("full")).rejects.toMatchObject({ code: "tenant_not_found" });
});

test("a tenant cannot be deleted while a delivery to a deleted endpoint is in flight", async () => {
  await tenants.upsert("in-flight");
  const { endpoint } = await endpoints.create("in-flight", hook);
  await world.addOwed(await world.addEvent("in-flight"), endpoint.id, { claimedBy: 1 });
  await endpoints.delete("in-flight", endpoint.id);
  await expect(tenants.delete("in-flight")).rejects.toMatchObject({ code: "tenant_not_empty" });
});

test("a restored tenant never has a routing version that it had before", async () => {
  await tenants.upsert("phoenix");
  const { endpoint } = await endpoints.create("phoenix", hook);
  await endpoints.delete("phoenix", endpoint.id);
  const before = await world.routingVersion("phoenix");
  await tenants.delete("phoenix");
  await tenants.upsert("phoenix", { restore: true });
  expect(await world.routingVersion("phoenix")).toBeGreaterThan(before);
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
