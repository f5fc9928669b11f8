// What differs between frameworks; adapters.test.ts checks what all have in common.
import { once } from "node:events";
import { createServer } from "node:http";
import { connect, createServer as createHttp2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import express from "express";
import express4 from "express4";
import fastify, { type FastifyInstance, type FastifyServerOptions } from "fastify";
import { Hono } from "hono";
import Koa from "koa";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { RecordingReceiver } from "../../../../tests/support/receiver/recording-receiver.ts";
import { listen, pour, send, start } from "../../../../tests/support/servers/http.ts";
import { BodyNotRaw } from "../errors.ts";
import { expressHandler } from "./express.ts";
import { fastifyPlugin } from "./fastify.ts";
import { fetchHandler } from "./fetch.ts";
import { koaHandler } from "./koa.ts";
import { nodeHandler } from "./node.ts";

const json = { "content-type": "application/json" };
const forwarded = { "x-forwarded-proto": "https", "x-forwarded-host": "public.example" };

let receiver: RecordingReceiver;

beforeEach(() => {
  receiver = new RecordingReceiver();
});

async function listenFastify(options: FastifyServerOptions, extend = (_app: FastifyInstance) => {}) {
  const app = fastify(options);
  onTestFinished(() => app.close());
  await app.register(fastifyPlugin(receiver), { prefix: "/hooks" });
  extend(app);
  return app.listen({ port: 0, host: "127.0.0.1" });
}

describe.each([
  ["4", express4],
  ["5", express],
])("Express %s", (_version, framework) => {
  it("reads a body that another parser left alone", async () => {
    const app = framework().use(framework.json()).all("/hooks", expressHandler(receiver));
    const headers = { "content-type": "application/cloudevents+json" };
    expect((await send(`${await listen(app)}/hooks`, { headers, body: '{"a": 1}' })).status).toBe(200);
    expect(receiver.requests[0]?.body.toString()).toBe('{"a": 1}');
  });

  it("uses the bytes that a parser stored", async () => {
    const verify = (request: object, _response: unknown, rawBody: Buffer) =>
      Object.assign(request, { rawBody });
    const app = framework().use(framework.json({ verify })).all("/hooks", expressHandler(receiver));
    expect((await send(`${await listen(app)}/hooks`, { headers: json, body: '{"a": 1}' })).status).toBe(200);
    expect(receiver.requests[0]?.body.toString()).toBe('{"a": 1}');
  });

  it("passes the whole URL from inside a router, and the protocol of a trusted proxy", async () => {
    const app = framework().set("trust proxy", true);
    app.use("/api", framework.Router().all("/hooks", expressHandler(receiver)));
    const url = await listen(app);
    await send(`${url}/api/hooks?a=1`, { headers: { ...json, ...forwarded }, body: "{}" });
    expect(receiver.requests[0]?.url).toBe(`${url.replace("http:", "https:")}/api/hooks?a=1`);
  });

  it("passes an error of the receiver on to the application", async () => {
    const failing = { receive: () => Promise.reject(new Error("a bug")) };
    const app = framework().all("/hooks", expressHandler(failing));
    app.use((error: Error, _request: unknown, response: express.Response, _next: unknown) => {
      response.status(500).send(error.message);
    });
    const result = await send(`${await listen(app)}/hooks`, { headers: json, body: "{}" });
    expect(result).toMatchObject({ status: 500, body: "a bug" });
  });
});

describe("Fastify", () => {
  it("does not change the parsers of other routes", async () => {
    const url = await listenFastify({}, (app) => {
      app.post("/orders", async (request) => request.body);
      app.register(async (sibling) => void sibling.post("/others", async (request) => request.body));
    });
    for (const path of ["/orders", "/others"]) {
      const result = await send(url + path, { headers: json, body: '{"parsed": true}' });
      expect(result.body).toBe('{"parsed":true}');
    }
    await send(`${url}/hooks`, { headers: json, body: '{"parsed": false}' });
    expect(receiver.requests[0]?.body.toString()).toBe('{"parsed": false}');
  });

  it("accepts bodies above Fastify's limit", async () => {
    const url = await listenFastify({ bodyLimit: 10 });
    expect((await send(`${url}/hooks`, { headers: json, body: "x".repeat(1000) })).status).toBe(200);
  });

  it("uses protocol and host of a trusted proxy", async () => {
    const url = await listenFastify({ trustProxy: true });
    await send(`${url}/hooks?a=1`, { headers: { ...json, ...forwarded }, body: "{}" });
    expect(receiver.requests[0]?.url).toBe("https://public.example/hooks?a=1");
  });
});

describe("Koa", () => {
  it("uses protocol and host of a trusted proxy", async () => {
    const app = new Koa({ proxy: true }).use(koaHandler(receiver));
    const url = await listen(app.callback());
    await send(`${url}/hooks?a=1`, { headers: { ...json, ...forwarded }, body: "{}" });
    expect(receiver.requests[0]?.url).toBe("https://public.example/hooks?a=1");
  });
});

describe("nodeHandler", () => {
  it("a sender that reads the response only after its 100 megabytes gets the 413", async () => {
    const url = await listen(nodeHandler(receiver));
    expect(await pour(url, 100 * 1024 * 1024, { readsLate: true })).toMatch(/^HTTP\/1\.1 413 /);
  });

  it("rejects a stream that was set to return text", async () => {
    const handle = nodeHandler(receiver);
    const url = await listen((request, response) => handle(request.setEncoding("utf8"), response));
    expect((await send(url, { body: "{}" })).status).toBe(500);
    expect(receiver.failures[0]).toBeInstanceOf(BodyNotRaw);
  });

  it("survives a sender that hangs up while its event is being handled", async () => {
    let handled: Promise<void> | undefined;
    const server = createServer((request, response) => {
      const closed = once(response, "close");
      const receive = () => closed.then(() => receiver.response);
      handled = nodeHandler({ receive })(request, response);
    });
    const { request, answer } = start(await listen(server));
    answer.catch(() => {});
    request.end("{}");
    await once(server, "request");
    request.destroy();
    await expect(handled).resolves.toBeUndefined();
  });

  it("serves HTTP/2 as well", async () => {
    const http2Server = createHttp2Server(nodeHandler(receiver));
    await once(http2Server.listen(0, "127.0.0.1"), "listening");
    const url = `http://127.0.0.1:${(http2Server.address() as AddressInfo).port}`;
    const session = connect(url);
    const stream = session.request({ ":method": "POST", ":path": "/hooks?a=1" });
    stream.end("{}");
    const [headers] = (await once(stream, "response")) as [{ ":status": number }];
    expect(headers[":status"]).toBe(200);
    expect(receiver.requests[0]).toMatchObject({ url: `${url}/hooks?a=1`, body: Buffer.from("{}") });
    session.destroy();
    http2Server.close();
  });

  it("does not write a second response", async () => {
    const handle = nodeHandler(receiver);
    const url = await listen((request, response) => {
      response.writeHead(503).end();
      return handle(request, response);
    });
    expect((await send(url, { body: "{}" })).status).toBe(503);
    expect(receiver.requests).toHaveLength(1);
  });
});

const FETCH_URL = "https://example.com/webhooks?a=%7E";

describe("fetchHandler", () => {
  const post = (body?: string): Request => new Request(FETCH_URL, { method: "POST", body: body ?? null });

  it("stops reading when the receiver does, and unlocks the stream", async () => {
    let pulled = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled += 1;
        controller.enqueue(new Uint8Array(256 * 1024));
      },
    });
    const init = { method: "POST", body, duplex: "half" };
    const request = new Request(FETCH_URL, init as RequestInit);
    expect((await fetchHandler(receiver)(request)).status).toBe(413);
    expect(pulled).toBeLessThan(10);
    expect(request.body?.locked).toBe(false);
  });

  it.each<[string, (request: Request) => Promise<unknown>]>([
    ["json()", (request) => request.json()],
    ["text()", (request) => request.text()],
    ["arrayBuffer()", (request) => request.arrayBuffer()],
    ["body.getReader()", async (request) => request.body?.getReader()],
  ])("responds with 500 after %s, and the error names the fix", async (_name, read) => {
    const request = post("{}");
    await read(request);
    expect((await fetchHandler(receiver)(request)).status).toBe(500);
    expect(receiver.failures[0]).toBeInstanceOf(BodyNotRaw);
    expect(String(receiver.failures[0])).toContain("request.clone()");
  });

  it("works after a copy was read, as its error advises", async () => {
    const app = new Hono();
    app.use(async (c, next) => {
      await c.req.raw.clone().json();
      await next();
    });
    app.post("/webhooks", (c) => fetchHandler(receiver)(c.req.raw));
    expect((await app.fetch(post('{"a": 1}'))).status).toBe(200);
    expect(receiver.requests[0]?.body.toString()).toBe('{"a": 1}');
  });
});
