import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { bodyOf } from "./node-body.ts";

const streamOf = (...chunks: string[]) => Readable.from(chunks.map((chunk) => Buffer.from(chunk)));

async function textOf(stream: Readable): Promise<string> {
  let text = "";
  for await (const chunk of bodyOf(stream)) text += Buffer.from(chunk).toString();
  return text;
}

test("all chunks are read in order, and an empty body has none", async () => {
  expect(await textOf(streamOf("a", "b", "c"))).toBe("abc");
  expect(await textOf(streamOf())).toBe("");
});

test("a stream waits while its chunk is not asked for", async () => {
  const stream = new Readable({ read() {}, highWaterMark: 1 });
  const chunks = bodyOf(stream)[Symbol.asyncIterator]();
  const first = chunks.next();
  stream.push("a");
  stream.push("b");
  stream.push("c");
  stream.push(null);
  expect(await first).toMatchObject({ done: false, value: Buffer.from("a") });
  await expect.poll(() => stream.isPaused()).toBe(true);
  expect(stream.readableLength).toBeGreaterThan(0);
  expect(await chunks.next()).toMatchObject({ value: Buffer.from("b") });
  expect(await chunks.next()).toMatchObject({ value: Buffer.from("c") });
  expect(await chunks.next()).toMatchObject({ done: true });
  expect(await chunks.next()).toMatchObject({ done: true });
});

test("an iteration that stops early leaves the stream open, without listeners", async () => {
  const stream = new Readable({ read() {} });
  stream.push("a");
  for await (const chunk of bodyOf(stream)) {
    expect(Buffer.from(chunk).toString()).toBe("a");
    break;
  }
  expect(stream.destroyed).toBe(false);
  expect(["data", "end", "error", "close"].map((name) => stream.listenerCount(name))).toEqual([0, 0, 0, 0]);
});

test("a stream that fails, or closes before its end, rejects, also if it did so before", async () => {
  const failing = new Readable({ read: () => void failing.destroy(new Error("reset")) });
  await expect(textOf(failing)).rejects.toThrow("reset");
  const closing = new Readable({ read: () => void closing.destroy() });
  await expect(textOf(closing)).rejects.toThrow("closed before the end of the body");
  await expect(textOf(closing)).rejects.toThrow("closed before the end of the body");
});
