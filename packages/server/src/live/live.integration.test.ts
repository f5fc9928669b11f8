// Live streams of changes, over real HTTP.
import { once } from "node:events";
import { IncomingMessage, ServerResponse } from "node:http";
import { connect, Socket } from "node:net";
import type { Posthorn } from "posthorn";
import { expect, onTestFinished, test, vi } from "vitest";
import { listen } from "../../../../tests/support/servers/http.ts";
import { adminKey, sharedServer, startServer } from "../../../../tests/support/servers/start-server.ts";
import { createHandler } from "../api/handler.ts";
import { ADMIN, type Principal } from "../api/principal.ts";
import { LIVE_LIMITS, LiveFeed, pollIntervalMs } from "./live-feed.ts";

const server = sharedServer();

async function openStream(url: string, headers: Record<string, string>) {
  const controller = new AbortController();
  onTestFinished(() => controller.abort());
  const response = await fetch(url, { headers, signal: controller.signal });
  const reader = (response.body as NonNullable<Response["body"]>)
    .pipeThrough(new TextDecoderStream())
    .getReader();
  let text = "";
  return {
    status: response.status,
    /** Reads until the text matches the pattern or the stream ends. Returns everything that was read. */
    async read(pattern: RegExp): Promise<string> {
      while (!pattern.test(text)) {
        const { done, value = "" } = await reader.read().catch(() => ({ done: true, value: undefined }));
        if (done) break;
        text += value;
      }
      return text;
    },
  };
}

/** Matches nothing, so that a stream is read to its end. */
const END = /(?!)/;
const asAdmin = { authorization: `Bearer ${adminKey}` };

/** A tenant with an endpoint, and the headers of a key that can read its deliveries. */
async function newTenant() {
  const { tenant } = await server.newEndpoint({ url: "http://127.0.0.1:65533/", events: ["order.*"] });
  const key = await server.keyHeaders(["deliveries:read"], tenant);
  const publish = async (type: string): Promise<{ id: string }> =>
    (await server.call("POST", "/api/v1/events", { tenant, type, data: { secret: "hush" } })).json;
  return { tenant, key, publish };
}

/** The statuses of two streams that are open at the same time, and then closed. */
async function statusOfTwo(url: string, headers: Record<string, string>): Promise<readonly number[]> {
  const controller = new AbortController();
  const { signal } = controller;
  const answers = await Promise.all([fetch(url, { headers, signal }), fetch(url, { headers, signal })]);
  controller.abort();
  return answers.map(({ status }) => status);
}

/** Its polls fail, as if the database were unavailable. */
const unavailable = {} as Posthorn;

/** Opens streams without a client, which end with the test, and returns spies of what they write. */
function open(feed: LiveFeed, count: number, principalOf: (index: number) => Principal) {
  return Array.from({ length: count }, (_, index) => {
    const socket = new Socket();
    const response = new ServerResponse(new IncomingMessage(socket));
    onTestFinished(() => void socket.destroy());
    void feed.open({ response, principal: principalOf(index), since: null, reauthorize: async () => {} });
    return vi.spyOn(response, "write");
  });
}

test("a stream has new deliveries, and events without one, of its tenant only and without payloads", async () => {
  const [acme, other] = [await newTenant(), await newTenant()];
  const all = await openStream(`${server.url}/live`, asAdmin);
  const own = await openStream(`${server.url}/live`, acme.key);
  const others = await openStream(`${server.url}/live`, other.key);
  await acme.publish("order.paid");
  const unwanted = await acme.publish("invoice.paid");
  expect(await all.read(/order\.paid/)).toContain(`"tenant":"${acme.tenant}"`);
  await own.read(/order\.paid/);
  const text = await own.read(/invoice\.paid/);
  const messages = [...text.matchAll(/^event: changes\ndata: (.*)$/gm)].map(([, data]) =>
    JSON.parse(data ?? ""),
  );
  const events = messages.flatMap((message) => message.events);
  expect(events.map(({ id, type }) => [id, type])).toEqual([[unwanted.id, "invoice.paid"]]);
  expect(text).not.toContain("hush");
  await other.publish("order.other");
  expect(await others.read(/order\.other/)).not.toContain(acme.tenant);
});

test("a stream has a change that happens between its opening and the next poll", async () => {
  const { tenant, publish } = await newTenant();
  await publish("order.paid");
  const [published] = (await server.hooks.deliveries.list({ tenant })).data;
  let state = "pending";
  const list = async () => ({ data: [{ ...published, createdAt: new Date(0), state }], nextCursor: null });
  const stub = { events: { newest: async () => [] }, deliveries: { list } } as unknown as Posthorn;
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const [write] = open(new LiveFeed(stub, () => false), 1, () => ADMIN);
  await vi.advanceTimersByTimeAsync(500);
  state = "in_flight";
  await vi.advanceTimersByTimeAsync(1_000);
  expect(write).toHaveBeenLastCalledWith(expect.stringContaining('"state":"in_flight"'));
});

test("a client that reconnects gets what it missed, or a notice that changes are missing", async () => {
  const { key, publish } = await newTenant();
  const before = Date.now();
  await publish("order.missed");
  const stream = await openStream(`${server.url}/live`, { ...key, "last-event-id": String(before) });
  expect(await stream.read(/order\.missed/)).toContain("order.missed");
  const early = { ...key, "last-event-id": String(before - 600_000) };
  const late = await openStream(`${server.url}/live`, early);
  expect(await late.read(/"is_partial":true/)).toContain("is_partial");
});

test("a key without deliveries:read gets no stream", async () => {
  const stream = await openStream(`${server.url}/live`, await server.keyHeaders(["events:publish"]));
  expect(stream.status).toBe(403);
});

test("a key has a limited number of streams, and those of a connection end with it", async () => {
  const { key } = await newTenant();
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  const request = `GET /live HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: ${key.authorization}\r\n\r\n`;
  socket.write(request.repeat(LIVE_LIMITS.perSessionOrKey));
  await once(socket, "data");
  // the server has read all requests once it refuses another
  await expect.poll(() => statusOfTwo(`${server.url}/live`, key)).toEqual([429, 429]);
  socket.destroy();
  await expect.poll(() => statusOfTwo(`${server.url}/live`, key)).toEqual([200, 200]);
});

test("the streams of each session are limited separately, and those of a tenant together", () => {
  const feed = new LiveFeed(unavailable, () => false);
  const ofSession = (id: string): Principal => ({ ...ADMIN, session: { id, expiresAt: new Date() } });
  open(feed, LIVE_LIMITS.perSessionOrKey, () => ofSession("first"));
  expect(() => feed.checkLimits(ofSession("first"))).toThrow("The limits of open streams are 20 per session");
  expect(() => feed.checkLimits(ofSession("second"))).not.toThrow();

  const of = (tenant: string | null, id: string): Principal => ({ ...ADMIN, kind: "portal", tenant, id });
  open(feed, LIVE_LIMITS.perTenant - 1, (index) => of("acme", `link-${index}`));
  expect(() => feed.checkLimits(of("acme", "last"))).not.toThrow();
  open(feed, 1, () => of("acme", "last"));
  expect(() => feed.checkLimits(of("acme", "one more"))).toThrow("100 per tenant");
  expect(() => feed.checkLimits(of("other", "theirs"))).not.toThrow();
});

test("up to fifty tenants are polled every second, and more of them less often", () => {
  expect([pollIntervalMs(1), pollIntervalMs(50), pollIntervalMs(51), pollIntervalMs(500)]).toEqual([
    1_000, 1_000, 1_020, 10_000,
  ]);
});

test("a stopping server opens no streams, and ends those that are open", async () => {
  const url = await listen(createHandler(server.hooks, { adminKey, isDraining: () => true }));
  const answer = await fetch(`${url}/live`, { headers: asAdmin });
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "2"]);

  const stopping = await startServer();
  const stream = await openStream(`${stopping.url}/live`, asAdmin);
  await Promise.all([stopping.stop(), stream.read(END)]);
});

test("a stream ends when its client loses the permission", async () => {
  const feed = new LiveFeed(server.hooks, () => false, 50);
  let isAllowed = true;
  const reauthorize = async () => {
    if (!isAllowed) throw new Error("revoked");
  };
  const url = await listen((_request, response) => {
    response.writeHead(200);
    void feed.open({ response, principal: ADMIN, since: null, reauthorize });
  });
  const stream = await openStream(url, {});
  await stream.read(/event: heartbeat.*event: heartbeat/s);
  isAllowed = false;
  await stream.read(END);
});
