// `tail`, `listen` and `replay start` against a real server that comes and goes, and a real program on this machine.
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { DEFAULT_SCHEMES, generateSecret, verify } from "@posthorn/wire";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { runCommand, startCommand } from "../../../../../tests/support/run-command.ts";
import { adminKey, startServer, type TestServer } from "../../../../../tests/support/start-server.ts";
import { createServer as createPosthornServer } from "../../server.ts";

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** The program that somebody works on: it takes requests, and can be stopped and started again on its port. */
async function program(status = 200) {
  const received: Received[] = [];
  let http: Server;
  let port = 0;
  const start = async (): Promise<void> => {
    http = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        received.push({ headers: request.headers, body: Buffer.concat(chunks) });
        response.writeHead(status).end();
      });
    });
    await new Promise<void>((resolve) => http.listen(port, "127.0.0.1", resolve));
    port = (http.address() as AddressInfo).port;
  };
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      http.close(() => resolve());
      http.closeAllConnections();
    });
  await start();
  onTestFinished(stop);
  return { received, start, stop, url: `127.0.0.1:${port}/hooks?a=1&b=2` };
}

const envOf = ({ url }: { url: string }) => ({ POSTHORN_URL: url, POSTHORN_API_KEY: adminKey });
const FAST = ["--every", "50"];

/** On the address of one that was stopped. */
async function startAgain({ hooks, url }: TestServer): Promise<void> {
  const again = createPosthornServer({ hooks, port: Number(new URL(url).port), adminKey });
  await again.start();
  onTestFinished(() => again.stop({ graceMs: 0 }));
}

/** A server whose HTTP side can be stopped without its database. */
async function stoppable() {
  const server = await startServer();
  const front = createPosthornServer({ hooks: server.hooks, port: 0, adminKey });
  const { url } = await front.start();
  onTestFinished(() => front.stop({ graceMs: 0 }));
  return { ...server, url, stopFront: () => front.stop({ graceMs: 0 }) };
}

test("tail shows events and their deliveries, and continues after a restart of the server", async () => {
  const server = await stoppable();
  const { hooks } = server;
  await hooks.tenants.upsert("acme", {});
  const { url } = await program();
  await hooks.endpoints.create("acme", { url: `http://${url}`, events: ["*"] });
  await hooks.publish({ tenant: "acme", type: "before.start", data: null });
  const tail = startCommand(["tail", "--tenant", "acme", ...FAST], { env: envOf(server) });
  const json = startCommand(["tail", "--type", "order.paid", "--json", ...FAST], { env: envOf(server) });
  await Promise.all([tail.said(/Following/), json.said(/Following/)]);
  const { id: first } = await hooks.publish({ tenant: "acme", type: "order.paid", data: 1 });
  await tail.said(new RegExp(`event    ${first}  acme  order.paid`));
  await tail.said(/delivery dlv_\S+ {2}acme {2}order\.paid to ep_\S+: success, 1 attempt/);

  await server.stopFront();
  await tail.said(/The server does not respond\. Waiting for it/);
  const { id } = await hooks.publish({ tenant: "acme", type: "order.paid", data: 2 });
  await startAgain(server);
  await tail.said(new RegExp(id));
  await tail.said(/The server is available again; no events were missed\./);
  await json.said(new RegExp(id));
  expect(tail.out()).not.toContain("before.start");
  expect(tail.out().split(id)).toHaveLength(2);
  const lines = (await json.stop()).out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines).toContainEqual(expect.objectContaining({ kind: "event", id, data: 2 }));
  expect(await tail.stop()).toMatchObject({ code: 0 });
});

test("tail shows why a delivery is held", async () => {
  const server = await stoppable();
  const { hooks } = server;
  await hooks.tenants.upsert("acme", {});
  const { endpoint } = await hooks.endpoints.create("acme", {
    url: "https://hooks.example/in",
    events: ["*"],
  });
  await hooks.endpoints.disable("acme", endpoint.id);
  const tail = startCommand(["tail", "--tenant", "acme", ...FAST], { env: envOf(server) });
  await tail.said(/Following/);
  await hooks.publish({ tenant: "acme", type: "order.paid", data: 1 });
  await tail.said(
    /delivery dlv_\S+ {2}acme {2}order\.paid to ep_\S+: pending, held: the endpoint is disabled, 0 attempts/,
  );
  await tail.stop();
});

test("tail --since begins with existing events and resends", async () => {
  const server = await startServer();
  const { hooks } = server;
  await hooks.tenants.upsert("acme", {});
  const { url, received } = await program();
  await hooks.endpoints.create("acme", { url: `http://${url}`, events: ["*"] });
  const { id } = await hooks.publish({ tenant: "acme", type: "order.paid", data: 1 });
  await expect.poll(() => received.length).toBe(1);
  const tail = startCommand(["tail", "--since", "10m", ...FAST], { env: envOf(server) });
  await tail.said(new RegExp(`event    ${id}`));
  await tail.said(/success, 1 attempt/);
  const [delivery] = (await hooks.events.get(id)).deliveries;
  await hooks.deliveries.retry(delivery?.id as string);
  await tail.said(new RegExp(`resent   ${delivery?.id} {2}acme {2}order.paid \\(manual\\)`));
});

test("a dead delivery is shown with the time it became dead", async () => {
  const server = await startServer();
  const { hooks } = server;
  await hooks.tenants.upsert("acme", {});
  const { url } = await program(400);
  await hooks.endpoints.create("acme", { url: `http://${url}`, events: ["*"] });
  const { id } = await hooks.publish({ tenant: "acme", type: "order.paid", data: 1 });
  const find = async () => (await hooks.events.get(id)).deliveries[0];
  await expect.poll(async () => (await find())?.state).toBe("dead");
  const client = new pg.Client(server.connectionString);
  await client.connect();
  await client.query("update posthorn.deliveries set finished_at = finished_at + interval '7 minutes'");
  await client.end();
  const delivery = await find();
  const died = delivery?.deadAt?.toISOString() as string;
  const tail = startCommand(["tail", "--since", "10m", ...FAST], { env: envOf(server) });
  await tail.said(
    new RegExp(`${died.slice(11)} {2}delivery ${delivery?.id} .*: dead \\(rejected\\), 1 attempt`),
  );
  const shown = await runCommand(["deliveries", "get", delivery?.id as string], { env: envOf(server) });
  expect(shown.out).toMatch(new RegExp(`^dead since +${died.replace("T", " ")}$`, "m"));
});

test("listen forwards signed requests of the given types byte for byte, and prints the responses", async () => {
  const server = await startServer();
  const { hooks } = server;
  const local = await program(418);
  const env = envOf(server);
  const { out } = await runCommand(["listen", "--print-secret"], { env });
  const secret = out.trim();
  expect(secret).toMatch(/^whsec_/);
  const listen = startCommand(
    [
      "listen",
      "--forward-to",
      local.url,
      "--tenant",
      "acme",
      "--events",
      "order.*",
      "--since",
      "1m",
      ...FAST,
    ],
    { env },
  );
  await hooks.publish({ tenant: "rivals", type: "order.paid", data: 0 });
  await hooks.publish({ tenant: "acme", type: "invoice.sent", data: 0 });
  const data = '{"price":1.0,"big":12345678901234567890}';
  const body = `{"tenant":"acme","type":"order.paid","subject":"s","data":${data}}`;
  const { id } = (await server.call("POST", "/api/v1/events", body)).json;
  await listen.said(new RegExp(`418 in \\d+ ms {2}order\\.paid {2}${id}\n`));
  expect(local.received).toHaveLength(1);
  const [request] = local.received as [Received];
  expect(request.body.toString()).toContain(`"data":${data}}`);
  expect(request.body.toString()).toMatch(new RegExp(`^{"id":"${id}","type":"order.paid"`));
  expect(request.headers).toMatchObject({
    "x-webhook-id": id,
    "x-webhook-event": "order.paid",
    "x-webhook-attempt": "1",
  });
  for (const scheme of DEFAULT_SCHEMES) {
    const input = { scheme, headers: request.headers, body: request.body };
    expect(await verify({ ...input, secrets: [secret] })).toEqual({ ok: true });
    expect(await verify({ ...input, secrets: [generateSecret()] })).toMatchObject({ ok: false });
  }
});

test("listen sends the same requests as an endpoint receives, in any scheme and format", async () => {
  const server = await startServer();
  const local = await program();
  const as = async (secret: string, scheme: string, format: string) => {
    const manner = ["--secret", secret, "--scheme", scheme, "--format", format];
    const target = ["listen", "--forward-to", local.url, "--since", "1m"];
    const before = local.received.length;
    const listen = startCommand([...target, ...manner, ...FAST], { env: envOf(server) });
    await expect.poll(() => local.received.length, { timeout: 20_000 }).toBe(before + 1);
    await listen.stop();
    return local.received[before] as Received;
  };
  const { id } = await server.hooks.publish({ tenant: "acme", type: "orders.paid", data: { a: 1 } });
  const shopify = await as("any text", "shopify", "data");
  expect(shopify.body.toString()).toBe('{"a":1}');
  expect(shopify.headers).toMatchObject({
    "x-shopify-topic": "orders/paid",
    "x-shopify-webhook-id": id.slice("evt_".length),
  });
  expect(shopify.headers["x-webhook-id"]).toBeUndefined();
  const { headers, body } = shopify;
  expect(await verify({ scheme: "shopify", headers, body, secrets: ["any text"] })).toEqual({ ok: true });
  const event = await as(generateSecret(), "standard-webhooks", "cloudevents-binary");
  expect(event.headers).toMatchObject({
    "ce-id": id,
    "ce-type": "orders.paid",
    "ce-source": `${server.url}/tenants/acme`,
    "webhook-id": id,
  });
});

test("listen forwards resends, and continues after a restart of the server", async () => {
  const server = await stoppable();
  const { hooks } = server;
  await hooks.tenants.upsert("acme", {});
  const [customer, local] = [await program(), await program()];
  await hooks.endpoints.create("acme", { url: `http://${customer.url}`, events: ["*"] });
  const listen = startCommand(
    ["listen", "--forward-to", `http://${local.url}`, "--since", "1m", "--json", ...FAST],
    {
      env: envOf(server),
    },
  );
  const { id } = await hooks.publish({ tenant: "acme", type: "order.paid", data: 1 });
  await listen.said(new RegExp(id));
  await expect.poll(async () => (await hooks.events.get(id)).deliveries[0]?.state).toBe("success");

  await server.stopFront();
  await listen.said(/The server does not respond/);
  const delivery = (await hooks.events.get(id)).deliveries[0]?.id as string;
  await hooks.deliveries.retry(delivery);
  const { id: second } = await hooks.publish({ tenant: "acme", type: "order.paid", data: 2 });
  await startAgain(server);
  await listen.said(/"is_resent":true/);
  await listen.said(new RegExp(second));
  const lines = (await listen.stop()).out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines).toHaveLength(3);
  expect(lines).toContainEqual(
    expect.objectContaining({
      event_id: id,
      delivery_id: delivery,
      is_resent: true,
      status: 200,
      error: null,
    }),
  );
  expect(local.received).toHaveLength(3);
  expect(local.received.map(({ headers }) => headers["x-webhook-delivery-id"])).toContain(delivery);
});

test("events wait while the program is down, and are then forwarded in order", async () => {
  const server = await startServer();
  const { hooks } = server;
  const local = await program();
  await local.stop();
  const listen = startCommand(
    ["listen", "--forward-to", local.url, "--format", "data", "--since", "1m", ...FAST],
    {
      env: envOf(server),
    },
  );
  for (const data of [1, 2, 3]) await hooks.publish({ tenant: "acme", type: "order.paid", data });
  await listen.said(/Nothing listens at http:\/\/127\S+\. Events wait until your program is up\./);
  await local.start();
  await expect.poll(() => local.received.length, { timeout: 20_000 }).toBe(3);
  expect(local.received.map(({ body }) => body.toString())).toEqual(["1", "2", "3"]);
});

test("listen forwards only events published after it has started", async () => {
  const server = await startServer();
  const local = await program();
  await server.hooks.publish({ tenant: "acme", type: "order.before", data: 1 });
  const listen = startCommand(["listen", "--forward-to", local.url, ...FAST], { env: envOf(server) });
  await listen.said(/Forwarding \* to http:\/\/127\S+, signed with the secret shown by --print-secret/);
  const { id } = await server.hooks.publish({ tenant: "acme", type: "order.after", data: 1 });
  await listen.said(new RegExp(id));
  expect(local.received.map(({ headers }) => headers["x-webhook-id"])).toEqual([id]);
});

test("an event that retention deleted is skipped and reported", async () => {
  const server = await startServer({ started: false });
  await server.hooks.start({ role: "api" });
  const local = await program();
  await local.stop();
  const publish = (data: number) => server.hooks.publish({ tenant: "acme", type: "order.paid", data });
  const events = [await publish(1), await publish(2), await publish(3)];
  const args = ["listen", "--forward-to", local.url, "--format", "data", "--since", "1m", ...FAST];
  const listen = startCommand(args, { env: envOf(server) });
  await listen.said(/Nothing listens/);
  const client = new pg.Client(server.connectionString);
  await client.connect();
  onTestFinished(() => client.end());
  await client.query("delete from posthorn.events where id = $1", [events[1]?.id.slice(4)]);
  await local.start();
  await listen.said(new RegExp(`${events[1]?.id} was deleted by retention`));
  await listen.said(new RegExp(`200 in .*${events[2]?.id}`));
  expect(local.received.map(({ body }) => body.toString())).toEqual(["1", "3"]);
});

test("a revoked key ends listen with the error of the server", async () => {
  const server = await startServer({ started: false });
  await server.hooks.start({ role: "api" });
  const key = await server.call("POST", "/api/v1/keys", { name: "x", scopes: ["deliveries:read"] });
  const env = { POSTHORN_URL: server.url, POSTHORN_API_KEY: key.json.key };
  const listen = startCommand(["listen", "--forward-to", "127.0.0.1:1", ...FAST], { env });
  await listen.said(/Forwarding/);
  await server.call("DELETE", `/api/v1/keys/${key.json.id}`);
  expect(await listen.exited).toMatchObject({ code: 3 });
});

test.each([
  ["no program", ["listen"], 2, "--forward-to is required"],
  ["a program at no URL", ["listen", "--forward-to", "http://"], 2, "--forward-to must be a URL"],
  [
    "a scheme that is none",
    ["listen", "--forward-to", "x", "--scheme", "rot13"],
    2,
    'no signature scheme "rot13"',
  ],
  ["half a secret", ["listen", "--forward-to", "x", "--secret", "whsec_abc"], 2, "is incomplete"],
  ["a wrong key", ["listen", "--forward-to", "x", "--key", "phk_wrong"], 3, "key"],
  ["a wrong key", ["tail", "--key", "phk_wrong"], 3, "key"],
  ["no server", ["tail", "--url", "http://127.0.0.1:1"], 4, "cannot be reached"],
  ["a pause that is too short", ["tail", "--every", "1"], 2, "--every must be a whole number from 50"],
])("with %s %j ends at once", async (_what, args, code, says) => {
  const server = await startServer({ started: false });
  const result = await runCommand(args, { env: envOf(server) });
  expect([result.code, result.out]).toEqual([code, ""]);
  expect(result.err).toContain(says);
});

test("replay start waits for an unavailable server, and prints the result of the replay", async () => {
  const server = await stoppable();
  const { hooks } = server;
  await hooks.tenants.upsert("acme", {});
  const { url, received } = await program();
  await hooks.endpoints.create("acme", { url: `http://${url}`, events: ["*"] });
  for (let n = 0; n < 4; n += 1) await hooks.publish({ tenant: "acme", type: "order.paid", data: n });
  await expect.poll(() => received.length, { timeout: 10_000 }).toBe(4);
  const states = ["--states", "success", "--rate", "1", "--yes"];
  const replay = startCommand(["replay", "start", "--tenant", "acme", ...states], { env: envOf(server) });
  // the second comes a second after the first, when the command has heard that it was started
  await expect.poll(() => received.length, { timeout: 10_000 }).toBe(6);
  await server.stopFront();
  await replay.said(/The server does not respond\. Waiting for it/);
  await startAgain(server);
  const { code, out } = await replay.exited;
  expect(out).toMatch(/rpl_\S+ is finished: 4 of 4 sent again/);
  expect(code).toBe(0);
});
