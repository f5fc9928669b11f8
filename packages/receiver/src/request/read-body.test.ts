import { expect, test } from "vitest";
import { BodyNotRaw } from "../errors.ts";
import type { WebhookRequest } from "../model.ts";
import { readBody } from "./read-body.ts";
import { Rejection } from "./rejection.ts";

const request = (body: WebhookRequest["body"], headers: Record<string, string> = {}): WebhookRequest => ({
  method: "POST",
  url: "/",
  headers,
  body,
});

async function* pieces(...lengths: number[]): AsyncGenerator<Uint8Array> {
  for (const length of lengths) yield new Uint8Array(length).fill(length);
}

test("a body at the limit is read and one past it is rejected, in one chunk or many", async () => {
  expect(await readBody(request(new Uint8Array(10)), 10)).toEqual(new Uint8Array(10));
  expect(await readBody(request(pieces(3, 0, 7)), 10)).toEqual(Uint8Array.of(3, 3, 3, 7, 7, 7, 7, 7, 7, 7));
  for (const body of [new Uint8Array(11), pieces(11), pieces(3, 8)]) {
    expect(await readBody(request(body), 10)).toMatchObject({ response: { status: 413 } });
  }
});

test("a body in chunks of one byte uses no more memory than the body", async () => {
  const piece = new Uint8Array(1);
  const body = (async function* () {
    for (let at = 0; at < 10_000; at++) {
      piece[0] = at % 256; // the same buffer again: only a copy would show the change
      yield piece;
    }
  })();
  const bytes = await readBody(request(body), 10_000);
  expect(bytes).toEqual(Uint8Array.from({ length: 10_000 }, (_, at) => at % 256));
  expect((bytes as Uint8Array).buffer.byteLength).toBe(10_000);
});

test("a body that is announced as too large is not read at all", async () => {
  let isRead = false;
  const body = (async function* () {
    isRead = true;
    yield new Uint8Array(1);
  })();
  expect(await readBody(request(body, { "Content-Length": "11" }), 10)).toBeInstanceOf(Rejection);
  expect(isRead).toBe(false);
  expect(await readBody(request(new Uint8Array(10), { "content-length": "10" }), 10)).toHaveLength(10);
});

test("an endless body is read only up to the limit", async () => {
  let read = 0;
  const endless = (async function* () {
    for (; read < 1_000; read++) yield new Uint8Array(4);
  })();
  expect(await readBody(request(endless), 10)).toBeInstanceOf(Rejection);
  expect(read).toBeLessThan(4);
});

test.each(["gzip", "deflate, gzip", "br", "x-unknown"])(
  "the content encoding %s is 415",
  async (encoding) => {
    const rejection = await readBody(request(new Uint8Array(1), { "Content-Encoding": encoding }), 10);
    expect(rejection).toMatchObject({ response: { status: 415 }, report: { reason: "encoded" } });
  },
);

test.each(["identity", "Identity", ""])("the content encoding %j is none", async (encoding) => {
  expect(await readBody(request(new Uint8Array(1), { "content-encoding": encoding }), 10)).toHaveLength(1);
});

test("an interrupted body is rejected; a body that was read before is an error", async () => {
  const broken = (error: Error) => ({
    [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }),
  });
  expect(await readBody(request(broken(new Error("reset"))), 10)).toMatchObject({
    response: { status: 400 },
  });
  const gone = new BodyNotRaw("express.json() ran first", "Put it after.");
  await expect(readBody(request(broken(gone)), 10)).rejects.toBe(gone);
});
