// What is particular to one framework.
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import express4 from "express4";
import fastify from "fastify";
import Koa from "koa";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { send } from "../../../../tests/support/receiver/http-client.ts";
import { RecordingReceiver } from "../../../../tests/support/receiver/recording-receiver.ts";
import { expressHandler } from "./express.ts";
import { fastifyPlugin } from "./fastify.ts";
import { koaHandler } from "./koa.ts";

const json = { "content-type": "application/json" };
const forwarded = { "x-forwarded-proto": "https", "x-forwarded-host": "public.example" };

let receiver: RecordingReceiver;
const closing: (() => unknown)[] = [];

beforeEach(() => {
  receiver = new RecordingReceiver();
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe.each([
  ["4", express4],
  ["5", express],
])("Express %s", (_version, framework) => {
  it("reads a body that another parser parsedBodies alone", async () => {
    const app = framework().use(framework.json()).all("/hooks", expressHandler(receiver));
    const headers = { "content-type": "application/cloudevents+json" };
    expect((await send(`${await listen(app)}/hooks`, { headers, body: '{"a": 1}' })).status).toBe(200);
    expect(receiver.requests[0]?.body.toString()).toBe('{"a": 1}');
  });

  it("takes the bytes that a parser kept", async () => {
    const verify = (request: object, _response: unknown, rawBody: Buffer) =>
      Object.assign(request, { rawBody });
    const app = framework().use(framework.json({ verify })).all("/hooks", expressHandler(receiver));
    expect((await send(`${await listen(app)}/hooks`, { headers: json, body: '{"a": 1}' })).status).toBe(200);
    expect(receiver.requests[0]?.body.toString()).toBe('{"a": 1}');
  });

  it("hands on the whole URL from inside a router, and the proxy's protocol when told to trust it", async () => {
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
  it("leaves the parsers of other routes as they are", async () => {
    const app = fastify();
    closing.push(() => app.close());
    await app.register(fastifyPlugin(receiver), { prefix: "/hooks" });
    app.post("/orders", async (request) => request.body);
    await app.register((sibling, _options, done) => {
      sibling.post("/others", async (request) => request.body);
      done();
    });
    const url = await app.listen({ port: 0, host: "127.0.0.1" });
    for (const path of ["/orders", "/others"]) {
      const result = await send(url + path, { headers: json, body: '{"parsed": true}' });
      expect(result.body).toBe('{"parsed":true}');
    }
    await send(`${url}/hooks`, { headers: json, body: '{"parsed": false}' });
    expect(receiver.requests[0]?.body.toString()).toBe('{"parsed": false}');
  });

  it("takes more than Fastify's own limit", async () => {
    const app = fastify({ bodyLimit: 10 });
    closing.push(() => app.close());
    await app.register(fastifyPlugin(receiver), { prefix: "/hooks" });
    const url = await app.listen({ port: 0, host: "127.0.0.1" });
    expect((await send(`${url}/hooks`, { headers: json, body: "x".repeat(1000) })).status).toBe(200);
  });

  it("hands on what the proxy says when told to trust it", async () => {
    const app = fastify({ trustProxy: true });
    closing.push(() => app.close());
    await app.register(fastifyPlugin(receiver), { prefix: "/hooks" });
    const url = await app.listen({ port: 0, host: "127.0.0.1" });
    await send(`${url}/hooks?a=1`, { headers: { ...json, ...forwarded }, body: "{}" });
    expect(receiver.requests[0]?.url).toBe("https://public.example/hooks?a=1");
  });
});

describe("Koa", () => {
  it("hands on what the proxy says when told to trust it", async () => {
    const app = new Koa({ proxy: true }).use(koaHandler(receiver));
    const url = await listen(app.callback());
    await send(`${url}/hooks?a=1`, { headers: { ...json, ...forwarded }, body: "{}" });
    expect(receiver.requests[0]?.url).toBe("https://public.example/hooks?a=1");
  });
});
