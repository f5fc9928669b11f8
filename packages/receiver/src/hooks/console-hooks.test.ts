import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { NOW, secret, signedDelivery } from "../../../../tests/support/receiver/signed-delivery.ts";
import { watchStore } from "../../../../tests/support/receiver/watch-store.ts";
import { PermanentFailure } from "../errors.ts";
import type { StandardSchema } from "../handle/handlers.ts";
import type { ReceiverOptions } from "../options.ts";
import { createReceiver } from "../receiver.ts";
import { standardWebhooks } from "../sources/standard-webhooks.ts";
import { memoryStore } from "../stores/memory/memory-store.ts";

let lines: string[];

beforeEach(() => {
  lines = [];
  vi.useFakeTimers();
  for (const level of ["error", "warn"] as const) {
    vi.spyOn(console, level).mockImplementation((text) => void lines.push(`${level} ${text}`));
  }
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

function open(options: Partial<ReceiverOptions<never, Record<string, StandardSchema>>> = {}) {
  const sources = [standardWebhooks({ secrets: [secret], name: "shop" })];
  return createReceiver({ sources, store: memoryStore(), clock: () => NOW, ...options });
}

const unsigned = { method: "POST", url: "/", headers: {}, body: new Uint8Array(0) };

test("failures, dead letters and conflicts are a line each", async () => {
  const receiver = open();
  const thrown = [new Error("shop\nclosed"), new PermanentFailure("no such order")];
  receiver.fallback(() => {
    throw thrown.shift();
  });
  const delivery = await signedDelivery({ id: "msg_1" });
  await receiver.receive(delivery);
  await receiver.receive(delivery);
  await receiver.receive(await signedDelivery({ id: "msg_1", payload: { type: "order.paid", data: 2 } }));
  expect(lines).toEqual([
    "error [posthorn receiver] order.paid msg_1 from shop failed, attempt 1: Error: shop closed",
    "error [posthorn receiver] order.paid msg_1 from shop failed, attempt 2: PermanentFailure: no such order",
    "error [posthorn receiver] order.paid msg_1 from shop is now a dead letter: PermanentFailure: no such order",
    "error [posthorn receiver] order.paid msg_1 from shop was received again with a different body and was rejected with 422",
  ]);
});

test("a failing store does not count as an attempt", async () => {
  const store = watchStore(memoryStore());
  store.failWith(new Error("connection refused"));
  await open({ store: store.store })
    .fallback(() => {})
    .receive(await signedDelivery({ id: "msg_1" }));
  expect(lines).toEqual([
    "error [posthorn receiver] the store failed for order.paid msg_1 from shop: Error: connection refused",
  ]);
});

test("rejections are five lines per minute and a count of the others", async () => {
  const receiver = open();
  for (let count = 0; count < 12; count++) await receiver.receive(unsigned);
  expect(lines).toEqual(
    Array(5).fill(
      "warn [posthorn receiver] a request was rejected with 401, header_missing: There is no signature header of shop.",
    ),
  );
  await vi.advanceTimersByTimeAsync(60_000);
  await receiver.receive(unsigned);
  expect(lines.slice(5)).toEqual([
    "warn [posthorn receiver] 7 more requests were rejected in the last minute",
    lines[0],
  ]);
});

test("text of the sender cannot break the line", async () => {
  await open().receive({ ...unsigned, method: "GET\n\u001b[2J" });
  expect(lines).toEqual([expect.stringContaining("The method is GET [2J.")]);
});

test("a hook replaces the line, and null disables it", async () => {
  const onFailure = vi.fn();
  const receiver = open({ onFailure, onRejected: null, onDead: null });
  receiver.fallback(() => {
    throw new PermanentFailure("no such order");
  });
  await receiver.receive(await signedDelivery());
  await receiver.receive(unsigned);
  expect([onFailure.mock.calls.length, lines]).toEqual([1, []]);
});

test("a missing start() is reported once in mode inbox", async () => {
  const receiver = open({ mode: "inbox" });
  for (const id of ["msg_1", "msg_2"]) await receiver.receive(await signedDelivery({ id }));
  expect(lines).toEqual([expect.stringContaining("start() was not called in this process")]);
  const started = open({ mode: "inbox" });
  await started.start();
  await started.receive(await signedDelivery());
  await started.stop();
  expect(lines).toHaveLength(1);
});
