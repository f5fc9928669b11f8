import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import type { WebhookEvent } from "../model.ts";
import { createReceiver } from "../receiver.ts";
import { standardWebhooks } from "../sources/standard-webhooks.ts";
import { memoryStore } from "../stores/memory/memory-store.ts";
import { eventTypes, Handlers } from "./handlers.ts";

const sources = [standardWebhooks({ secrets: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"] })];
const store = memoryStore();

describe("finding a handler", () => {
  const handlers = new Handlers<never>({}, ["stripe", "shop"]);
  const named = Object.fromEntries(
    ["order.paid", "order.*", "order.item.*", "invoice.*"].map((pattern) => [pattern, () => pattern]),
  );
  for (const [pattern, handler] of Object.entries(named)) handlers.on(pattern, handler);

  test.each([
    ["order.paid", "order.paid"],
    ["order.refunded", "order.*"],
    ["order.paid.twice", "order.*"],
    ["order.item.added", "order.item.*"],
    ["invoice.paid", "invoice.*"],
  ])("%s goes to %s", (type, pattern) => {
    expect(handlers.find({ source: "shop", type: type })).toBe(named[pattern]);
  });

  test.each(["order", "orders.paid", "preorder.paid", ".order.paid", "invoice", "x"])(
    "%s has no handler",
    (type) => {
      expect(handlers.find({ source: "shop", type: type })).toBeNull();
    },
  );

  test("a fallback gets all other events", () => {
    const all = new Handlers<never>({}, ["stripe", "shop"]);
    const fallback = () => {};
    all.fallback(fallback);
    expect(all.find({ source: "shop", type: "anything" })).toBe(fallback);
  });
});

test.each<[what: string, act: (handlers: Handlers<never>) => void, message: string]>([
  ["a second one for a type", (handlers) => handlers.on("order.paid", () => {}), "already has a handler"],
  ["a second one for a prefix", (handlers) => handlers.on("order.*", () => {}), "already has a handler"],
  ["a second fallback", (handlers) => handlers.fallback(() => {}), "There is already a fallback"],
  ["one for everything", (handlers) => handlers.on("*", () => {}), "fallback()"],
  ["a star in the middle", (handlers) => handlers.on("order.*.paid", () => {}), "only at the end"],
  ["a star without its dot", (handlers) => handlers.on("order*", () => {}), "only at the end"],
  ["an empty type", (handlers) => handlers.on("", () => {}), "is not an event type"],
  ["no function", (handlers) => handlers.on("x", "y" as never), "is not a function"],
])("%s is rejected", (_, act, message) => {
  const handlers = new Handlers<never>({}, ["stripe", "shop"]);
  handlers.on("order.paid", () => {});
  handlers.on("order.*", () => {});
  handlers.fallback(() => {});
  expect(() => act(handlers)).toThrow(message);
});

test("a type that is not in the catalogue is rejected with a suggestion", () => {
  const receiver = createReceiver({
    sources,
    store,
    events: { "order.paid": z.object({ total: z.number() }) },
  });
  // @ts-expect-error: no such type
  expect(() => receiver.on("order.payd", () => {})).toThrow("Did you mean order.paid?");
  expect(() => receiver.on("invoice.*", () => {})).toThrow("`events` has no type");
});

test("schemas give handlers the types of their data", () => {
  const events = {
    "order.paid": z.object({ total: z.number() }),
    "order.sent": z.object({ carrier: z.string().transform((text) => text.length) }),
  };
  const receiver = createReceiver({ sources, store, events });
  receiver.on("order.paid", ({ data, type }) => {
    expectTypeOf(data).toEqualTypeOf<{ total: number }>();
    expectTypeOf(type).toEqualTypeOf<"order.paid">();
  });
  receiver.on("order.*", (event) => {
    if (event.type === "order.sent") expectTypeOf(event.data).toEqualTypeOf<{ carrier: number }>();
  });
  receiver.fallback((event) => expectTypeOf(event).toEqualTypeOf<WebhookEvent>());
});

test("types alone give the same without checks", () => {
  const events = eventTypes<{ "order.paid": { total: number } }>();
  const receiver = createReceiver({ sources, store, events });
  receiver.on("order.paid", ({ data }) => expectTypeOf(data).toEqualTypeOf<{ total: number }>());
  // @ts-expect-error: no such type
  receiver.on("order.payd", () => {});
});

test("without a catalogue any type may be handled, and its data is unknown", () => {
  const receiver = createReceiver({ sources, store });
  receiver.on("order.paid", ({ data }, { tx }) => {
    expectTypeOf(data).toEqualTypeOf<unknown>();
    expectTypeOf(tx).toEqualTypeOf<never>();
  });
});

test("a handler of one source gets only its events, and precedes a handler of all sources", () => {
  const handlers = new Handlers<never>({}, ["stripe", "shop"]);
  const [ofStripe, ofAny, below] = [() => 1, () => 2, () => 3];
  handlers.on("invoice.paid", ofStripe, { source: "stripe" });
  expect(handlers.find({ source: "shop", type: "invoice.paid" })).toBeNull();
  handlers.on("invoice.paid", ofAny);
  handlers.on("order.*", below, { source: "shop" });
  handlers.on("order.paid", ofAny);
  expect(handlers.find({ source: "stripe", type: "invoice.paid" })).toBe(ofStripe);
  expect(handlers.find({ source: "shop", type: "invoice.paid" })).toBe(ofAny);
  expect(handlers.find({ source: "shop", type: "order.paid" })).toBe(below);
  expect(handlers.find({ source: "stripe", type: "order.paid" })).toBe(ofAny);
  expect(() => handlers.on("a.b", ofAny, { source: "strype" })).toThrow('There is no source "strype".');
  expect(() => handlers.on("invoice.paid", ofAny, { source: "stripe" })).toThrow("already has a handler");
});
