// Notifications of a disabled endpoint through the whole engine, with a real mail server, receivers and HTTP. Retries,
// limits and timeouts of notifications are tested in packages/posthorn/src/notify.
import type { PosthornOptions } from "posthorn";
import { expect, test, vi } from "vitest";
import { createSendMail } from "../../packages/server/src/mail.ts";
import { databasePerTest } from "../support/database/database-per-test.ts";
import { eventually } from "../support/eventually.ts";
import { startMailServer } from "../support/servers/mail-server.ts";
import { startReceiver } from "../support/servers/start-receiver.ts";

type Options = Partial<Omit<PosthornOptions, "database">>;

type World = Awaited<ReturnType<typeof open>>;

const { open: openInstance } = databasePerTest();

/** The tenant `acme` in its own database, and a receiver. */
async function open(options: Options = {}) {
  const receiver = await startReceiver();
  const instance = await openInstance(options);
  return { receiver, instance, hooks: instance.hooks };
}

function mailBy(server: { readonly port: number }): Options {
  const mailServer = { host: "127.0.0.1", port: server.port, isSecure: false, user: null, password: null };
  return {
    sendMail: createSendMail(mailServer, "posthorn@example.com"),
    publicUrl: "https://hooks.example.com",
  };
}

/** Returns 410 to the next event, which disables the endpoint. */
async function addDoomed({ hooks, receiver }: World, settings: Record<string, unknown> = {}) {
  receiver.answer("/doomed", { status: 410 });
  const { endpoint } = await hooks.endpoints.create("acme", {
    url: `${receiver.url}/doomed`,
    events: ["*"],
    ...settings,
  });
  return endpoint;
}

const order = { tenant: "acme", type: "order.paid", data: {} };

/** A logger, and a wait for the warning that a notification failed, which resolves to its fields. */
function watchWarnings() {
  const nothing = () => {};
  const warn = vi.fn();
  const failure = () => warn.mock.calls.find(([text]) => /notification failed/.test(text));
  return {
    logger: { debug: nothing, info: nothing, warn, error: nothing },
    warn,
    failed: async () => {
      await eventually("a notification failed", () => failure() !== undefined);
      return failure()?.[1];
    },
  };
}

test("owners and admins get a mail when an endpoint returns 410, and text of the tenant adds no header or line", async () => {
  const mailServer = await startMailServer();
  const world = await open(mailBy(mailServer));
  const evil = "x\r\nBcc: mallory@example.com\r\n\r\nPay here\u2028now\u202e <!channel>";
  await world.hooks.tenants.upsert("acme", { name: evil });
  const { members } = world.hooks;
  await members.put("acme", "anna", { role: "owner", email: "anna@example.com" });
  await members.put("acme", "bert", { role: "admin", email: "bert@example.com" });
  await members.put("acme", "carl", { role: "member", email: "carl@example.com" });
  await members.put("acme", "dora", { role: "owner" });
  const url = `${world.receiver.url}/doomed?token=s3cret`;
  const { id } = await addDoomed(world, { description: evil, url });

  await world.hooks.publish(order);
  await mailServer.received(2);
  await world.instance.settle();

  expect(mailServer.mails.map(({ to }) => to).toSorted()).toEqual([
    ["anna@example.com"],
    ["bert@example.com"],
  ]);
  const [mail] = mailServer.mails;
  expect(mail?.from).toBe("posthorn@example.com");
  expect(mail?.header("subject")).toEqual([`Webhook endpoint disabled: 127.0.0.1:${world.receiver.port}`]);
  expect(mail?.header("auto-submitted")).toEqual(["auto-generated"]);
  expect(mail?.body).toContain("Tenant:       acme (x Bcc: mallory@example.com Pay here now <!channel>)\r\n");
  expect(mail?.body).toContain(`https://hooks.example.com/portal/endpoints/${id}\r\n`);
  expect(mail?.raw).not.toContain("s3cret");
  expect(mail?.header("bcc")).toEqual([]);
});

test("a refused address does not prevent other mails, and no recipient gets two", async () => {
  const mailServer = await startMailServer({ refused: ["anna@example.com"] });
  const { logger, failed } = watchWarnings();
  const world = await open({ ...mailBy(mailServer), logger });
  for (const user of ["anna", "bert", "carl"]) {
    await world.hooks.members.put("acme", user, { role: "admin", email: `${user}@example.com` });
  }
  await addDoomed(world);

  await world.hooks.publish(order);
  expect(await failed()).toMatchObject({ failed: 1, error: expect.stringContaining("no such mailbox") });
  expect(mailServer.mails).toHaveLength(2);

  await world.hooks.members.put("acme", "anna", { role: "admin", email: "anna@example.org" });
  await world.instance.advance(70_000);
  await world.instance.settle();
  expect(mailServer.mails.map(({ to }) => to[0]).toSorted()).toEqual([
    "anna@example.org",
    "bert@example.com",
    "carl@example.com",
  ]);
});

test("operators get one line through the alert webhook, which is repeated after a failure", async () => {
  const alerts = await startReceiver();
  alerts.answer("/services/T0/B0/s3cret", [{ status: 503 }, { status: 200 }]);
  const { logger, failed, warn } = watchWarnings();
  const world = await open({ alertWebhookUrl: `${alerts.url}/services/T0/B0/s3cret`, logger });
  const { id } = await addDoomed(world);

  await world.hooks.publish(order);
  expect(await failed()).toMatchObject({ channel: "alert", error: "returned 503" });
  await world.instance.advance(70_000);
  await world.instance.settle();
  expect(alerts.requests).toHaveLength(2);
  const [, taken] = alerts.requests;
  expect(taken?.headers["content-type"]).toBe("application/json");
  expect(JSON.parse(String(taken?.body))).toEqual({
    text: expect.stringMatching(
      new RegExp(
        `^Webhook endpoint disabled: ${world.receiver.url}/doomed of tenant acme \\(${id}\\), since .* UTC\\. Reason: It returned 410`,
      ),
    ),
  });
  expect(JSON.stringify(warn.mock.calls)).not.toContain("s3cret");
});

test("the tenant's other endpoints get the system event if they subscribed to it; the disabled one does not", async () => {
  const world = await open();
  const { hooks, receiver, instance } = world;
  const url = `${receiver.url}/doomed?token=s3cret`;
  const { id } = await addDoomed(world, { description: "Billing", url });
  await hooks.endpoints.create("acme", { url: `${receiver.url}/subscribed`, events: ["webhook.endpoint.*"] });
  await hooks.endpoints.create("acme", { url: `${receiver.url}/orders`, events: ["order.*"] });
  await hooks.publish(order);
  const [request] = await receiver.received(1, { path: "/subscribed" });
  await instance.settle();
  expect(JSON.parse(String(request?.body))).toMatchObject({
    type: "webhook.endpoint.disabled",
    tenant_id: "acme",
    subject: id,
    data: {
      endpoint_id: id,
      tenant: "acme",
      url: `${receiver.url}/doomed`,
      description: "Billing",
      reason: "gone",
      disabled_at: (await hooks.endpoints.get("acme", id)).disabledAt?.toISOString(),
    },
  });
  expect(receiver.requestsTo("/orders")).toHaveLength(1);
  const ofDisabled = (await hooks.deliveries.list({ endpoint: id })).data;
  expect(ofDisabled.map(({ eventType }) => eventType)).toEqual(["order.paid"]);
});

test("the operator tenant gets the system events of all tenants, and its own once", async () => {
  const world = await open({ operatorTenant: "operators" });
  const { hooks, receiver } = world;
  await hooks.tenants.upsert("operators");
  await hooks.endpoints.create("operators", { url: `${receiver.url}/operators`, events: ["webhook.*"] });
  const { id } = await addDoomed(world);
  await hooks.publish(order);
  const [request] = await receiver.received(1, { path: "/operators" });
  expect(JSON.parse(String(request?.body))).toMatchObject({
    tenant_id: "operators",
    data: { endpoint_id: id, tenant: "acme" },
  });

  receiver.answer("/theirs", { status: 410 });
  await hooks.endpoints.create("operators", { url: `${receiver.url}/theirs`, events: ["order.*"] });
  await hooks.publish({ ...order, tenant: "operators" });
  await receiver.received(2, { path: "/operators" });
  await world.instance.settle();
  expect(
    (await hooks.events.list({ type: "webhook.endpoint.disabled", tenant: "operators" })).data,
  ).toHaveLength(2);
});

test("an endpoint that is disabled manually causes no notification", async () => {
  const mailServer = await startMailServer();
  const { hooks, instance, receiver } = await open(mailBy(mailServer));
  await hooks.members.put("acme", "anna", { role: "owner", email: "anna@example.com" });
  const { endpoint } = await hooks.endpoints.create("acme", { url: receiver.url, events: ["*"] });
  expect(await hooks.endpoints.disable("acme", endpoint.id)).toMatchObject({
    isActive: false,
    disabledReason: "manual",
    disabledAt: expect.any(Date),
  });
  await instance.settle();
  expect(mailServer.mails).toHaveLength(0);
  expect((await hooks.events.list({ type: "webhook.endpoint.disabled" })).data).toHaveLength(0);
});
