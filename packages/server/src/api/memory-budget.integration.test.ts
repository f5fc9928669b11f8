// What a client that does not read its answers, or does not send its bodies, can take from the others, by real connections.
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { isQuick } from "../../../../tests/support/matrix.ts";
import { startServer, type TestServer } from "../../../../tests/support/start-server.ts";
import { MAX_RESPONSE_BYTES_PER_CALLER } from "./handler.ts";
import { OPERATORS_ONLY } from "./principal.ts";
import { Sink } from "./sink.ts";

const path = "/api/v1/events?limit=250";

async function tenantWithLargeEvents(server: TestServer, tenant: string): Promise<Record<string, string>> {
  await server.call("PUT", `/api/v1/tenants/${tenant}`);
  const event = { tenant, type: "order.paid", data: "x".repeat(250 * 1024) };
  for (let n = 0; n < 20; n += 1) await server.call("POST", "/api/v1/events", event);
  const key = { name: "reader", tenant, scopes: ["deliveries:read", "payloads:read"] };
  const { json } = await server.call("POST", "/api/v1/keys", key);
  return { authorization: `Bearer ${json.key}` };
}

test("who leaves large answers unread is refused more of them, others are not, and it ends with the connection", async () => {
  const sink = { sink: new Sink(), readers: OPERATORS_ONLY };
  const server = await startServer({ started: false, sink });
  const greedy = await tenantWithLargeEvents(server, "greedy");
  const other = await tenantWithLargeEvents(server, "other");
  const page = await server.call("GET", path, undefined, greedy);
  expect(page.text.length).toBeLessThan(4.5 * 1024 * 1024);

  // They wait behind the first answer, which takes its time: no buffer of the system takes them away.
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1").on("error", () => {});
  onTestFinished(() => void socket.destroy());
  const fitting = Math.floor(MAX_RESPONSE_BYTES_PER_CALLER / page.text.length);
  socket.write("GET /sink/slow?delay_ms=60000 HTTP/1.1\r\nHost: x\r\n\r\n");
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${greedy.authorization}\r\n\r\n`.repeat(fitting + 5),
  );

  const ask = (headers: Record<string, string>) => server.call("GET", path, undefined, headers);
  await expect.poll(async () => (await ask(greedy)).status, { timeout: 20_000 }).toBe(503);
  const refused = await ask(greedy);
  expect([refused.json.code, refused.headers.get("retry-after")]).toEqual(["overloaded", "2"]);
  expect((await ask(other)).status).toBe(200);
  // what is small has its way all the same
  expect((await server.call("GET", "/api/v1/tenants/greedy/endpoints", undefined, greedy)).status).not.toBe(
    503,
  );

  socket.destroy();
  await expect.poll(async () => (await ask(greedy)).status, { timeout: 20_000 }).toBe(200);
});

test.skipIf(isQuick)("all together may leave so much unread, and not more", async () => {
  const sink = { sink: new Sink(), readers: OPERATORS_ONLY };
  const server = await startServer({ started: false, sink });
  const tenants = await Promise.all(
    ["one", "two", "three"].map((tenant) => tenantWithLargeEvents(server, tenant)),
  );
  const [first, second, third] = tenants as [object, object, object] as Record<string, string>[];
  for (const headers of [first, second]) {
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1").on("error", () => {});
    onTestFinished(() => void socket.destroy());
    socket.write("GET /sink/slow?delay_ms=60000 HTTP/1.1\r\nHost: x\r\n\r\n");
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${headers?.authorization}\r\n\r\n`.repeat(20),
    );
  }
  const status = async () => (await server.call("GET", path, undefined, third)).status;
  await expect.poll(status, { timeout: 20_000 }).toBe(503);
});

test("what was carried out is answered even where there is no room for a larger answer", async () => {
  const sink = { sink: new Sink(), readers: OPERATORS_ONLY };
  const server = await startServer({ started: false, sink });
  const { authorization } = await tenantWithLargeEvents(server, "greedy");
  const small = { tenant: "greedy", type: "order.paid", data: "x".repeat(17 * 1024) };
  const published = await server.call("POST", "/api/v1/events", small);
  const ofOne = `/api/v1/events/${published.json.id}`;

  const socket = connect(Number(new URL(server.url).port), "127.0.0.1").on("error", () => {});
  onTestFinished(() => void socket.destroy());
  const ask = (asked: string) =>
    `GET ${asked} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n`;
  socket.write("GET /sink/slow?delay_ms=60000 HTTP/1.1\r\nHost: x\r\n\r\n");
  socket.write(ask(path).repeat(20));
  const status = async () =>
    (await server.call("GET", ofOne, undefined, { authorization: `${authorization}` })).status;
  // the pages leave less than a page; these fill it up
  await expect
    .poll(
      async () => {
        socket.write(ask(ofOne).repeat(20));
        return await status();
      },
      { timeout: 30_000, interval: 100 },
    )
    .toBe(503);

  const key = { name: "publisher", tenant: "greedy", scopes: ["events:publish"] };
  const { json } = await server.call("POST", "/api/v1/keys", key);
  const events = Array(500).fill({ tenant: "greedy", type: "order.paid", data: 1 });
  const batch = await server.call("POST", "/api/v1/events", events, { authorization: `Bearer ${json.key}` });
  expect([batch.status, batch.json.length]).toEqual([202, 500]);
  expect(await status()).toBe(503);
});

test("who sends large bodies drop by drop is refused more of them, and others are not", async () => {
  const server = await startServer({ started: false });
  const keyOf = async (tenant: string): Promise<string> => {
    await server.call("PUT", `/api/v1/tenants/${tenant}`);
    const key = { name: "publisher", tenant, scopes: ["events:publish"] };
    return `Bearer ${(await server.call("POST", "/api/v1/keys", key)).json.key}`;
  };
  const slow = await keyOf("slow");
  const other = await keyOf("other");
  const head = `POST /api/v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: ${slow}\r\nContent-Type: application/json\r\nContent-Length: ${16 * 1024 * 1024}\r\n\r\n[`;
  const sendSlowly = (): void => {
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1").on("error", () => {});
    onTestFinished(() => void socket.destroy());
    socket.write(head);
  };
  const publish = async (authorization: string) =>
    (await server.call("POST", "/api/v1/events", `[${" ".repeat(300 * 1024)}]`, { authorization })).status;
  const publishBesideOneMore = async () => {
    sendSlowly();
    return await publish(slow);
  };
  await expect.poll(publishBesideOneMore, { timeout: 20_000 }).toBe(503);
  // read, and empty
  expect(await publish(other)).toBe(422);
});
