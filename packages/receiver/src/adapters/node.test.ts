import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { connect, createServer as createHttp2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { pour, send, start } from "../../../../tests/support/receiver/http-client.ts";
import { RecordingReceiver } from "../../../../tests/support/receiver/recording-receiver.ts";
import { BodyNotRaw } from "../errors.ts";
import { nodeHandler } from "./node.ts";

describe("nodeHandler", () => {
  const receiver = new RecordingReceiver();
  let server: Server | undefined;

  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
    receiver.failures.length = 0;
    receiver.requests.length = 0;
  });

  async function listen(handler: RequestListener): Promise<string> {
    server = createServer(handler);
    await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  }

  it("gets the 413 even to a sender that looks only after its 100 megabytes", async () => {
    const url = await listen(nodeHandler(receiver));
    expect(await pour(url, 100 * 1024 * 1024, { isDeaf: true })).toMatch(/^HTTP\/1\.1 413 /);
  });

  it("stops reading at the limit", async () => {
    const url = await listen(nodeHandler(receiver));
    await pour(url, 10 * 1024 * 1024);
    expect(receiver.bytesRead).toBeLessThan(1.2 * 1024 * 1024);
  });

  it("tells the receiver of a sender that hangs up in the middle", async () => {
    const url = await listen(nodeHandler(receiver));
    const { request, answer } = start(url, { headers: { "content-length": 1000 } });
    answer.catch(() => {});
    request.write("x".repeat(500));
    await receiver.until(() => receiver.bytesRead === 500);
    request.destroy();
    await receiver.until(() => receiver.failures.length === 1);
    expect(receiver.failures[0]).not.toBeInstanceOf(BodyNotRaw);
  });

  it("refuses a stream that was told to give text", async () => {
    const handle = nodeHandler(receiver);
    const url = await listen((request, response) => handle(request.setEncoding("utf8"), response));
    expect((await send(url, { body: "{}" })).status).toBe(500);
    expect(receiver.failures[0]).toBeInstanceOf(BodyNotRaw);
  });

  it("survives a sender that hangs up while its event is being handled", async () => {
    let handled: Promise<void> | undefined;
    const url = await listen((request, response) => {
      const closed = once(response, "close");
      const receive = () => closed.then(() => receiver.answer);
      handled = nodeHandler({ receive })(request, response);
    });
    const { request, answer } = start(url);
    answer.catch(() => {});
    request.end("{}");
    await once(server as Server, "request");
    request.destroy();
    await expect(handled).resolves.toBeUndefined();
  });

  it("serves HTTP/2 as well", async () => {
    const http2Server = createHttp2Server(nodeHandler(receiver));
    await new Promise<void>((resolve) => http2Server.listen(0, "127.0.0.1", resolve));
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

  it("leaves an result alone that something else gave in its place", async () => {
    const handle = nodeHandler(receiver);
    const url = await listen((request, response) => {
      response.writeHead(503).end();
      return handle(request, response);
    });
    expect((await send(url, { body: "{}" })).status).toBe(503);
    expect(receiver.requests).toHaveLength(1);
  });
});
