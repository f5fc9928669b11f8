// Bun, Deno, Cloudflare Workers and the app router of Next.js all hand over a Request and take a Response.
import { Hono } from "hono";
import { beforeEach, describe, expect, it } from "vitest";
import { RecordingReceiver } from "../../../../tests/support/receiver/recording-receiver.ts";
import { BodyNotRaw } from "../errors.ts";
import { fetchHandler } from "./fetch.ts";

const URL = "https://example.com/webhooks?a=%7E";

describe("fetchHandler", () => {
  let receiver: RecordingReceiver;
  let handle: ReturnType<typeof fetchHandler>;

  beforeEach(() => {
    receiver = new RecordingReceiver();
    handle = fetchHandler(receiver);
  });

  const post = (body?: string): Request => new Request(URL, { method: "POST", body: body ?? null });

  it("hands on the bytes, the URL and the headers", async () => {
    const body = new Uint8Array([0xef, 0xbb, 0xbf, 0, 0xff]);
    const request = new Request(URL, { method: "POST", body, headers: { "Webhook-Id": "one" } });
    const response = await handle(request);
    expect([response.status, await response.text()]).toEqual([200, '{"ok":true}']);
    expect(receiver.requests[0]).toMatchObject({ method: "POST", url: URL, headers: request.headers });
    expect(receiver.requests[0]?.body.equals(body)).toBe(true);
  });

  it("hands on a request without a body", async () => {
    expect((await handle(post())).status).toBe(200);
    expect(receiver.requests[0]?.body).toHaveLength(0);
  });

  it.each([200, 202, 204, 405])("answers %d without a body", async (status) => {
    receiver.answer = { status, headers: { "x-own": "kept" }, body: "" };
    const response = await handle(post("{}"));
    expect([response.status, response.headers.get("x-own"), await response.text()]).toEqual([
      status,
      "kept",
      "",
    ]);
  });

  it("stops reading where the receiver does, and lets go of the stream", async () => {
    let pulled = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled += 1;
        controller.enqueue(new Uint8Array(256 * 1024));
      },
    });
    const init = { method: "POST", body, duplex: "half" };
    const request = new Request(URL, init as RequestInit);
    expect((await handle(request)).status).toBe(413);
    expect(pulled).toBeLessThan(10);
    expect(request.body?.locked).toBe(false);
  });

  it("tells the receiver when the sender hangs up in the middle", async () => {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new Uint8Array(10)),
      pull: (controller) => controller.error(new Error("gone")),
    });
    await handle(new Request(URL, { method: "POST", body, duplex: "half" } as RequestInit));
    expect(receiver.failures).toEqual([new Error("gone")]);
  });

  it.each<[string, (request: Request) => Promise<unknown>]>([
    ["json()", (request) => request.json()],
    ["text()", (request) => request.text()],
    ["arrayBuffer()", (request) => request.arrayBuffer()],
  ])("answers 500 after %s, and names the way out", async (_name, read) => {
    const request = post("{}");
    await read(request);
    expect((await handle(request)).status).toBe(500);
    expect(receiver.failures[0]).toBeInstanceOf(BodyNotRaw);
    expect(String(receiver.failures[0])).toContain("request.clone()");
  });

  it("works after somebody read a copy, as its error advises", async () => {
    const app = new Hono();
    app.use(async (c, next) => {
      await c.req.raw.clone().json();
      await next();
    });
    app.post("/webhooks", (c) => handle(c.req.raw));
    expect((await app.fetch(post('{"a": 1}'))).status).toBe(200);
    expect(receiver.requests[0]?.body.toString()).toBe('{"a": 1}');
  });
});
