// What pages see as it happens, over real HTTP.
import { once } from "node:events";
import { createServer, IncomingMessage, ServerResponse } from "node:http";
import { type AddressInfo, connect, Socket } from "node:net";
import type { Posthorn } from "posthorn";
import { expect, onTestFinished, test } from "vitest";
import { adminKey, startServer, type TestServer } from "../../../../tests/support/start-server.ts";
import { createHandler } from "../api/handler.ts";
import { ADMIN, type Principal } from "../api/principal.ts";
import { LIVE_LIMITS, LiveFeed, pollIntervalMs } from "./live-feed.ts";

interface Stream {
  readonly status: number;
  /** Resolves with all that was said, when that fits the pattern or the stream is over. */
  said(pattern: RegExp): Promise<string>;
  readonly ended: Promise<void>;
}

async function openStream(url: string, headers: Record<string, string>): Promise<Stream> {
  const controller = new AbortController();
  onTestFinished(() => controller.abort());
  const response = await fetch(url, { headers, signal: controller.signal });
  let text = "";
  const listeners = new Set<() => void>();
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk as Uint8Array, { stream: true });
      for (const listener of listeners) listener();
    }
  };
  let isOver = false;
  const ended = read()
    .catch(() => {})
    .then(() => {
      isOver = true;
      for (const listener of listeners) listener();
    });
  return {
    status: response.status,
    ended,
    said: (pattern) =>
      new Promise((resolve) => {
        const look = () => {
          if (!pattern.test(text) && !isOver) return;
          listeners.delete(look);
          resolve(text);
        };
        listeners.add(look);
        look();
      }),
  };
}

const asAdmin = { authorization: `Bearer ${adminKey}` };

async function twoTenants(): Promise<{
  server: TestServer;
  keyOf: (tenant: string) => Promise<Record<string, string>>;
}> {
  const server = await startServer();
  for (const tenant of ["acme", "other"]) {
    await server.call("PUT", `/api/v1/tenants/${tenant}`, {});
    await server.call("POST", `/api/v1/tenants/${tenant}/endpoints`, {
      url: "http://127.0.0.1:65533/",
      events: ["*"],
    });
  }
  const keyOf = async (tenant: string) => {
    const { json } = await server.call("POST", "/api/v1/keys", {
      name: "k",
      tenant,
      scopes: ["deliveries:read"],
    });
    return { authorization: `Bearer ${json.key}` };
  };
  return { server, keyOf };
}

/** Of two that are open at the same time, and closed again at once. */
async function statusOfTwo(url: string, headers: Record<string, string>): Promise<readonly number[]> {
  const controller = new AbortController();
  const { signal } = controller;
  const answers = await Promise.all([fetch(url, { headers, signal }), fetch(url, { headers, signal })]);
  controller.abort();
  return answers.map(({ status }) => status);
}

/** Nothing is looked at before a second is over. */
const unused = {} as Posthorn;

/** Streams to nobody; they end with the test. */
function open(feed: LiveFeed, count: number, principalOf: (index: number) => Principal): void {
  for (let index = 0; index < count; index += 1) {
    const socket = new Socket();
    const response = new ServerResponse(new IncomingMessage(socket));
    onTestFinished(() => void socket.destroy());
    void feed.open({ response, principal: principalOf(index), since: null, reauthorize: async () => {} });
  }
}

const publish = (server: TestServer, tenant: string, type: string) =>
  server.call("POST", "/api/v1/events", { tenant, type, data: { secret: "hush" } });

test("a delivery is told of within a moment, without its payload, and to its own tenant only", async () => {
  const { server, keyOf } = await twoTenants();
  const all = await openStream(`${server.url}/live`, asAdmin);
  const own = await openStream(`${server.url}/live`, await keyOf("acme"));
  const others = await openStream(`${server.url}/live`, await keyOf("other"));
  await publish(server, "acme", "order.paid");
  expect(await all.said(/order\.paid/)).toContain('"tenant":"acme"');
  expect(await own.said(/order\.paid/)).not.toContain("hush");
  await publish(server, "other", "order.other");
  expect(await others.said(/order\.other/)).not.toContain("order.paid");
});

test("an event that nobody wanted is told of as well, without its payload, and to its own tenant only", async () => {
  const { server, keyOf } = await twoTenants();
  const { json } = await server.call("GET", "/api/v1/tenants/acme/endpoints");
  const path = `/api/v1/tenants/acme/endpoints/${json.data[0].id}`;
  await server.call("PATCH", path, { events: ["order.paid"] });
  const own = await openStream(`${server.url}/live`, await keyOf("acme"));
  const others = await openStream(`${server.url}/live`, await keyOf("other"));
  await publish(server, "acme", "order.paid");
  const { json: unwanted } = await publish(server, "acme", "order.unwanted");
  const said = await own.said(/order\.unwanted/);
  const messages = [...said.matchAll(/^event: changes\ndata: (.*)$/gm)].map(([, data]) =>
    JSON.parse(data ?? ""),
  );
  const events = messages.flatMap((message) => message.events);
  expect(events.map(({ id, type }) => [id, type])).toEqual([[unwanted.id, "order.unwanted"]]);
  expect(said).not.toContain("hush");
  await publish(server, "other", "order.other");
  expect(await others.said(/order\.other/)).not.toContain("order.unwanted");
});

test("whoever lost the stream hears of what happened meanwhile", async () => {
  const { server } = await twoTenants();
  const before = Date.now();
  await publish(server, "acme", "order.missed");
  const stream = await openStream(`${server.url}/live`, { ...asAdmin, "last-event-id": String(before) });
  expect(await stream.said(/order\.missed/)).toContain("order.missed");
  const early = { ...asAdmin, "last-event-id": String(before - 600_000) };
  const late = await openStream(`${server.url}/live`, early);
  expect(await late.said(/is_partial/)).toContain('"is_partial":true');
});

test("a key that may not read deliveries gets no stream", async () => {
  const { server } = await twoTenants();
  const { json } = await server.call("POST", "/api/v1/keys", { name: "k", scopes: ["events:publish"] });
  const stream = await openStream(`${server.url}/live`, { authorization: `Bearer ${json.key}` });
  expect(stream.status).toBe(403);
});

test("as many streams as one key may have are open, and not one more", async () => {
  const { server, keyOf } = await twoTenants();
  const key = await keyOf("acme");
  const streams = await Promise.all(
    Array.from({ length: LIVE_LIMITS.perSessionOrKey }, () => openStream(`${server.url}/live`, key)),
  );
  expect(streams.map(({ status }) => status)).toEqual(streams.map(() => 200));
  expect((await openStream(`${server.url}/live`, key)).status).toBe(429);
});

test("streams that were asked for in one go on one connection end with it", async () => {
  const { server, keyOf } = await twoTenants();
  const key = await keyOf("acme");
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  const asked = `GET /live HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: ${key.authorization}\r\n\r\n`;
  socket.write(asked.repeat(LIVE_LIMITS.perSessionOrKey));
  await once(socket, "data");
  // the server has read them all: there is no room for another
  await expect.poll(() => statusOfTwo(`${server.url}/live`, key)).toEqual([429, 429]);
  socket.destroy();
  await expect.poll(() => statusOfTwo(`${server.url}/live`, key)).toEqual([200, 200]);
});

test("people who signed in by the same key have streams of their own", () => {
  const feed = new LiveFeed(unused, () => false);
  const ofSession = (id: string): Principal => ({ ...ADMIN, session: { id, expiresAt: new Date() } });
  open(feed, LIVE_LIMITS.perSessionOrKey, () => ofSession("first"));
  expect(() => feed.checkLimits(ofSession("first"))).toThrow("The limits of open streams are 20 per session");
  expect(() => feed.checkLimits(ofSession("second"))).not.toThrow();
});

test("one tenant has so many streams, and leaves room for the others", () => {
  const feed = new LiveFeed(unused, () => false);
  const of = (tenant: string | null, id: string): Principal => ({ ...ADMIN, kind: "portal", tenant, id });
  open(feed, LIVE_LIMITS.perTenant - 1, (index) => of("acme", `link-${index}`));
  expect(() => feed.checkLimits(of("acme", "last"))).not.toThrow();
  open(feed, 1, () => of("acme", "last"));
  expect(() => feed.checkLimits(of("acme", "one more"))).toThrow("100 per tenant");
  expect(() => feed.checkLimits(of("other", "theirs"))).not.toThrow();
  expect(() => feed.checkLimits(ADMIN)).not.toThrow();
});

test("fifty tenants are looked at once a second, and more of them less often", () => {
  expect([pollIntervalMs(1), pollIntervalMs(50), pollIntervalMs(51), pollIntervalMs(500)]).toEqual([
    1_000, 1_000, 1_020, 10_000,
  ]);
});

test("a server that stops opens no more streams, and says when to come again", async () => {
  const { server } = await twoTenants();
  const stopping = createServer(createHandler(server.hooks, { adminKey, isDraining: () => true }));
  await new Promise<void>((resolve) => stopping.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void stopping.close());
  const url = `http://127.0.0.1:${(stopping.address() as AddressInfo).port}/live`;
  const answer = await fetch(url, { headers: asAdmin });
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "2"]);
});

test("a server that stops ends its streams instead of waiting for them", async () => {
  const { server } = await twoTenants();
  const stream = await openStream(`${server.url}/live`, asAdmin);
  await Promise.all([server.stop(), stream.ended]);
});

test("whoever may not look any more is shown out", async () => {
  const { server } = await twoTenants();
  const feed = new LiveFeed(server.hooks, () => false, 50);
  let mayLook = true;
  const reauthorize = async () => {
    if (!mayLook) throw new Error("revoked");
  };
  const http = createServer((_request, response) => {
    response.writeHead(200);
    void feed.open({ response, principal: ADMIN, since: null, reauthorize });
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void http.close());
  const stream = await openStream(`http://127.0.0.1:${(http.address() as AddressInfo).port}`, {});
  await stream.said(/event: here.*event: here/s);
  mayLook = false;
  await stream.ended;
});
