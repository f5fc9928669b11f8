// What a receiver makes of a request beyond the suite of all stores: order, schemas, hooks, leases that are lost, several sources.
import { generateSecret } from "@posthorn/wire";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { z } from "zod";
import { gate } from "../../../tests/support/receiver/receiver-suite/desk.ts";
import { cloudEvent, NOW, secret, signedDelivery } from "../../../tests/support/receiver/signed-delivery.ts";
import { claimed, messageWith, terms } from "../../../tests/support/receiver/store-world.ts";
import { BodyNotRaw, EndpointGone, HandlerTimeout, PermanentFailure, RetryLater } from "./errors.ts";
import type { StandardSchema } from "./handle/handlers.ts";
import type { FailureInfo, RejectedRequest } from "./hooks/hooks.ts";
import type { WebhookEvent } from "./model.ts";
import type { ReceiverOptions } from "./options.ts";
import { createReceiver } from "./receiver.ts";
import { MAX_ID_LENGTH, MAX_SUBJECT_LENGTH, MAX_TYPE_LENGTH } from "./request/parse-events.ts";
import { posthorn } from "./sources/posthorn.ts";
import { standardWebhooks } from "./sources/standard-webhooks.ts";
import { memoryStore } from "./stores/memory/memory-store.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function open(options: Partial<ReceiverOptions<never, Record<string, StandardSchema>>> = {}) {
  const store = memoryStore();
  const refused: RejectedRequest[] = [];
  const failures: FailureInfo[] = [];
  const receiver = createReceiver({
    sources: [standardWebhooks({ secrets: [secret] })],
    store,
    clock: () => NOW,
    onRejected: (refusal) => refused.push(refusal),
    onFailure: (failure) => failures.push(failure),
    ...options,
  });
  return { receiver, store, refused, failures };
}

const structured = (event: object, id?: string) =>
  signedDelivery({
    ...(id && { id }),
    payload: event,
    headers: { "content-type": "application/cloudevents+json" },
  });
const nth = (sequence: number) =>
  structured(cloudEvent("1", { subject: "order/1", sequence: String(sequence) }), `msg_${sequence}`);

test("a subject's events are applied in order: early ones are told to come again, late ones are dropped", async () => {
  const { receiver, store } = open({ order: { gapWaitMs: 60_000 } });
  const applied: (number | null)[] = [];
  receiver.fallback(({ sequence }) => void applied.push(sequence));
  const send = async (sequence: number) => {
    const { status, headers, body } = await receiver.receive(await nth(sequence));
    return [status, JSON.parse(body).status, headers["retry-after"]];
  };
  expect(await send(1)).toEqual([200, "done", undefined]);
  expect(await send(3)).toEqual([409, "gap", "60"]);
  expect(await send(2)).toEqual([200, "done", undefined]);
  expect(await send(3)).toEqual([200, "done", undefined]);
  expect(await send(5)).toEqual([409, "gap", "60"]);
  vi.setSystemTime(Date.now() + 60_000);
  expect(await send(5)).toEqual([200, "done", undefined]);
  expect(await send(4)).toEqual([200, "stale", undefined]);
  expect(applied).toEqual([1, 2, 3, 5]);
  expect(store.size).toBeGreaterThan(0);
});

test("two sources of CloudEvents that call a subject the same count apart", async () => {
  const { receiver, store } = open({ order: { gapWaitMs: 60_000 }, mode: "inbox" });
  const applied: (string | number | null)[][] = [];
  receiver.fallback(({ payload, subject, sequence }) => {
    applied.push([(payload as { source: string }).source, subject, sequence]);
    if (sequence === 2) throw new PermanentFailure("no such product");
  });
  for (const [source, sequence] of [
    ["/shop", 1],
    ["/shop", 2],
    ["/bank", 1],
  ] as const) {
    const event = cloudEvent("1", { source, subject: "order/1", sequence: String(sequence) });
    await receiver.receive(await structured(event, `msg_${source.slice(1)}_${sequence}`));
  }
  await receiver.start();
  await vi.advanceTimersByTimeAsync(5_000);
  await receiver.stop();
  expect(applied.toSorted()).toEqual([
    ["/bank", "order/1", 1],
    ["/shop", "order/1", 1],
    ["/shop", "order/1", 2],
  ]);
  expect(await store.deadLetters.list({ limit: 10 })).toMatchObject([
    { message: { subject: "/shop order/1", sequence: 2 } },
  ]);
});

test("with the guard, a type that nobody wants is applied without a handler and leaves no gap", async () => {
  const unhandled: string[] = [];
  const { receiver } = open({
    order: { gapWaitMs: 60_000 },
    onUnhandled: ({ id }) => unhandled.push(id),
  });
  const applied: (number | null)[] = [];
  receiver.on("order.paid", ({ sequence }) => void applied.push(sequence));
  const send = async (sequence: number, type: string) => {
    const event = cloudEvent("1", { type, subject: "order/1", sequence: String(sequence) });
    return (await receiver.receive(await structured(event, `msg_${sequence}`))).status;
  };
  expect([await send(1, "order.seen"), await send(2, "order.paid")]).toEqual([200, 200]);
  expect([applied, unhandled]).toEqual([[2], ["msg_1"]]);
});

test("a handler that writes into the body of an event changes nothing of what is kept", async () => {
  const { receiver } = open();
  receiver.fallback((event) => {
    event.body.fill(0);
    throw new PermanentFailure("no such product");
  });
  const delivery = await signedDelivery({ id: "msg_1" });
  await receiver.receive(delivery);
  const [letter] = await receiver.deadLetters.list();
  expect(letter?.message.body).toEqual(delivery.body);
});

test("a dead letter brought back after a later one of its subject was applied is skipped", async () => {
  const { receiver } = open({ order: { gapWaitMs: 0 } });
  const applied: (number | null)[] = [];
  receiver.fallback(({ sequence }) => {
    if (sequence === 1) throw new PermanentFailure("no such product");
    applied.push(sequence);
  });
  await receiver.receive(await nth(1));
  await receiver.receive(await nth(2));
  const [letter] = await receiver.deadLetters.list();
  expect(await receiver.deadLetters.replay(letter?.message ?? { source: "", id: "" })).toBe("skipped");
  expect(await receiver.deadLetters.count()).toBe(0);
  expect(applied).toEqual([2]);
});

test("data is what its schema made of it; data that does not fit is 400 and never kept", async () => {
  const events = { "order.paid": z.object({ total: z.coerce.number() }) };
  const { receiver, store, refused } = open({ events });
  const seen: unknown[] = [];
  receiver.on("order.paid", ({ data }) => void seen.push(data));
  const send = async (data: unknown) =>
    (await receiver.receive(await signedDelivery({ payload: { type: "order.paid", data } }))).status;
  expect(await send({ total: "12", more: true })).toBe(200);
  expect(seen).toEqual([{ total: 12 }]);
  const before = store.size;
  expect(await send({ total: "many" })).toBe(400);
  expect(refused).toMatchObject([{ reason: "invalid_data", detail: expect.stringContaining("total: ") }]);
  expect(store.size).toBe(before);
});

test("in the inbox data that does not fit is acknowledged, kept as a dead letter, and replayed when the schema is mended", async () => {
  const payload = { type: "order.paid", data: { total: "many" } };
  const strict = { "order.paid": z.object({ total: z.number() }) };
  const { receiver, store, refused } = open({ mode: "inbox", events: strict });
  receiver.fallback(() => expect.unreachable());
  await receiver.start();
  expect(await receiver.receive(await signedDelivery({ payload }))).toMatchObject({ status: 202 });
  await expect.poll(() => receiver.deadLetters.count()).toBe(1);
  await receiver.stop();
  const [letter] = await receiver.deadLetters.list();
  expect(letter).toMatchObject({
    tries: 1,
    error: expect.stringContaining("does not match its schema: total: "),
  });
  expect(refused).toEqual([]);

  const { receiver: mended } = open({ mode: "inbox", events: { "order.paid": z.unknown() }, store });
  const seen: unknown[] = [];
  mended.fallback(({ data }) => void seen.push(data));
  expect(await mended.deadLetters.replay(letter?.message ?? { source: "", id: "" })).toBe("done");
  expect(seen).toEqual([payload.data]);
});

test("a schema that throws is no mistake of the sender's: 500, and told with the type", async () => {
  const broken: StandardSchema = {
    "~standard": {
      version: 1,
      vendor: "test",
      validate() {
        throw new TypeError("no such field");
      },
    },
  };
  const { receiver, failures, store } = open({ events: { "order.paid": broken } });
  expect((await receiver.receive(await signedDelivery())).status).toBe(500);
  const message = "The schema of order.paid threw: TypeError: no such field";
  expect([failures, store.size]).toMatchObject([[{ message: null, error: { message } }], 0]);
});

test("a schema that asks elsewhere is waited for", async () => {
  const later: StandardSchema<string> = {
    "~standard": { version: 1, vendor: "test", validate: async (value) => ({ value: `checked ${value}` }) },
  };
  const { receiver } = open({ events: { "order.paid": later } });
  const seen: unknown[] = [];
  receiver.on("order.paid", ({ data }) => void seen.push(data));
  await receiver.receive(await signedDelivery({ payload: { type: "order.paid", data: "1" } }));
  expect(seen).toEqual(["checked 1"]);
});

test.each<[what: string, limit: number, event: (text: string) => object]>([
  ["type", MAX_TYPE_LENGTH, (type) => cloudEvent("1", { type })],
  ["subject", MAX_SUBJECT_LENGTH, (subject) => cloudEvent("1", { subject })],
])("a longer %s than %i characters is 400", async (what, limit, event) => {
  const { receiver, refused } = open();
  receiver.fallback(() => {});
  expect((await receiver.receive(await structured(event("x".repeat(limit))))).status).toBe(200);
  expect((await receiver.receive(await structured(event("x".repeat(limit + 1))))).status).toBe(400);
  expect(refused).toMatchObject([
    { reason: "not_an_event", detail: expect.stringContaining(`The ${what} has more`) },
  ]);
});

test("a longer id than 512 characters is 400", async () => {
  const { receiver, refused } = open();
  receiver.fallback(() => {});
  const statusOf = async (length: number) => {
    const payload = [cloudEvent("x".repeat(length - "msg_1 /shop ".length))];
    return (await receiver.receive(await signedDelivery({ id: "msg_1", payload }))).status;
  };
  expect(await statusOf(MAX_ID_LENGTH)).toBe(200);
  expect(await statusOf(MAX_ID_LENGTH + 1)).toBe(400);
  expect(refused).toMatchObject([{ detail: expect.stringContaining("The id has more") }]);
});

test("without a signature header the body is not read", async () => {
  const { receiver, refused } = open();
  let isRead = false;
  const body = (async function* () {
    isRead = true;
    yield new Uint8Array(1);
  })();
  const { url, headers } = await signedDelivery();
  const { "webhook-signature": _, ...unsigned } = headers;
  expect(await receiver.receive({ method: "POST", url, headers: unsigned, body })).toMatchObject({
    status: 401,
  });
  expect([isRead, refused]).toMatchObject([false, [{ reason: "header_missing" }]]);
});

test("a source whose `parse` throws, as of JSON nested too deeply, is answered with 400", async () => {
  const source = standardWebhooks({ secrets: [secret] });
  const parse = () => JSON.parse("{");
  const { receiver } = open({ sources: [{ ...source, parse }] });
  expect((await receiver.receive(await signedDelivery())).status).toBe(400);
});

test("a type with a character that a database cannot keep is 400", async () => {
  const { receiver } = open();
  for (const type of ["a\u0000b", "a\ud800"]) {
    expect((await receiver.receive(await signedDelivery({ payload: { type, data: 1 } }))).status).toBe(400);
  }
});

test("a type that nobody wants is acknowledged, told of, and not kept", async () => {
  const onUnhandled = vi.fn();
  const { receiver, store } = open({ onUnhandled });
  receiver.on("invoice.paid", () => {});
  const { status, body } = await receiver.receive(await signedDelivery({ id: "msg_1" }));
  expect([status, JSON.parse(body)]).toEqual([200, { status: "ignored" }]);
  expect(onUnhandled).toHaveBeenCalledExactlyOnceWith({
    source: "standard-webhooks",
    id: "msg_1",
    type: "order.paid",
  });
  expect(store.size).toBe(0);
});

test("a handler that wants nothing more answers 410", async () => {
  const { receiver } = open();
  receiver.fallback(() => {
    throw new EndpointGone("closed for good");
  });
  expect((await receiver.receive(await signedDelivery())).status).toBe(410);
});

test("a handler that asks for time asks it of Posthorn for its event, and of others by 503", async () => {
  const sources = [posthorn({ secrets: [secret] }), standardWebhooks({ secrets: [secret] })];
  for (const [source, status] of [
    [sources[0], 409],
    [sources[1], 503],
  ] as const) {
    const { receiver } = open({ sources: source ? [source] : [] });
    receiver.fallback(() => {
      throw new RetryLater("The bank is closed.", { afterMs: 90_000 });
    });
    const payload = { id: "evt_1", type: "order.paid", data: {} };
    const answer = await receiver.receive(await signedDelivery({ id: "evt_1", payload }));
    expect(answer).toMatchObject({ status, headers: { "retry-after": "90" } });
  }
});

test("hooks that throw, now or later, harm nothing", async () => {
  const throwing = () => {
    throw new Error("hook");
  };
  const rejecting = async () => throwing();
  for (const hook of [throwing, rejecting]) {
    const hooks = { onRejected: hook, onConflict: hook, onFailure: hook, onDead: hook, onUnhandled: hook };
    const { receiver } = open({ ...hooks, deadLetters: { afterTries: 1 } });
    receiver.on("order.paid", throwing);
    const delivery = await signedDelivery({ id: "msg_1" });
    expect((await receiver.receive(delivery)).status).toBe(200);
    expect((await receiver.receive({ ...delivery, headers: {} })).status).toBe(401);
    const conflict = await signedDelivery({ id: "msg_1", payload: { type: "order.paid", data: 2 } });
    expect((await receiver.receive(conflict)).status).toBe(422);
    expect((await receiver.receive(await signedDelivery({ payload: { type: "x" } }))).status).toBe(200);
  }
});

test("a handler that outlives a lost lease is told by its signal, and its delivery is not acknowledged", async () => {
  const { receiver, store } = open();
  const [started, held] = [gate(), gate()];
  let signal: AbortSignal | undefined;
  receiver.fallback(async (_, context) => {
    signal = context.signal;
    started.open();
    await held.opened;
  });
  const answer = receiver.receive(await signedDelivery());
  await started.opened;
  vi.setSystemTime(Date.now() + terms.leaseMs);
  const [other] = await store.claimDue(1, terms);
  await vi.advanceTimersByTimeAsync(terms.leaseMs / 3);
  expect(signal?.aborted).toBe(true);
  held.open();
  expect(await answer).toMatchObject({ status: 409, headers: { "retry-after": "60" } });
  expect(other !== undefined && (await store.complete(other))).toBe(true);
});

test("a handler that writes in a transaction where there is none is told why", async () => {
  const { receiver, failures } = open();
  receiver.fallback((_, { tx }) => tx);
  expect((await receiver.receive(await signedDelivery())).status).toBe(500);
  expect(failures).toMatchObject([{ error: { message: expect.stringContaining("`tx` is not available") } }]);
});

test("a body that something else has read is 500 with the fix in the log, not 401", async () => {
  const { receiver, failures } = open();
  const gone = new BodyNotRaw("express.json() ran first", "Put it after.");
  const body = { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(gone) }) };
  expect((await receiver.receive({ ...(await signedDelivery()), body })).status).toBe(500);
  expect(failures).toEqual([{ message: null, error: gone, tries: 0 }]);
});

test("of several sources the one that signed vouches, and a stale signature is told before a wrong one", async () => {
  const other = generateSecret();
  const sources = [
    standardWebhooks({ name: "old shop", secrets: [other] }),
    standardWebhooks({ name: "new shop", secrets: [secret] }),
  ];
  const { receiver, refused } = open({ sources });
  const seen: WebhookEvent[] = [];
  receiver.fallback((event) => void seen.push(event));
  expect((await receiver.receive(await signedDelivery({ id: "msg_1" }))).status).toBe(200);
  expect((await receiver.receive(await signedDelivery({ id: "msg_1", secrets: [other] }))).status).toBe(200);
  expect(seen.map(({ source }) => source)).toEqual(["new shop", "old shop"]);
  await receiver.receive(await signedDelivery({ atSeconds: NOW.getTime() / 1000 - 1_000 }));
  await receiver.receive(await signedDelivery({ secrets: [generateSecret()] }));
  await receiver.receive({ ...(await signedDelivery()), headers: {} });
  expect(refused).toMatchObject([
    { source: "new shop", reason: "too_old" },
    { source: "old shop", reason: "no_match" },
    { source: null, reason: "header_missing", detail: "There is no signature header of old shop, new shop." },
  ]);
});

test("an inbox reads a message again as it was sent, headers of CloudEvents' binary mode among them", async () => {
  vi.useRealTimers();
  const other = generateSecret();
  const sources = [
    standardWebhooks({ secrets: [secret] }),
    posthorn({
      name: "binary",
      schemes: ["standard-webhooks"],
      secrets: [other],
      format: "cloudevents-binary",
    }),
  ];
  const { receiver } = open({ mode: "inbox", inbox: { pollMs: 10 }, sources });
  const seen: WebhookEvent[] = [];
  receiver.fallback((event) => void seen.push(event));
  const headers = {
    "ce-specversion": "1.0",
    "ce-id": "1",
    "ce-source": "/shop",
    "ce-type": "order.paid",
    "ce-subject": "Euro%20%E2%82%AC",
    "content-type": "text/plain",
  };
  await receiver.start();
  const body = new TextEncoder().encode("no JSON");
  await receiver.receive(await signedDelivery({ id: "msg_1", secrets: [other], body, headers }));
  const payload = [cloudEvent("2"), cloudEvent("3")];
  await receiver.receive(await signedDelivery({ id: "msg_2", payload }));
  await expect.poll(() => seen.length, { interval: 5 }).toBe(3);
  await receiver.stop();
  expect(seen).toMatchObject([
    { source: "binary", id: "msg_1", type: "order.paid", subject: "Euro €", data: "no JSON" },
    { id: "msg_2 /shop 2", data: { id: "2" } },
    { id: "msg_2 /shop 3", data: { id: "3" } },
  ]);
});

test("`fetch` can be taken off the receiver and handed to a framework", async () => {
  const { fetch } = open().receiver;
  const { url, headers, body } = await signedDelivery();
  const response = await fetch(new Request(url, { method: "POST", headers, body }));
  expect([response.status, await response.json()]).toEqual([200, { status: "ignored" }]);
});

test("a dead letter that cannot be taken now stays one", async () => {
  const { receiver, store } = open({ order: { gapWaitMs: 60_000 }, onDead() {} });
  let isBroken = true;
  receiver.fallback(() => {
    if (isBroken) throw new PermanentFailure("no such order");
  });
  await receiver.receive(await nth(1));
  isBroken = false;
  const key = { source: "standard-webhooks", id: "msg_1" };
  const holder = messageWith({ source: key.source, subject: "/shop order/1", sequence: 1 });
  const other = await claimed(store, holder, { ...terms, order: { gapWaitMs: 0 } });
  expect(await receiver.deadLetters.replay(key)).toBe("skipped");
  expect(await receiver.deadLetters.count()).toBe(1);
  await store.fail(other, { error: "no", next: { kind: "release" } });
  expect(await receiver.deadLetters.replay(key)).toBe("done");
});

test("a replay that a crash cut short can be asked for again", async () => {
  const { receiver, store } = open({ onDead() {} });
  let isBroken = true;
  receiver.fallback(() => {
    if (isBroken) throw new PermanentFailure("no such order");
  });
  await receiver.receive(await signedDelivery({ id: "msg_1" }));
  isBroken = false;
  const key = { source: "standard-webhooks", id: "msg_1" };
  await store.deadLetters.requeue(key);
  expect(await receiver.deadLetters.replay(key)).toBe("done");
  expect(await receiver.deadLetters.replay(key)).toBe("unknown");
});

test("a handler that hangs is given up, told by its signal, and not run again before its lease is over", async () => {
  const { receiver, failures } = open({ handlerTimeoutMs: 5_000 });
  const signals: AbortSignal[] = [];
  receiver.fallback((_, { signal }) => {
    signals.push(signal);
    return signals.length === 1 ? new Promise(() => {}) : undefined;
  });
  const delivery = await signedDelivery();
  const answer = receiver.receive(delivery);
  await vi.advanceTimersByTimeAsync(4_999);
  expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  await vi.advanceTimersByTimeAsync(1);
  expect(signals.map(({ reason }) => reason)).toEqual([expect.any(HandlerTimeout)]);
  expect(await answer).toMatchObject({ status: 500 });
  expect(failures).toMatchObject([{ error: { name: "HandlerTimeout" }, tries: 1 }]);
  expect(await receiver.receive(delivery)).toMatchObject({ status: 409 });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await receiver.receive(delivery)).toMatchObject({ status: 200 });
  expect(signals).toHaveLength(2);
});

test("a delivery that is dropped as stale is told of", async () => {
  const onStale = vi.fn();
  const { receiver } = open({ order: { gapWaitMs: 0 }, onStale });
  receiver.fallback(() => {});
  await receiver.receive(await nth(2));
  expect(JSON.parse((await receiver.receive(await nth(1))).body)).toEqual({ status: "stale" });
  expect(onStale.mock.calls).toEqual([[{ source: "standard-webhooks", id: "msg_1", type: "order.paid" }]]);
});

test("a sender triggers no handler that is another's", async () => {
  const sources = [
    standardWebhooks({ secrets: [secret], name: "shop" }),
    standardWebhooks({ secrets: [generateSecret()], name: "bank" }),
  ];
  const { receiver } = open({ sources });
  const called: string[] = [];
  receiver.on("order.paid", () => void called.push("bank"), { source: "bank" });
  expect(JSON.parse((await receiver.receive(await signedDelivery())).body)).toEqual({ status: "ignored" });
  receiver.on("order.paid", () => void called.push("shop"), { source: "shop" });
  await receiver.receive(await signedDelivery());
  expect(called).toEqual(["shop"]);
});
