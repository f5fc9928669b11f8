// Events for a user: one in each of the user's active tenants, all or none.
import { expect, test } from "vitest";
import { databasePerTest, receiverPerFile } from "../../../../tests/support/database/database-per-test.ts";
import type { TestInstance } from "../testing/index.ts";
import { MAX_TENANTS_OF_USER } from "./user-event.ts";

const receiver = await receiverPerFile();
const world = databasePerTest();

const invited = { user: "anna", type: "user.invited", data: { by: "bob" } };

/** Anna is a member of acme and beta, and of one that is inactive; not of other. */
async function openWithUser(): Promise<TestInstance> {
  const instance = await world.open();
  const { tenants, members, endpoints } = instance.hooks;
  for (const tenant of ["beta", "idle", "other"]) await tenants.upsert(tenant, {});
  for (const tenant of ["acme", "beta", "idle"]) await members.put(tenant, "anna", { role: "member" });
  for (const tenant of ["acme", "beta", "idle", "other"]) {
    await endpoints.create(tenant, { url: `${receiver.url}/${tenant}`, events: ["*"] });
  }
  await tenants.upsert("idle", { isActive: false });
  return instance;
}

async function tenantsReached({ hooks }: TestInstance): Promise<string[]> {
  return (await hooks.events.list()).data.map(({ tenant }) => tenant).toSorted();
}

test("creates one event for each active tenant of the user, if there is one, and for no other", async () => {
  const instance = await openWithUser();
  const { user, events } = await instance.hooks.publish(invited);
  expect([user, events.map(({ tenant }) => tenant)]).toEqual(["anna", ["acme", "beta"]]);
  expect(new Set(events.map(({ id }) => id)).size).toBe(2);
  await instance.settle();
  const [acme] = receiver.requestsTo("/acme");
  expect(JSON.parse(String(acme?.body))).toMatchObject({ tenant_id: "acme", data: { by: "bob" } });
  expect(receiver.requestsTo("/beta")).toHaveLength(1);
  expect(receiver.requestsTo("/idle")).toHaveLength(0);
  expect(receiver.requestsTo("/other")).toHaveLength(0);
  const none = await instance.hooks.publish({ ...invited, user: "nobody" });
  expect(none).toEqual({ user: "nobody", events: [] });
});

test("is part of the caller's transaction, for all tenants together", async () => {
  const instance = await openWithUser();
  const tx = await world.pool.connect();
  for (const [end, reached] of [
    ["rollback", []],
    ["commit", ["acme", "beta"]],
  ] as const) {
    await tx.query("begin");
    await instance.hooks.publish(invited, { tx });
    await tx.query(end);
    expect(await tenantsReached(instance)).toEqual(reached);
  }
  tx.release();
});

test("an idempotency key applies per tenant: a tenant added later still gets its event", async () => {
  const instance = await openWithUser();
  const keyed = { ...invited, idempotencyKey: "k", subject: "anna" };
  const first = await instance.hooks.publish(keyed);
  await instance.hooks.members.put("other", "anna", { role: "admin" });
  const second = await instance.hooks.publish(keyed);
  expect(second.events.map(({ tenant, duplicate, sequence }) => [tenant, duplicate, sequence])).toEqual([
    ["acme", true, 1],
    ["beta", true, 1],
    ["other", false, 1],
  ]);
  expect(second.events[0]?.id).toBe(first.events[0]?.id);
  expect(await tenantsReached(instance)).toEqual(["acme", "beta", "other"]);
  await expect(instance.hooks.publish({ ...keyed, data: 2 })).rejects.toMatchObject({
    code: "idempotency_conflict",
  });
});

test("if one tenant rejects the event, none gets it", async () => {
  const instance = await openWithUser();
  await instance.hooks.publish({ tenant: "beta", type: "user.invited", data: 1, idempotencyKey: "k" });
  await expect(instance.hooks.publish({ ...invited, idempotencyKey: "k" })).rejects.toMatchObject({
    code: "idempotency_conflict",
  });
  expect(await tenantsReached(instance)).toEqual(["beta"]);
});

test("the catalogue is checked, and problems have pointers", async () => {
  const instance = await openWithUser();
  await instance.hooks.eventTypes.put("user.invited", { schema: { required: ["by", "role"] } });
  for (const [input, pointer] of [
    [invited, "/data/role"],
    [{ ...invited, user: "a b" }, "/user"],
    [{ ...invited, tenant: "acme" } as never, "/user"],
  ] as const)
    await expect(instance.hooks.publish(input)).rejects.toMatchObject({ problems: [{ pointer }] });
  expect(await tenantsReached(instance)).toEqual([]);
});

test("a user may be a member of at most the maximum of tenants", async () => {
  const instance = await world.open({ started: false });
  const fill = (from: number, to: number) =>
    world.pool.query(
      `with made as (
         insert into posthorn.tenants (id) select 'tenant-' || n from generate_series($1::int, $2::int) n returning id
       )
       insert into posthorn.members (tenant, user_id, role) select id, 'anna', 'member' from made`,
      [from, to],
    );
  await fill(1, MAX_TENANTS_OF_USER);
  expect((await instance.hooks.publish(invited)).events).toHaveLength(MAX_TENANTS_OF_USER);
  await fill(MAX_TENANTS_OF_USER + 1, MAX_TENANTS_OF_USER + 1);
  await expect(instance.hooks.publish(invited)).rejects.toMatchObject({
    code: "invalid_event",
    problems: [{ pointer: "/user" }],
  });
});
