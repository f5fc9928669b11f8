// What every adapter has to do, over real connections: hand on what was sent, write back what was answered, survive
// whatever a sender does in between.
import { randomBytes } from "node:crypto";
import { BodyNotRaw, createReceiver, memoryStore, posthorn } from "@posthorn/receiver";
import { createSender, type Sender } from "@posthorn/receiver/testing";
import { generateSecret } from "@posthorn/wire";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readHeader } from "../../../packages/receiver/src/headers.ts";
import type { Framework, Running } from "./frameworks.ts";
import { pour, send, start } from "./http-client.ts";
import { MAX_BODY_BYTES, type Recorded, RecordingReceiver } from "./recording-receiver.ts";

const KILOBYTE = 1024;
const MEGABYTE = KILOBYTE * KILOBYTE;
const json = { "content-type": "application/json" };

export function adapterSuite(framework: Framework): void {
  describe(framework.name, () => {
    let receiver: RecordingReceiver;
    let server: Running;

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

    it.each<[contentType: string | undefined, body: string]>([
      ["application/json", '{"n":1.0,  "big":12345678901234567890}'],
      ["application/json; charset=utf-8", '{"name":"Zoë"}'],
      ["application/cloudevents+json", '{"specversion":"1.0"}'],
      ["application/cloudevents-batch+json", '[{"specversion":"1.0"}]'],
      ["text/plain", "a line\r\n"],
      ["application/x-www-form-urlencoded", "b=2&a=1&a=%20+"],
      [undefined, '{"without":"a type"}'],
    ])("hands on the bytes of %s", async (contentType, body) => {
      const headers = contentType === undefined ? {} : { "content-type": contentType };
      expect((await send(server.url, { headers, body })).status).toBe(200);
      expect(seen().body.toString()).toBe(body);
      expect(readHeader(seen().headers, "content-type")).toBe(contentType ?? null);
    });

    it("hands on an empty body, with a content type and without", async () => {
      expect((await send(server.url, { headers: { ...json, "content-length": 0 } })).status).toBe(200);
      expect((await send(server.url)).status).toBe(200);
      expect(receiver.requests.map(({ body }) => body.length)).toEqual([0, 0]);
    });

    it("hands on bytes that are no text as they are", async () => {
      const body = Buffer.concat([
        Buffer.from([0xef, 0xbb, 0xbf, 0, 0xff, 0xfe, 0xc3, 0x28]),
        randomBytes(5000),
      ]);
      const headers = { "content-type": "application/octet-stream" };
      expect((await send(server.url, { headers, body })).status).toBe(200);
      expect(seen().body.equals(body)).toBe(true);
    });

    it.each([64 * KILOBYTE, MEGABYTE - 1, MEGABYTE])("hands on %d bytes of JSON", async (bytes) => {
      const body = jsonOf(bytes);
      expect((await send(server.url, { headers: json, body })).status).toBe(200);
      expect(seen().body.equals(body)).toBe(true);
    });

    it("passes on the 413 for a byte more than the limit", async () => {
      const body = jsonOf(MAX_BODY_BYTES + 1);
      expect((await send(server.url, { headers: json, body })).status).toBe(413);
      expect(receiver.requests).toEqual([]);
    });

    it("gets the 413 to a sender that is still sending its 100 megabytes", async () => {
      expect(await pour(server.url, 100 * MEGABYTE)).toMatch(/^HTTP\/1\.1 413 /);
      expect((await send(server.url, { headers: json, body: "{}" })).status).toBe(200);
    });

    it("hands on a chunked transfer whose pieces come late", async () => {
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

    it("lets a sender go on that waits for 100 Continue", async () => {
      const { request, answer } = start(server.url, {
        headers: { ...json, expect: "100-continue", "content-length": 2 },
      });
      request.flushHeaders();
      await new Promise((resolve) => request.once("continue", resolve));
      request.end("{}");
      expect((await answer).status).toBe(200);
      expect(seen().body.toString()).toBe("{}");
    });

    it("hands on both values of a header that came twice", async () => {
      await send(server.url, { headers: { ...json, "webhook-id": ["one", "two"] }, body: "{}" });
      expect(readHeader(seen().headers, "webhook-id")).toBe("one, two");
    });

    it("hands on the URL as it was called, with its query", async () => {
      const url = `${server.url}?b=%7E&a=1&a=+`;
      await send(url, { headers: json, body: "{}" });
      expect(seen().url).toBe(url);
    });

    it("believes no forwarded header unasked", async () => {
      const forged = { "x-forwarded-host": "elsewhere.example", "x-forwarded-proto": "https" };
      await send(server.url, { headers: { ...json, ...forged }, body: "{}" });
      expect(seen().url).toBe(server.url);
    });

    it("passes on the answer unchanged", async () => {
      const body = '{"error":"größer"}';
      const headers = { "content-type": "application/problem+json", "retry-after": "7", "x-own": "kept" };
      receiver.answer = { status: 409, headers, body };
      const answer = await send(server.url, { headers: json, body: "{}" });
      expect(answer).toMatchObject({ status: 409, headers, body });
    });

    it.each([200, 202, 204, 500])("passes on a %d without a body", async (status) => {
      receiver.answer = { status, headers: { "posthorn-duplicate": "true" }, body: "" };
      const answer = await send(server.url, { headers: json, body: "{}" });
      expect(answer).toMatchObject({ status, headers: { "posthorn-duplicate": "true" }, body: "" });
    });

    it("lets the receiver refuse other methods", async () => {
      for (const method of ["GET", "PUT", "DELETE"]) {
        const answer = await send(server.url, { method });
        expect(answer).toMatchObject({ status: 405, headers: { allow: "POST, OPTIONS" } });
      }
    });

    it("lets the receiver answer the handshake of CloudEvents", async () => {
      const headers = { "webhook-request-origin": "sender.example" };
      const answer = await send(server.url, { method: "OPTIONS", headers });
      expect(answer).toMatchObject({ status: 200, headers: { "webhook-allowed-origin": "sender.example" } });
    });

    it("survives a sender that hangs up in the middle", async () => {
      const { request, answer } = start(server.url, {
        headers: { "content-type": "text/plain", "content-length": 1000 },
      });
      answer.catch(() => {});
      request.write("x".repeat(500));
      await drained(request);
      request.destroy();
      expect((await send(server.url, { headers: json, body: "{}" })).status).toBe(200);
    });

    describe("with a receiver that verifies", () => {
      const secret = generateSecret();
      const handled: string[] = [];
      const failures: unknown[] = [];
      let real: Running;
      let sender: Sender;

      beforeEach(async () => {
        handled.length = failures.length = 0;
        real = await framework.serve(verifying());
        sender = senderTo(real);
      });
      afterEach(() => real.close());

      const verifying = () =>
        createReceiver({
          sources: [posthorn({ secrets: [secret] })],
          store: memoryStore(),
          handshake: { allowedOrigins: ["sender.example"] },
          onFailure: ({ error }) => failures.push(error),
        }).on("order.paid", async ({ id }) => {
          handled.push(id);
        });
      const senderTo = ({ url }: Running) => createSender({ secret, url, receive: fetch });
      const order = { type: "order.paid", data: { total: 12 } };

      it("handles once what comes twenty times at once", async () => {
        const attempts = await sender.atOnce(order, 20);
        expect(handled).toHaveLength(1);
        expect(attempts.every(({ status }) => status === 200 || status === 409)).toBe(true);
        expect((await sender.send({ ...order, id: handled[0] as string })).isDuplicate).toBe(true);
      });

      it("handles a megabyte, and refuses a byte more or a byte changed", async () => {
        const head = '{"id":"evt_1","type":"order.paid","data":"';
        const text = (bytes: number) => `${head.padEnd(bytes - 2, "x")}"}`;
        const sized = (bytes: number) => ({ ...order, id: "evt_1", body: text(bytes) });
        expect((await sender.tamper(sized(MEGABYTE))).status).toBe(401);
        expect((await sender.send(sized(MEGABYTE + 1))).status).toBe(413);
        expect((await sender.send(sized(MEGABYTE))).status).toBe(200);
        expect(handled).toEqual(["evt_1"]);
      });

      it("answers the handshake, and other methods with 405", async () => {
        const headers = { "webhook-request-origin": "sender.example" };
        const answer = await send(real.url, { method: "OPTIONS", headers });
        expect(answer.headers["webhook-allowed-origin"]).toBe("sender.example");
        expect((await send(real.url, { method: "GET" })).status).toBe(405);
      });

      it("tells onFailure of a body that was parsed before", async () => {
        const parsing = await framework.serveParsed(verifying());
        try {
          expect((await senderTo(parsing).send(order)).status).toBe(500);
          expect(failures).toEqual([expect.any(BodyNotRaw)]);
          expect(handled).toEqual([]);
        } finally {
          await parsing.close();
        }
      });
    });

    it("answers 500 when the body was parsed before, and says by what and how to mend it", async () => {
      const parsing = await framework.serveParsed(receiver);
      try {
        expect((await send(parsing.url, { headers: json, body: '{"a": 1}' })).status).toBe(500);
        expect(receiver.requests).toEqual([]);
        const [failure] = receiver.failures;
        expect(failure).toBeInstanceOf(BodyNotRaw);
        expect(String(failure)).toContain(framework.blames);
        expect(String(failure)).toContain(framework.advises);
      } finally {
        await parsing.close();
      }
    });
  });
}

/** Valid JSON of exactly so many bytes. */
function jsonOf(bytes: number): Buffer {
  return Buffer.concat([Buffer.from('{"a":"'), Buffer.alloc(bytes - 8, "x"), Buffer.from('"}')]);
}

/** The piece left this process. */
function drained(request: ReturnType<typeof start>["request"]): Promise<void> {
  return new Promise((resolve) => {
    request.write("", () => resolve());
  });
}
