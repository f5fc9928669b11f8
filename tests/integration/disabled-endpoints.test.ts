// What people, receivers and operators get to know when an endpoint is disabled: through the whole engine, with a real
// mail server, real receivers and real HTTP.
import { verify } from "@posthorn/wire";
import type { PosthornOptions } from "posthorn";
import { expect, onTestFinished, test } from "vitest";
import {
  createTestInstance,
  type ScriptedReceiver,
  startScriptedReceiver,
  type TestInstance,
} from "../../packages/posthorn/src/testing/index.ts";
import { createSendMail } from "../../packages/server/src/mail.ts";
import { type MailServer, startMailServer } from "../support/mail-server.ts";
import { createMigratedDatabase } from "../support/postgres.ts";

type Options = Partial<Omit<PosthornOptions, "database">>;

interface World {
  readonly connectionString: string;
  readonly receiver: ScriptedReceiver;
  readonly instance: TestInstance;
  readonly hooks: TestInstance["hooks"];
}

/** A tenant `acme` on a database of its own, and receivers to send to. */
async function open(options: Options = {}): Promise<World> {
  const database = await createMigratedDatabase();
  const receiver = await startScriptedReceiver();
  const instance = await createTestInstance({ database: database.connectionString, ...options });
  onTestFinished(async () => {
    await instance.hooks.stop({ graceMs: 100 });
    await receiver.close();
    await database.drop();
  });
  await instance.hooks.tenants.upsert("acme", { name: "Acme" });
  return { connectionString: database.connectionString, receiver, instance, hooks: instance.hooks };
}

function mailBy(server: Pick<MailServer, "port">): Options {
  const mailServer = {
    host: "127.0.0.1",
    port: server.port,
    isSecure: false,
    user: null,
    password: null,
  };
  return { sendMail: createSendMail(mailServer, "posthorn@example.com") };
}

/** Answers 410 to the next event, which disables it. */
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

/** Tells of each log line of this level. */
function watchLog(level: "warn" | "error") {
  const lines: { message: string; fields: Record<string, unknown> }[] = [];
  const waiting: { message: RegExp; resolve: (fields: Record<string, unknown>) => void }[] = [];
  const nothing = () => {};
  return {
    lines,
    logger: {
      debug: nothing,
      info: nothing,
      warn: nothing,
      error: nothing,
      [level]: (message: string, fields: Record<string, unknown> = {}) => {
        lines.push({ message, fields });
        for (const { resolve, message: wanted } of waiting) if (wanted.test(message)) resolve(fields);
      },
    },
    next: (message: RegExp) =>
      new Promise<Record<string, unknown>>((resolve) => waiting.push({ message, resolve })),
  };
}

test("owners and admins get a mail each when an endpoint answers 410, and members do not", async () => {
  const mailServer = await startMailServer();
  const world = await open({ ...mailBy(mailServer), publicUrl: "https://hooks.example.com" });
  const { members } = world.hooks;
  await members.put("acme", "anna", { role: "owner", email: "anna@example.com" });
  await members.put("acme", "bert", { role: "admin", email: "bert@example.com" });
  await members.put("acme", "carl", { role: "member", email: "carl@example.com" });
  await members.put("acme", "dora", { role: "owner" });
  const { id } = await addDoomed(world, { url: `${world.receiver.url}/doomed?token=s3cret` });

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
  for (const part of [
    `Endpoint:    ${world.receiver.url}/doomed\r\n`,
    `Id:          ${id}`,
    "Tenant:      acme (Acme)",
    "Reason:      It returned 410 Gone",
    "Last error:  it returned 410 Gone",
    "Backlog:     0 deliveries",
    "https://hooks.example.com",
  ]) {
    expect(mail?.body).toContain(part);
  }
  expect(mail?.raw).not.toContain("s3cret");
});

test("mail that finds no server is sent once there is one", async () => {
  const closed = await startMailServer();
  await closed.close();
  const log = watchLog("warn");
  const world = await open({ ...mailBy(closed), logger: log.logger });
  await world.hooks.members.put("acme", "anna", { role: "owner", email: "anna@example.com" });
  await addDoomed(world);

  const failed = log.next(/notification of a disabled endpoint failed/);
  await world.hooks.publish(order);
  expect(await failed).toMatchObject({ channel: "mail", attempts: 1 });

  const mailServer = await startMailServer({ port: closed.port });
  await world.instance.advance(30_000);
  await world.instance.settle();
  expect(mailServer.mails).toHaveLength(0);
  await world.instance.advance(40_000);
  await world.instance.settle();
  expect(mailServer.mails.map(({ to }) => to)).toEqual([["anna@example.com"]]);
  await world.instance.advance(86_400_000);
  await world.instance.settle();
  expect(mailServer.mails).toHaveLength(1);
});

test("an address that is refused costs nobody else their mail, and nobody gets it twice", async () => {
  const mailServer = await startMailServer({ refused: ["anna@example.com"] });
  const log = watchLog("warn");
  const world = await open({ ...mailBy(mailServer), logger: log.logger });
  for (const user of ["anna", "bert", "carl"]) {
    await world.hooks.members.put("acme", user, { role: "admin", email: `${user}@example.com` });
  }
  await addDoomed(world);

  const failed = log.next(/notification of a disabled endpoint failed/);
  await world.hooks.publish(order);
  expect(await failed).toMatchObject({ failed: 1, error: expect.stringContaining("no such mailbox") });
  expect(mailServer.mails).toHaveLength(2);

  // who was wrong is put right, and is the only one who gets it now
  await world.hooks.members.put("acme", "anna", { role: "admin", email: "anna@example.org" });
  await world.instance.advance(70_000);
  await world.instance.settle();
  expect(mailServer.mails.map(({ to }) => to[0]).toSorted()).toEqual([
    "anna@example.org",
    "bert@example.com",
    "carl@example.com",
  ]);
});

test("a tenant's own text makes no header, no line of its own and no call to everybody", async () => {
  const mailServer = await startMailServer();
  const alerts = await startScriptedReceiver();
  onTestFinished(() => alerts.close());
  const world = await open({ ...mailBy(mailServer), alertWebhookUrl: `${alerts.url}/alerts` });
  const evil = "x\r\nBcc: mallory@example.com\r\n\r\nPay here\u2028now\u202e <!channel>";
  await world.hooks.tenants.upsert("acme", { name: evil });
  await world.hooks.members.put("acme", "anna", { role: "owner", email: "anna@example.com" });
  await addDoomed(world, { description: evil, url: `${world.receiver.url}/doomed#%0d%0aBcc:x` });

  await world.hooks.publish(order);
  const [mail] = await mailServer.received(1);
  expect(mail?.to).toEqual(["anna@example.com"]);
  expect(mail?.header("bcc")).toEqual([]);
  expect(mail?.header("to")).toEqual(["anna@example.com"]);
  expect(mail?.body).toContain("Description: x Bcc: mallory@example.com Pay here now <!channel>\r\n");
  const [alert] = await alerts.received(1);
  const { text } = JSON.parse(String(alert?.body)) as { text: string };
  expect(text).not.toMatch(/[<>\r\n]/);
});

test("operators get a line by their alert webhook, again after it failed", async () => {
  const alerts = await startScriptedReceiver();
  onTestFinished(() => alerts.close());
  alerts.answer("/services/T0/B0/s3cret", [{ status: 503 }, { status: 200 }]);
  const log = watchLog("warn");
  const world = await open({ alertWebhookUrl: `${alerts.url}/services/T0/B0/s3cret`, logger: log.logger });
  const { id } = await addDoomed(world);

  const failed = log.next(/notification of a disabled endpoint failed/);
  await world.hooks.publish(order);
  expect(await failed).toMatchObject({ channel: "alert", error: "answered 503" });
  await world.instance.advance(70_000);
  await world.instance.settle();
  expect(alerts.requests).toHaveLength(2);
  const [, taken] = alerts.requests;
  expect(taken?.headers["content-type"]).toBe("application/json");
  expect(JSON.parse(String(taken?.body))).toEqual({
    text: expect.stringMatching(
      new RegExp(
        `^Webhook endpoint disabled: ${world.receiver.url}/doomed of tenant acme \\(${id}\\), since .* UTC\\. It returned 410`,
      ),
    ),
  });
  expect(JSON.stringify(log.lines)).not.toContain("s3cret");
});

test("an alert webhook on an address that is not allowed is refused at the start, without quoting it", async () => {
  for (const alertWebhookUrl of ["http://127.0.0.1:9000/s3cret", "https://10.0.0.1/s3cret", "s3cret"]) {
    await expect(
      createTestInstance({
        database: "postgres://nowhere",
        allowCidrs: [],
        allowHttp: true,
        alertWebhookUrl,
      }),
    ).rejects.toMatchObject({
      code: "invalid_config",
      message: expect.stringMatching(/^alertWebhookUrl: (?!.*s3cret)/),
    });
  }
});

test("the tenant's other endpoints get the system event signed, if they asked for it; the disabled one never does", async () => {
  const world = await open();
  const { hooks, receiver, instance } = world;
  const { id } = await addDoomed(world, {
    description: "Billing",
    url: `${receiver.url}/doomed?token=s3cret`,
  });
  const secrets = new Map<string, string>();
  for (const [path, events] of [
    ["/exact", ["webhook.endpoint.disabled"]],
    ["/below", ["webhook.*"]],
    ["/deeper", ["webhook.endpoint.*"]],
    ["/orders", ["order.*"]],
  ] as const) {
    const { secret } = await hooks.endpoints.create("acme", { url: receiver.url + path, events });
    secrets.set(path, secret);
  }

  await hooks.publish(order);
  await Promise.all(["/exact", "/below", "/deeper"].map((path) => receiver.received(1, { path })));
  await instance.settle();

  for (const path of ["/exact", "/below", "/deeper"]) {
    const [request] = receiver.requestsTo(path);
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
    const headers = request?.headers as Record<string, string>;
    const body = request?.body as Buffer;
    const answer = await verify({ scheme: "t-v1", headers, body, secrets: [secrets.get(path) as string] });
    expect(answer).toEqual({ ok: true });
  }
  expect(receiver.requestsTo("/orders")).toHaveLength(1);
  expect((await hooks.deliveries.list({ endpoint: id })).data.map(({ eventType }) => eventType)).toEqual([
    "order.paid",
  ]);
});

test("operators get the system events of all tenants in their own, and once where it is theirs", async () => {
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

test("who disables an endpoint by hand needs not be told", async () => {
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

test("a mail server that hangs delays no delivery, no alert and no stop", async () => {
  const mailServer = await startMailServer({ hangs: true });
  const alerts = await startScriptedReceiver();
  onTestFinished(() => alerts.close());
  const world = await open({ ...mailBy(mailServer), alertWebhookUrl: alerts.url });
  const { hooks, receiver } = world;
  await hooks.members.put("acme", "anna", { role: "owner", email: "anna@example.com" });
  await addDoomed(world);
  await hooks.endpoints.create("acme", { url: `${receiver.url}/fine`, events: ["order.*"] });
  await hooks.publish(order);
  await alerts.received(1);
  for (let i = 0; i < 20; i += 1) await hooks.publish(order);
  await receiver.received(21, { path: "/fine" });

  await hooks.stop({ graceMs: 200 });
});
