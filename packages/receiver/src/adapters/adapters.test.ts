// One suite for every framework, over real connections.
import { randomBytes } from "node:crypto";
import { BodyNotRaw } from "@posthorn/receiver";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { frameworks } from "../../../../tests/support/receiver/frameworks.ts";
import {
  MAX_BODY_BYTES,
  type Recorded,
  RecordingReceiver,
} from "../../../../tests/support/receiver/recording-receiver.ts";
import { type Listening, pour, send, start } from "../../../../tests/support/servers/http.ts";
import { readHeader } from "../headers.ts";

const MEGABYTE = 1024 * 1024;
const BINARY = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf, 0, 0xff, 0xfe, 0xc3, 0x28]), randomBytes(5000)]);
const json = { "content-type": "application/json" };

describe.each(frameworks.map((framework) => [framework.name, framework] as const))(
  "%s",
  (_name, framework) => {
    let receiver: RecordingReceiver;
    let server: Listening;

    beforeEach(async () => {
      receiver = new RecordingReceiver();
      server = await framework.serve(receiver);
    });
    afterEach(() => server.close());

    const seen = (): Recorded => {
      expect(receiver.failures).toEqual([]);
      expect(receiver.requests).toHaveLength(1);
      return receiver.requests[0] as Recorded;
    };

    it.each<[contentType: string | undefined, body: string | Buffer]>([
      ["application/json", '{"n":1.0,  "big":12345678901234567890}'],
      ["application/json; charset=utf-8", '{"name":"Zoë"}'],
      ["application/json; size=large", jsonOf(MAX_BODY_BYTES)],
      ["application/cloudevents+json", '{"specversion":"1.0"}'],
      ["application/cloudevents-batch+json", '[{"specversion":"1.0"}]'],
      ["text/plain", "a line\r\n"],
      ["application/x-www-form-urlencoded", "b=2&a=1&a=%20+"],
      ["application/octet-stream", BINARY],
      [undefined, '{"without":"a type"}'],
    ])("passes the bytes of %s unchanged", async (contentType, body) => {
      const headers = contentType === undefined ? {} : { "content-type": contentType };
      expect((await send(server.url, { headers, body })).status).toBe(200);
      expect(seen().body.equals(Buffer.from(body))).toBe(true);
      expect(readHeader(seen().headers, "content-type")).toBe(contentType ?? null);
    });

    it("responds with a length, in bytes", async () => {
      receiver.response = { ...receiver.response, body: '{"name":"Zoë"}' };
      const { headers } = await send(server.url, { body: "{}" });
      expect(headers).toMatchObject({ "content-length": "15" });
      expect(headers).not.toHaveProperty("transfer-encoding");
    });

    it("passes an empty body, with and without a content type", async () => {
      expect((await send(server.url, { headers: { ...json, "content-length": 0 } })).status).toBe(200);
      expect((await send(server.url)).status).toBe(200);
      expect(receiver.requests.map(({ body }) => body.length)).toEqual([0, 0]);
    });

    it("returns 413 for one byte more than the limit", async () => {
      const body = jsonOf(MAX_BODY_BYTES + 1);
      expect((await send(server.url, { headers: json, body })).status).toBe(413);
      expect(receiver.requests).toEqual([]);
    });

    it("sends the 413 while the sender is still sending its 100 megabytes", async () => {
      expect(await pour(server.url, 100 * MEGABYTE)).toMatch(/^HTTP\/1\.1 413 /);
      expect((await send(server.url, { headers: json, body: "{}" })).status).toBe(200);
    });

    it("passes a chunked transfer whose chunks are late", async () => {
      const { request, answer } = start(server.url, { headers: { "content-type": "text/plain" } });
      request.write("one,");
      await drained(request);
      request.write("two,");
      await drained(request);
      request.end("three");
      expect((await answer).status).toBe(200);
      expect(seen().body.toString()).toBe("one,two,three");
      expect(readHeader(seen().headers, "transfer-encoding")).toBe("chunked");
    });

    it("sends 100 Continue to a sender that waits for it", async () => {
      const { request, answer } = start(server.url, {
        headers: { ...json, expect: "100-continue", "content-length": 2 },
      });
      request.flushHeaders();
      await new Promise((resolve) => request.once("continue", resolve));
      request.end("{}");
      expect((await answer).status).toBe(200);
      expect(seen().body.toString()).toBe("{}");
    });

    it("passes both values of a repeated header", async () => {
      await send(server.url, { headers: { ...json, "webhook-id": ["one", "two"] }, body: "{}" });
      expect(readHeader(seen().headers, "webhook-id")).toBe("one, two");
    });

    it("passes the requested URL with its query", async () => {
      const url = `${server.url}?b=%7E&a=1&a=+`;
      await send(url, { headers: json, body: "{}" });
      expect(seen().url).toBe(url);
    });

    it("ignores forwarded headers by default", async () => {
      const forged = { "x-forwarded-host": "elsewhere.example", "x-forwarded-proto": "https" };
      await send(server.url, { headers: { ...json, ...forged }, body: "{}" });
      expect(seen().url).toBe(server.url);
    });

    it("writes the response unchanged", async () => {
      const body = '{"error":"größer"}';
      const headers = { "content-type": "application/problem+json", "retry-after": "7", "x-own": "kept" };
      receiver.response = { status: 409, headers, body };
      const result = await send(server.url, { headers: json, body: "{}" });
      expect(result).toMatchObject({ status: 409, headers, body });
    });

    it.each([200, 202, 204, 500])("returns a %d without a body", async (status) => {
      receiver.response = { status, headers: { "posthorn-duplicate": "true" }, body: "" };
      const result = await send(server.url, { headers: json, body: "{}" });
      expect(result).toMatchObject({ status, headers: { "posthorn-duplicate": "true" }, body: "" });
    });

    it("passes other methods to the receiver, which rejects them", async () => {
      for (const method of ["GET", "PUT", "DELETE", "OPTIONS"]) {
        const result = await send(server.url, { method });
        expect(result).toMatchObject({ status: 405, headers: { allow: "POST, OPTIONS" } });
      }
    });

    it("survives a sender that disconnects before the end of the body", async () => {
      const { request, answer } = start(server.url, {
        headers: { "content-type": "text/plain", "content-length": 1000 },
      });
      answer.catch(() => {});
      request.write("x".repeat(500));
      await drained(request);
      request.destroy();
      expect((await send(server.url, { headers: json, body: "{}" })).status).toBe(200);
    });

    it("reports a body that was parsed before, by what, and how to fix it", async () => {
      const parsing = await framework.serveParsed(receiver);
      onTestFinished(() => parsing.close());
      expect((await send(parsing.url, { headers: json, body: "{}" })).status).toBe(500);
      expect(receiver.failures).toEqual([expect.any(BodyNotRaw)]);
      expect(String(receiver.failures[0])).toContain(framework.blames);
      expect(String(receiver.failures[0])).toContain(framework.advises);
    });
  },
);

/** Valid JSON of exactly this many bytes. */
function jsonOf(bytes: number): Buffer {
  return Buffer.concat([Buffer.from('{"a":"'), Buffer.alloc(bytes - 8, "x"), Buffer.from('"}')]);
}

/** The piece left this process. */
function drained(request: ReturnType<typeof start>["request"]): Promise<void> {
  return new Promise((resolve) => {
    request.write("", () => resolve());
  });
}
