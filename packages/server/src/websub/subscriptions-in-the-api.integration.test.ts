// Subscriptions in the API, limits, the audit log and other tenants, and a disabled hub.
import { createPosthorn } from "posthorn";
import { expect, onTestFinished, test } from "vitest";
import { startServer } from "../../../../tests/support/servers/start-server.ts";
import { openWorld, publicUrl, topicOf, topicUrl } from "../../../../tests/support/servers/websub.ts";

const world = openWorld({ maxEndpointsPerTenant: 1 });

async function subscription(name: string) {
  await world.asked(name);
  const { data } = await world.hooks.endpoints.list("acme", { limit: 250 });
  const found = data.find(({ websub }) => websub?.topic === topicOf(name));
  if (found === undefined) throw new Error(`There is no subscription to ${name}.`);
  return found;
}

test("a subscription is an endpoint that can be read and deleted, and changed only by its subscriber", async () => {
  const { id } = await subscription("fixed");
  const { endpoints } = world.hooks;
  expect((await endpoints.get("acme", id)).websub).toEqual({
    topic: topicOf("fixed"),
    leaseExpiresAt: expect.any(Date),
  });
  const isRefused = expect.objectContaining({ code: "endpoint_is_subscription" });
  await expect(endpoints.update("acme", id, { url: "https://example.com/" })).rejects.toEqual(isRefused);
  await expect(endpoints.disable("acme", id)).rejects.toEqual(isRefused);
  await expect(endpoints.rotateSecret("acme", id)).rejects.toEqual(isRefused);
  await expect(endpoints.test("acme", id)).rejects.toEqual(isRefused);
  const shown = await endpoints.get("acme", id);
  const imported = await endpoints.import("acme", { endpoints: [{ ...shown }] });
  expect(imported.endpoints.map(({ action }) => action)).toEqual(["unchanged"]);
  await endpoints.delete("acme", id);
  await expect(endpoints.get("acme", id)).rejects.toMatchObject({ code: "endpoint_not_found" });
});

test("subscriptions are counted in metrics and not in the endpoint limit, and can be listed separately", async () => {
  await subscription("counted_1");
  await subscription("counted_2");
  await world.hooks.endpoints.create("acme", { url: `${world.subscriber.url}/own`, events: ["own"] });
  await expect(
    world.hooks.endpoints.create("acme", { url: `${world.subscriber.url}/two`, events: ["own"] }),
  ).rejects.toMatchObject({ code: "endpoint_limit_reached" });
  const { data } = await world.hooks.endpoints.listAll({ tenant: "acme", state: "websub" });
  const topics = data.map(({ websub }) => websub?.topic);
  expect(topics).toEqual(expect.arrayContaining([topicOf("counted_1"), topicOf("counted_2")]));
  expect(topics).not.toContain(undefined);
  const text = await world.hooks.metrics();
  expect(text).toMatch(/^webhook_websub_subscriptions [1-9]/m);
  expect(text).toMatch(/^webhook_websub_requests_total\{mode="subscribe",result="verified"\} [1-9]/m);
});

test("a replay to current subscriptions sends no earlier events to subscribers", async () => {
  const { tenants, endpoints, replays } = world.hooks;
  await tenants.upsert("past", { websubTopics: ["order.paid"] });
  await world.hooks.publish({ tenant: "past", type: "order.paid", data: 1 });
  await world.asked("late", { "hub.topic": topicUrl("past", "order.paid") });
  await endpoints.create("past", { url: `${world.subscriber.url}/late_own`, events: ["*"] });
  expect(await replays.preview({ tenant: "past", resubscribe: true })).toEqual({ count: 1, isExact: true });
});

test("deleting a tenant ends its subscriptions and notifies the subscribers", async () => {
  const { tenants, endpoints } = world.hooks;
  await tenants.upsert("leaving", { websubTopics: ["*"] });
  const topic = topicUrl("leaving", "order.paid");
  for (const name of ["leaving_1", "leaving_2"]) await world.asked(name, { "hub.topic": topic });
  const { endpoint } = await endpoints.create("leaving", {
    url: `${world.subscriber.url}/own`,
    events: ["*"],
  });
  await expect(tenants.delete("leaving")).rejects.toMatchObject({
    code: "tenant_not_empty",
    message: 'Tenant "leaving" has 1 endpoint. Delete it first.',
  });
  expect((await endpoints.list("leaving")).data).toHaveLength(3);
  await endpoints.delete("leaving", endpoint.id);
  await tenants.delete("leaving");
  await expect(tenants.get("leaving")).rejects.toMatchObject({ code: "tenant_not_found" });
  await world.settle();
  for (const name of ["leaving_1", "leaving_2"]) expect(world.modes(name)).toEqual(["subscribe", "denied"]);
});

test("the tenant of external topics can be neither changed nor used", async () => {
  const { tenants, endpoints, keys, members, sessions } = world.hooks;
  const tenant = "posthorn.websub";
  await world.query("insert into posthorn.tenants (id) values ($1) on conflict do nothing", [tenant]);
  const message = expect.stringContaining("reserved for Posthorn");
  const isRefused = { code: "tenant_not_found", message };
  await expect(tenants.upsert(tenant)).rejects.toMatchObject({ code: "invalid_tenant", message });
  await expect(tenants.delete(tenant)).rejects.toMatchObject(isRefused);
  const all = { url: `${world.subscriber.url}/all`, events: ["*"] };
  await expect(endpoints.create(tenant, all)).rejects.toMatchObject(isRefused);
  await expect(endpoints.import(tenant, { endpoints: [all] })).rejects.toMatchObject(isRefused);
  await expect(keys.create({ name: "k", scopes: ["admin"], tenant })).rejects.toMatchObject(isRefused);
  await expect(members.put(tenant, "u", { role: "admin" })).rejects.toMatchObject(isRefused);
  await expect(sessions.createPortalLink(tenant)).rejects.toMatchObject(isRefused);
  await expect(world.hooks.publish({ tenant, type: "order.paid", data: 1 })).rejects.toMatchObject({
    code: "invalid_event",
    problems: [{ pointer: "/tenant", message }],
  });
});

test("an event lists only subscriptions to its own topic as not matched", async () => {
  await subscription("page_a");
  await subscription("page_b");
  await world.advance(864_000_000);
  const { id } = await world.hooks.publish({ tenant: "acme", type: "page_a", data: 1 });
  const { notMatched } = await world.hooks.events.get(id);
  const reasons = notMatched.map(({ reason }) => reason).filter((reason) => reason === "lease_expired");
  expect(reasons).toHaveLength(1);
});

test("making topics public is audited, and at most 100 can be public", async () => {
  const server = await startServer({ posthorn: { websub: {}, publicUrl } });
  await server.call("PUT", "/api/v1/tenants/t1", {});
  const opened = await server.call("PUT", "/api/v1/tenants/t1", { websub_topics: ["order.*"] });
  expect(opened.json.websub_topics).toEqual(["order.*"]);
  const most = (count: number) => ({
    websub_topics: Array.from({ length: count }, (_, index) => `t${index}`),
  });
  expect((await server.call("PUT", "/api/v1/tenants/t1", most(100))).status).toBe(200);
  expect((await server.call("PUT", "/api/v1/tenants/t1", most(101))).status).toBe(422);
  const log = await server.call("GET", "/api/v1/audit-log?tenant=t1");
  expect(JSON.stringify(log.json.data)).toContain('"websub_topics":["order.*"]');
});

test("a disabled hub accepts, serves and distributes nothing", async () => {
  const server = await startServer();
  await server.hooks.tenants.upsert("acme", { websubTopics: ["*"] });
  const answers = [
    await server.visit("POST", "/websub", "hub.mode=publish&hub.url=https://example.com/", {
      "content-type": "application/x-www-form-urlencoded",
    }),
    await server.visit("GET", "/websub"),
    await server.visit("GET", "/websub/topics/acme/order.paid"),
    await server.call("POST", "/websub/content?topic=https://example.com/", "x"),
  ];
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
  expect(answers.map(({ headers }) => headers.get("content-type"))).toEqual(
    Array.from({ length: 4 }, () => "text/plain; charset=utf-8"),
  );
});

test("subscriptions get nothing while the hub is disabled", async () => {
  await subscription("switched");
  const off = createPosthorn({ database: world.connectionString, encryptionKeys: `k:${"A".repeat(43)}=` });
  onTestFinished(() => off.stop());
  await off.start({ role: "api" });
  await off.publish({ tenant: "acme", type: "switched", data: 1 });
  const { data } = await off.deliveries.list({ tenant: "acme", type: "switched" });
  expect(data).toEqual([]);
  expect(await world.published("switched")).toHaveLength(1);
});

test("a hub without a public URL does not start", () => {
  expect(() => createPosthorn({ database: "postgres://x", websub: {} })).toThrow(/publicUrl/);
  const wrong = { database: "postgres://x", publicUrl, websub: { leases: 5 } as never };
  expect(() => createPosthorn(wrong)).toThrow(/websub has no option/);
});
