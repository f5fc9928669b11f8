// Reports of dead letters and circuits through the whole engine, with a real mail server and receivers.
import type { PosthornOptions } from "posthorn";
import { expect, test } from "vitest";
import { createSendMail } from "../../packages/server/src/mail.ts";
import { databasePerTest } from "../support/database/database-per-test.ts";
import { startMailServer } from "../support/servers/mail-server.ts";
import { startReceiver } from "../support/servers/start-receiver.ts";

type Options = Partial<Omit<PosthornOptions, "database">>;

const world = databasePerTest({ notifyDeadLetters: true, notifyCircuits: true });
const minute = 60_000;

/** The tenant `acme` with the owner anna, an endpoint `/orders` and one for system events. */
async function open(options: Options = {}) {
  const mailServer = await startMailServer();
  const receiver = await startReceiver();
  const smtp = { host: "127.0.0.1", port: mailServer.port, isSecure: false, user: null, password: null };
  const instance = await world.open({
    sendMail: createSendMail(smtp, "posthorn@example.com"),
    publicUrl: "https://hooks.example.com",
    retryPolicy: "1s",
    ...options,
  });
  const { hooks } = instance;
  await hooks.members.put("acme", "anna", { role: "owner", email: "anna@example.com" });
  const add = async (path: string, events: readonly string[], tenant = "acme") =>
    (await hooks.endpoints.create(tenant, { url: `${receiver.url}${path}?token=s3cret`, events })).endpoint;
  return {
    ...instance,
    mailServer,
    receiver,
    add,
    orders: await add("/orders", ["order.*"]),
    publish: (tenant = "acme") => hooks.publish({ tenant, type: "order.paid", data: {} }),
    bodiesOf: (path: string) =>
      receiver.requestsTo(path).map(({ body }) => JSON.parse(String(body)) as Record<string, never>),
  };
}

test("a dead letter is reported to the tenant's other endpoints and to the operators, once", async () => {
  const { hooks, add, publish, receiver, settle, orders, bodiesOf } = await open({
    operatorTenant: "operators",
  });
  await hooks.tenants.upsert("operators");
  await add("/reports", ["webhook.*"]);
  await add("/operators", ["webhook.delivery.dead"], "operators");
  receiver.answer("/orders", { status: 400 });
  const event = await publish();
  await settle();
  await settle();
  const [delivery] = (await hooks.deliveries.list({ endpoint: orders.id })).data;
  const data = {
    delivery_id: delivery?.id,
    event_id: event.id,
    event_type: "order.paid",
    endpoint_id: orders.id,
    tenant: "acme",
    url: `${receiver.url}/orders`,
    description: null,
    reason: "rejected",
    dead_at: expect.any(String),
  };
  expect(bodiesOf("/reports")).toMatchObject([
    { type: "webhook.delivery.dead", tenant_id: "acme", subject: orders.id, sequence: 1, data },
  ]);
  expect(bodiesOf("/operators")).toMatchObject([{ tenant_id: "operators", data }]);
  expect(await world.countRows("incidents")).toEqual([0]);
});

test("a dead system event, a dead test and a discarded backlog are not reported", async () => {
  const { hooks, add, publish, receiver, settle, orders } = await open();
  const reports = await add("/reports", ["*"]);
  const others = await add("/others", ["*"]);
  for (const path of ["/orders", "/reports", "/others"]) receiver.answer(path, { status: 400 });
  await hooks.endpoints.test("acme", orders.id);
  await settle();
  expect((await hooks.events.list({ type: "webhook.delivery.dead" })).data).toEqual([]);

  await publish();
  await settle();
  // one report per dead delivery of the order, none of the reports that died themselves
  const dead = await hooks.events.list({ type: "webhook.delivery.dead" });
  expect(dead.data.map(({ subject }) => subject).toSorted()).toEqual(
    [orders.id, reports.id, others.id].toSorted(),
  );
  expect((await hooks.deliveries.list({ type: "webhook.delivery.dead", state: "dead" })).data).toHaveLength(
    4,
  );

  await hooks.endpoints.disable("acme", orders.id);
  await publish();
  await hooks.endpoints.enable("acme", orders.id, { backlog: "discard" });
  await settle();
  expect((await hooks.deliveries.list({ endpoint: orders.id, reason: "discarded" })).data).toHaveLength(1);
  const last = (await hooks.events.list({ type: "webhook.delivery.dead" })).data;
  expect(last.filter(({ subject }) => subject === orders.id)).toHaveLength(1);
});

test("many dead letters are one mail that counts them, and the next comes an hour later", async () => {
  const { hooks, publish, receiver, settle, advance, mailServer, orders } = await open();
  receiver.answer("/orders", { status: 404 });
  for (let n = 0; n < 4; n += 1) await publish();
  await settle();
  await advance(4 * minute);
  await publish();
  await settle();
  expect(mailServer.mails).toHaveLength(0);
  await advance(2 * minute);
  await settle();
  expect(mailServer.mails).toHaveLength(1);
  const [mail] = mailServer.mails;
  expect(mail?.to).toEqual(["anna@example.com"]);
  expect(mail?.header("subject")).toEqual([
    `5 webhook deliveries failed: 127.0.0.1:${receiver.url.split(":").at(-1)}`,
  ]);
  expect(mail?.body).toContain("Last error:   it returned 404 Not Found\r\n");
  expect(mail?.body).toContain(`https://hooks.example.com/portal/logs?state=dead&endpoint=${orders.id}\r\n`);
  expect(mail?.raw).not.toContain("s3cret");

  await publish();
  await settle();
  await advance(30 * minute);
  await publish();
  await settle();
  expect(mailServer.mails).toHaveLength(1);
  await advance(31 * minute);
  await settle();
  expect(mailServer.mails.map((sent) => sent.header("subject")[0])).toEqual([
    expect.stringMatching(/^5 webhook deliveries failed/),
    expect.stringMatching(/^2 webhook deliveries failed/),
  ]);
  // no subscriber: no event
  expect((await hooks.events.list({ type: "webhook.delivery.dead" })).data).toEqual([]);
});

test("a circuit is reported when it opens and recovers, and by mail if it stays open", async () => {
  const { add, publish, receiver, settle, advance, mailServer, orders, bodiesOf } = await open({
    circuitFailures: 2,
    circuitPauseMs: 1_000,
    retryPolicy: "1h,1h,1h",
  });
  await add("/reports", ["webhook.endpoint.*"]);
  const fail = async () => {
    receiver.answer("/orders", { status: 500 });
    await publish();
    await publish();
    await settle();
  };
  await fail();
  expect(bodiesOf("/reports")).toMatchObject([
    {
      type: "webhook.endpoint.circuit_opened",
      data: { endpoint_id: orders.id, url: `${receiver.url}/orders`, last_error: "HTTP 500" },
    },
  ]);
  receiver.answer("/orders", { status: 200 });
  await advance(3 * minute);
  for (let n = 0; n < 6; n += 1) await publish();
  await settle();
  expect(bodiesOf("/reports").map(({ type }) => type)).toEqual([
    "webhook.endpoint.circuit_opened",
    "webhook.endpoint.recovered",
  ]);
  await advance(10 * minute);
  await settle();
  expect(mailServer.mails).toHaveLength(0);

  await fail();
  await advance(5 * minute);
  await settle();
  const [mail] = await mailServer.received(1);
  expect(mail?.header("subject")).toEqual([expect.stringMatching(/^Webhook endpoint is failing: 127/)]);
  expect(mail?.body).toContain(`https://hooks.example.com/portal/endpoints/${orders.id}\r\n`);
});

test("both can be turned off", async () => {
  const { hooks, add, publish, receiver, settle, advance, mailServer } = await open({
    notifyDeadLetters: false,
    notifyCircuits: false,
    circuitFailures: 1,
    retryPolicy: "1s",
  });
  await add("/reports", ["*"]);
  receiver.answer("/orders", { status: 400 });
  await publish();
  await settle();
  await advance(10 * minute);
  await settle();
  expect((await hooks.events.list({ tenant: "acme" })).data.map(({ type }) => type)).toEqual(["order.paid"]);
  expect(mailServer.mails).toHaveLength(0);
});

test("what happened before a crash is reported by the next process, once", async () => {
  const { hooks, add, publish, receiver, settle } = await open();
  await add("/reports", ["webhook.*"]);
  receiver.answer("/orders", { status: 400 });
  await publish();
  await settle();
  expect(receiver.requestsTo("/reports")).toHaveLength(1);
  await hooks.stop({ graceMs: 0 });
  // as if the process had died between the settlement and the report
  await world.pool.query(
    `insert into posthorn.incidents (kind, endpoint_id, delivery_id, event_id, reason)
     select 'dead', endpoint_id, id, event_id, dead_reason from posthorn.deliveries where state = 'dead'`,
  );
  const next = await Promise.all([world.open(), world.open()]);
  await Promise.all(next.map((instance) => instance.settle()));
  await Promise.all(next.map((instance) => instance.settle()));
  expect(receiver.requestsTo("/reports")).toHaveLength(2);
});
