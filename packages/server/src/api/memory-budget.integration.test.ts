// Clients that do not read their responses or do not send their bodies cannot use up the memory of other callers.
import { connect, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { isQuick } from "../../../../tests/support/matrix.ts";
import { startServer, type TestServer } from "../../../../tests/support/servers/start-server.ts";
import { MAX_RESPONSE_BYTES_PER_CALLER } from "./handler.ts";
import { OPERATORS_ONLY } from "./principal.ts";
import { Sink } from "./sink.ts";

const start = () => startServer({ started: false, sink: { sink: new Sink(), readers: OPERATORS_ONLY } });
const page = "/api/v1/events?limit=250";
const OUT_OF_MEMORY = "Too many large responses are in progress.";

function openConnection({ url }: TestServer): Socket {
  const socket = connect(Number(new URL(url).port), "127.0.0.1").on("error", () => {});
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** A tenant with pages of 4 MB, and a connection whose responses wait unread behind a first, slow one. */
async function greedyTenant(server: TestServer) {
  const tenant = await server.newTenant();
  const event = { tenant, type: "order.paid", data: "x".repeat(250 * 1024) };
  for (let n = 0; n < 20; n += 1) await server.call("POST", "/api/v1/events", event);
  const headers = await server.keyHeaders(["deliveries:read", "payloads:read"], tenant);
  const socket = openConnection(server);
  const get = (path: string) => server.call("GET", path, undefined, headers);
  const refusalOf = async (path: string) => String((await get(path)).json.detail);
  const leaveUnread = (path: string, times: number) => {
    if (socket.bytesWritten === 0) socket.write("GET /sink/slow?delay_ms=60000 HTTP/1.1\r\nHost: x\r\n\r\n");
    const request = `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${headers.authorization}\r\n\r\n`;
    socket.write(request.repeat(times));
  };
  return {
    tenant,
    socket,
    get,
    refusalOf,
    leaveUnread,
    /**
     * Leaves another response unread, because on a busy machine an earlier read may have waited too long for its turn. Such a
     * read is refused for another reason, and holds no memory.
     */
    oneMore: async (path: string) => {
      leaveUnread(path, 1);
      return await refusalOf(path);
    },
  };
}

test("a caller with large unread responses gets no more until its connection ends; other callers do", async () => {
  const server = await start();
  const [greedy, other] = [await greedyTenant(server), await greedyTenant(server)];
  const { text } = await greedy.get(page);
  expect(text.length).toBeLessThan(4.5 * 1024 * 1024);
  greedy.leaveUnread(page, Math.floor(MAX_RESPONSE_BYTES_PER_CALLER / text.length) + 5);
  await expect.poll(() => greedy.oneMore(page)).toContain(OUT_OF_MEMORY);
  const refused = await greedy.get(page);
  expect([refused.status, refused.json.code, refused.headers.get("retry-after")]).toEqual([
    503,
    "overloaded",
    "2",
  ]);
  await expect.poll(async () => (await other.get(page)).status).toBe(200);
  expect(await greedy.refusalOf(page)).toContain(OUT_OF_MEMORY);
  // small responses are not counted
  expect((await greedy.get(`/api/v1/tenants/${greedy.tenant}/endpoints`)).status).toBe(200);
  greedy.socket.destroy();
  await expect.poll(async () => (await greedy.get(page)).status).toBe(200);
});

test.skipIf(isQuick)("the unread responses of all callers together are limited", async () => {
  const server = await start();
  const [first, second] = [await greedyTenant(server), await greedyTenant(server)];
  const third = await greedyTenant(server);
  for (const { leaveUnread } of [first, second]) leaveUnread(page, 20);
  await expect
    .poll(async () => {
      await Promise.all([first.oneMore(page), second.oneMore(page)]);
      return await third.refusalOf(page);
    })
    .toContain(OUT_OF_MEMORY);
});

test("a completed change gets its response even if the caller's memory budget is used up", async () => {
  const server = await start();
  const { tenant, leaveUnread, oneMore } = await greedyTenant(server);
  const event = { tenant, type: "order.paid", data: "x".repeat(17 * 1024) };
  const { json } = await server.call("POST", "/api/v1/events", event);
  const single = `/api/v1/events/${json.id}`;
  leaveUnread(page, 20);
  await expect.poll(() => oneMore(page)).toContain(OUT_OF_MEMORY);
  // the pages leave less memory than a page; these use it up
  const twentyMore = async () => {
    leaveUnread(single, 19);
    return await oneMore(single);
  };
  await expect.poll(twentyMore, { timeout: 30_000, interval: 100 }).toContain(OUT_OF_MEMORY);
  const publisher = await server.keyHeaders(["events:publish"], tenant);
  const batch = await server.call(
    "POST",
    "/api/v1/events",
    Array(500).fill({ ...event, data: 1 }),
    publisher,
  );
  expect([batch.status, batch.json.length]).toEqual([202, 500]);
  expect(await twentyMore()).toContain(OUT_OF_MEMORY);
});

test("a caller that sends large bodies slowly cannot send more of them; small bodies and other callers are accepted", async () => {
  const server = await start();
  const tenant = await server.newTenant();
  const slow = await server.keyHeaders(["events:publish"], tenant);
  const other = await server.keyHeaders(["events:publish"], await server.newTenant());
  const head = `POST /api/v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: ${slow.authorization}\r\nContent-Type: application/json\r\nContent-Length: ${16 * 1024 * 1024}\r\n\r\n[`;
  const publish = async (headers: Record<string, string>) =>
    (await server.call("POST", "/api/v1/events", `[${" ".repeat(300 * 1024)}]`, headers)).status;
  const publishBesideOneMore = async () => {
    openConnection(server).write(head);
    return await publish(slow);
  };
  await expect.poll(publishBesideOneMore).toBe(503);
  // read, and empty
  expect(await publish(other)).toBe(422);
  const small = await server.call("POST", "/api/v1/events", { tenant, type: "order.paid", data: 1 }, slow);
  expect(small.status).toBe(202);
});
