// The log lines of an event, and that they contain no secrets: every secret here is planted and searched for in
// every line of a server at the most verbose level.
import { expect, test } from "vitest";
import { createLogger } from "../../packages/server/src/logger.ts";
import { startReceiver } from "../support/servers/start-receiver.ts";
import { adminKey, startServer, type TestServer } from "../support/servers/start-server.ts";

interface Line {
  readonly level: string;
  readonly message: string;
  readonly eventId?: string;
  readonly [field: string]: unknown;
}

interface LoggedServer extends TestServer {
  readonly text: () => string;
  readonly lines: () => Line[];
  readonly receiver: Awaited<ReturnType<typeof startReceiver>>;
}

async function startLogged(posthorn = {}): Promise<LoggedServer> {
  const written: string[] = [];
  const logger = createLogger({ level: "debug", format: "json", write: (line) => written.push(line) });
  const receiver = await startReceiver();
  const server = await startServer({ logger, posthorn: { logger, ...posthorn } });
  await server.call("PUT", "/api/v1/tenants/acme", {});
  const text = () => written.join("");
  return { ...server, receiver, text, lines: () => written.map((line) => JSON.parse(line)) };
}

const publish = async (server: TestServer, data: unknown): Promise<string> =>
  (await server.call("POST", "/api/v1/events", { tenant: "acme", type: "order.paid", data })).json.id;

const makeEndpoint = (server: LoggedServer, path: string, more: object = {}) =>
  server.call("POST", "/api/v1/tenants/acme/endpoints", {
    url: server.receiver.url + path,
    events: ["*"],
    ...more,
  });

async function untilState(server: TestServer, event: string, state: string): Promise<void> {
  const states = async () =>
    (await server.call("GET", `/api/v1/events/${event}`)).json.deliveries.map(stateOf);
  await expect.poll(states).toEqual([state]);
}

const stateOf = ({ state }: { state: string }): string => state;

test("an event is logged when it is published and at each attempt, with its id", async () => {
  const server = await startLogged({ retryPolicy: "20ms" });
  await makeEndpoint(server, "/hooks");
  server.receiver.answer("/hooks", [500, 200, 400]);
  const delivered = await publish(server, 1);
  await untilState(server, delivered, "success");
  const dead = await publish(server, 2);
  await untilState(server, dead, "dead");
  const of = (id: string) =>
    server
      .lines()
      .filter(({ eventId }) => eventId === id)
      .map(({ level, message, attempt, outcome }) => ({ level, message, attempt, outcome }));
  const published = { level: "debug", message: "published" };
  expect(of(delivered)).toEqual([
    published,
    { level: "info", message: "attempt failed", attempt: 1, outcome: "http_5xx" },
    { level: "debug", message: "delivered", attempt: 2, outcome: "success" },
  ]);
  // logged after the commit, which others see earlier
  await expect
    .poll(() => of(dead))
    .toEqual([published, { level: "warn", message: "delivery is dead", attempt: 1, outcome: "http_4xx" }]);
});

test("no log line contains a secret, payload or address, whatever happens to an event", async () => {
  const planted = {
    payload: "planted-payload-3f9a",
    header: "planted-header-81bc",
    query: "planted-query-77de",
    responseBody: "planted-response-5a5a",
    idempotencyKey: "planted-idempotency-9c1d",
  };
  const server = await startLogged({ retryPolicy: "20ms", disableAfterFailures: 3 });
  const { receiver } = server;
  const made = await makeEndpoint(server, `/hooks?token=${planted.query}`, {
    headers: { "X-Token": planted.header },
  });
  const { id, secret } = made.json;
  receiver.answer("/hooks", [
    200,
    { status: 500, body: planted.responseBody },
    { status: 500, body: planted.responseBody },
    { status: 410, body: planted.responseBody },
  ]);
  const key = (await server.call("POST", "/api/v1/keys", { name: "k", scopes: ["events:publish"] })).json.key;
  const body = { tenant: "acme", type: "order.paid", data: planted.payload };
  const first = await server.call("POST", "/api/v1/events", body, {
    authorization: `Bearer ${key}`,
    "idempotency-key": planted.idempotencyKey,
  });
  await untilState(server, first.json.id, "success");
  const at = `/api/v1/tenants/acme/endpoints/${id}`;
  const rotated = (await server.call("POST", `${at}/rotate-secret`, {})).json.secret;
  await untilState(server, await publish(server, planted.payload), "dead");
  await publish(server, planted.payload);
  await expect.poll(async () => (await server.call("GET", at)).json.is_active).toBe(false);
  // rejected input is quoted in messages to the caller, but not logged
  await server.call("POST", "/api/v1/events", `{"tenant": "${planted.payload}", oops`);
  await server.call("POST", "/api/v1/events", { ...body, data: undefined, secret: planted.payload });
  await makeEndpoint(server, "/x", { url: `https://user:${planted.query}@acme.example/` });
  await server.call("GET", `/api/v1/events?tenant=${planted.query}`);
  await fetch(`${server.url}/api/v1/events`, { headers: { authorization: `Bearer ${planted.header}` } });
  await server.stop();

  const text = server.text();
  expect(text.split("\n").length).toBeGreaterThan(20);
  const secrets = { ...planted, secret, rotated, key, adminKey, url: receiver.url };
  for (const [name, value] of Object.entries(secrets)) {
    expect([name, text.includes(value)]).toEqual([name, false]);
    expect([name, text.includes(Buffer.from(value).toString("base64"))]).toEqual([name, false]);
  }
  expect(text).not.toContain(secret.slice("whsec_".length));
});
