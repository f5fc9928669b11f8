// `tail` and `listen` against a real server that is stopped and started, and a local program.
import { createServer } from "node:http";
import { DEFAULT_SCHEMES, generateSecret, verify } from "@posthorn/wire";
import type { ReceivedRequest } from "posthorn/testing";
import { expect, onTestFinished, test } from "vitest";
import { queryOnce } from "../../../../../tests/support/database/own-postgres.ts";
import { eventually } from "../../../../../tests/support/eventually.ts";
import { argv, startCommand, useCommandServer } from "../../../../../tests/support/servers/run-command.ts";
import { startReceiver } from "../../../../../tests/support/servers/start-receiver.ts";
import { adminKey, startServer } from "../../../../../tests/support/servers/start-server.ts";

const { server, posthorn, makeEndpoint } = useCommandServer();

/** Starts `tail` or `listen` for a tenant, polling often. */
function start(args: readonly string[], tenant: string, url = server.url) {
  const env = { POSTHORN_URL: url, POSTHORN_API_KEY: adminKey };
  return startCommand(argv`${args} --tenant ${tenant} --every 50`, { env });
}

const publish = async (tenant: string, type: string, data: unknown): Promise<string> =>
  (await server.hooks.publish({ tenant, type, data })).id;

/** A second address of the server that can be stopped and started again. */
async function startFront() {
  const { url, stop } = await startServer({ hooks: server.hooks });
  const startAgain = () => startServer({ hooks: server.hooks, port: Number(new URL(url).port) });
  return { url, stop, startAgain };
}

/** Without its scheme, and with a query. */
const localUrl = ({ url }: { url: string }): string => `${url.replace("http://", "")}/hooks?a=1&b=2`;

const jsonLines = (text: string) =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

test("tail shows events and their deliveries, and continues after a restart of the server", async () => {
  await makeEndpoint("tailed", (await startReceiver()).url);
  await publish("tailed", "before.start", null);
  // a delivery that succeeds after the start is shown
  await eventually("it is delivered", async () => {
    const { data } = await server.hooks.deliveries.list({ tenant: "tailed", state: "success" });
    return data.length === 1;
  });
  const front = await startFront();
  const tail = start(["tail"], "tailed", front.url);
  const json = start(argv`tail --type order.paid --json`, "tailed", front.url);
  await Promise.all([tail.printed(/Following/), json.printed(/Following/)]);
  const first = await publish("tailed", "order.paid", 1);
  await tail.printed(new RegExp(`event    ${first}  tailed  order.paid`));
  await tail.printed(/delivery dlv_\S+ {2}tailed {2}order\.paid to ep_\S+: success, 1 attempt/);

  await front.stop();
  await tail.printed(/The server does not respond\. Waiting for it/);
  const id = await publish("tailed", "order.paid", 2);
  await front.startAgain();
  await tail.printed(new RegExp(id));
  await tail.printed(/The server is available again; no events were missed\./);
  await json.printed(new RegExp(id));
  expect(tail.out()).not.toContain("before.start");
  expect(tail.out().split(id)).toHaveLength(2);
  const lines = jsonLines((await json.stop()).out);
  expect(lines).toContainEqual(expect.objectContaining({ kind: "event", id, data: 2 }));
  expect(await tail.stop()).toMatchObject({ code: 0 });
});

test("tail --since begins with existing events, and shows resends and why a delivery is held", async () => {
  const { hooks } = server;
  const receiver = await startReceiver();
  const endpoint = await makeEndpoint("since", receiver.url);
  const id = await publish("since", "order.paid", 1);
  await receiver.received(1, { timeoutMs: 20_000 });
  const tail = start(argv`tail --since 10m`, "since");
  await tail.printed(new RegExp(`event    ${id}`));
  await tail.printed(/success, 1 attempt/);
  const delivery = (await hooks.events.get(id)).deliveries[0]?.id as string;
  await hooks.deliveries.retry(delivery);
  await tail.printed(new RegExp(`resent   ${delivery} {2}since {2}order.paid \\(manual\\)`));
  await hooks.endpoints.disable("since", endpoint);
  await publish("since", "order.paid", 2);
  await tail.printed(/order\.paid to ep_\S+: pending, held: the endpoint is disabled, 0 attempts/);
});

test("listen forwards signed requests of the given types byte for byte, and prints the responses", async () => {
  const local = await startReceiver();
  local.answer("/hooks", 418);
  const secret = (await posthorn`listen --print-secret`).out.trim();
  expect(secret).toMatch(/^whsec_/);
  const listen = start(argv`listen --forward-to ${localUrl(local)} --events order.* --since 1m`, "typed");
  await publish("rivals", "order.paid", 0);
  await publish("typed", "invoice.sent", 0);
  const data = '{"price":1.0,"big":12345678901234567890}';
  const event = `{"tenant":"typed","type":"order.paid","subject":"s","data":${data}}`;
  const { id } = (await server.call("POST", "/api/v1/events", event)).json;
  await listen.printed(new RegExp(`418 in \\d+ ms {2}order\\.paid {2}${id}\n`));
  expect(local.requests).toMatchObject([
    {
      url: "/hooks?a=1&b=2",
      headers: { "x-webhook-id": id, "x-webhook-event": "order.paid", "x-webhook-attempt": "1" },
    },
  ]);
  const [{ headers, body }] = local.requests as [ReceivedRequest];
  expect(body.toString()).toContain(`"data":${data}}`);
  expect(body.toString()).toMatch(new RegExp(`^{"id":"${id}","type":"order.paid"`));
  for (const scheme of DEFAULT_SCHEMES) {
    expect(await verify({ scheme, headers, body, secrets: [secret] })).toEqual({ ok: true });
    expect(await verify({ scheme, headers, body, secrets: [generateSecret()] })).toMatchObject({ ok: false });
  }
});

test("listen sends the same requests as an endpoint receives, in any scheme and format", async () => {
  const requestAs = async (secret: string, scheme: string, format: string) => {
    const local = await startReceiver();
    const manner = argv`--secret ${secret} --scheme ${scheme} --format ${format} --since 1m`;
    start(argv`listen --forward-to ${localUrl(local)} ${manner}`, "styled");
    const [request] = await local.received(1, { timeoutMs: 20_000 });
    return request as ReceivedRequest;
  };
  const id = await publish("styled", "orders.paid", { a: 1 });
  const { headers, body } = await requestAs("any text", "shopify", "data");
  expect(body.toString()).toBe('{"a":1}');
  expect(headers).toMatchObject({
    "x-shopify-topic": "orders/paid",
    "x-shopify-webhook-id": id.slice("evt_".length),
  });
  expect(headers["x-webhook-id"]).toBeUndefined();
  expect(await verify({ scheme: "shopify", headers, body, secrets: ["any text"] })).toEqual({ ok: true });
  const event = await requestAs(generateSecret(), "standard-webhooks", "cloudevents-binary");
  expect(event.headers).toMatchObject({
    "ce-id": id,
    "ce-type": "orders.paid",
    "ce-source": `${server.url}/tenants/styled`,
    "webhook-id": id,
  });
});

test("listen forwards resends, and continues after a restart of the server", async () => {
  const { hooks } = server;
  const [customer, local, front] = [await startReceiver(), await startReceiver(), await startFront()];
  await makeEndpoint("resent", customer.url);
  const listen = start(argv`listen --forward-to ${local.url} --since 1m --json`, "resent", front.url);
  const id = await publish("resent", "order.paid", 1);
  await listen.printed(new RegExp(id));
  await expect.poll(async () => (await hooks.events.get(id)).deliveries[0]?.state).toBe("success");

  await front.stop();
  await listen.printed(/The server does not respond/);
  const delivery_id = (await hooks.events.get(id)).deliveries[0]?.id as string;
  await hooks.deliveries.retry(delivery_id);
  const second = await publish("resent", "order.paid", 2);
  await front.startAgain();
  await listen.printed(/"is_resent":true/);
  await listen.printed(new RegExp(second));
  const lines = jsonLines((await listen.stop()).out);
  expect(lines).toHaveLength(3);
  const resent = { event_id: id, delivery_id, is_resent: true, status: 200, error: null };
  expect(lines).toContainEqual(expect.objectContaining(resent));
  const forwarded = local.requests.map(({ headers }) => headers["x-webhook-delivery-id"]);
  expect(forwarded).toHaveLength(3);
  expect(forwarded).toContain(delivery_id);
});

test("events wait for the local program, and one that retention deleted is skipped and reported", async () => {
  const closed = await startReceiver();
  const { port } = closed;
  await closed.close();
  const ids = [
    await publish("kept", "a.b", 1),
    await publish("kept", "a.b", 2),
    await publish("kept", "a.b", 3),
  ];
  const listen = start(argv`listen --forward-to 127.0.0.1:${port} --format data --since 1m`, "kept");
  await listen.printed(/Nothing is listening/);
  await queryOnce(server.connectionString, `delete from posthorn.events where id = '${ids[1]?.slice(4)}'`);
  const received: unknown[] = [];
  const program = createServer(async (request, response) => {
    received.push(...(await request.toArray()).map(String));
    response.end();
  });
  program.listen(port, "127.0.0.1");
  onTestFinished(() => void program.close());
  await listen.printed(new RegExp(`${ids[1]} was deleted by retention`));
  await listen.printed(new RegExp(`200 in .*${ids[2]}`));
  expect(received).toEqual(["1", "3"]);
});
