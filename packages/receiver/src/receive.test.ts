import { generateSecret } from "@posthorn/wire";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { z } from "zod";
import { gate } from "../../../tests/support/gate.ts";
import { openReceiver } from "../../../tests/support/receiver/open-receiver.ts";
import { cloudEvent, NOW, secret, signedDelivery } from "../../../tests/support/receiver/signed-delivery.ts";
import { claimed, defaults, messageWith } from "../../../tests/support/receiver/store-world.ts";
import { HandlerTimeout, PermanentFailure, RetryLater } from "./errors.ts";
import type { StandardSchema } from "./handle/handlers.ts";
import type { WebhookEvent } from "./model.ts";
import { MAX_ID_LENGTH, MAX_SUBJECT_LENGTH, MAX_TYPE_LENGTH } from "./request/parse-events.ts";
import { posthorn } from "./sources/posthorn.ts";
import { standardWebhooks } from "./sources/standard-webhooks.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const structured = (event: object, id?: string) =>
  signedDelivery({
    ...(id && { id }),
    payload: event,
    headers: { "content-type": "application/cloudevents+json" },
  });
const nth = (sequence: number) =>
  structured(cloudEvent("1", { subject: "order/1", sequence: String(sequence) }), `msg_${sequence}`);

test("a subject's events are applied in order: early ones get 503, late ones are dropped and reported", async () => {
  const onStale = vi.fn();
  const { receiver } = openReceiver({ order: { gapWaitMs: 60_000 }, onStale });
  const applied: (number | null)[] = [];
  receiver.fallback(({ sequence }) => void applied.push(sequence));
  const send = async (sequence: number) => {
    const { status, headers, body } = await receiver.receive(await nth(sequence));
    return [status, JSON.parse(body).status, headers["retry-after"]];
  };
  expect(await send(1)).toEqual([200, "done", undefined]);
  expect(await send(3)).toEqual([503, "gap", "8"]);
  expect(await send(2)).toEqual([200, "done", undefined]);
  expect(await send(3)).toEqual([200, "done", undefined]);
  // the wait doubles, and the last one ends with the wait for the missing event
  for (const seconds of [8, 8, 16, 28]) {
    expect(await send(5)).toEqual([503, "gap", String(seconds)]);
    vi.setSystemTime(Date.now() + seconds * 1_000);
  }
  expect(await send(5)).toEqual([200, "done", undefined]);
  expect(await send(4)).toEqual([200, "stale", undefined]);
  expect(applied).toEqual([1, 2, 3, 5]);
  expect(onStale.mock.calls).toEqual([[{ source: "standard-webhooks", id: "msg_4", type: "order.paid" }]]);
});

test("a handler that modifies the body of an event does not change the dead letter, which can be discarded", async () => {
  const { receiver } = openReceiver();
  receiver.fallback((event) => {
    event.body.fill(0);
    throw new PermanentFailure("no such product");
  });
  const delivery = await signedDelivery({ id: "msg_1" });
  await receiver.receive(delivery);
  const [letter] = await receiver.deadLetters.list();
  expect(letter?.message.body).toEqual(delivery.body);
  expect(await receiver.deadLetters.discard({ source: "standard-webhooks", id: "msg_1" })).toBe(true);
  expect(await receiver.deadLetters.count()).toBe(0);
});

test("data is the output of its schema; invalid data is 400 and not stored", async () => {
  const asynchronous = z.coerce.number().refine(async () => true);
  const events = { "order.paid": z.object({ total: asynchronous }) };
  const { receiver, store, rejected } = openReceiver({ events });
  const seen: unknown[] = [];
  receiver.on("order.paid", ({ data }) => void seen.push(data));
  const send = async (data: unknown) =>
    (await receiver.receive(await signedDelivery({ payload: { type: "order.paid", data } }))).status;
  expect(await send({ total: "12", more: true })).toBe(200);
  expect(seen).toEqual([{ total: 12 }]);
  const before = store.size;
  expect(await send({ total: "many" })).toBe(400);
  expect(rejected).toMatchObject([{ reason: "invalid_data", detail: expect.stringContaining("total: ") }]);
  expect(store.size).toBe(before);
});

test("in mode inbox invalid data is acknowledged, becomes a dead letter, and can be replayed with a corrected schema", async () => {
  const payload = { type: "order.paid", data: { total: "many" } };
  const strict = { "order.paid": z.object({ total: z.number() }) };
  const { receiver, store, rejected } = openReceiver({ mode: "inbox", events: strict });
  receiver.fallback(() => expect.unreachable());
  await receiver.start();
  expect(await receiver.receive(await signedDelivery({ payload }))).toMatchObject({ status: 202 });
  await expect.poll(() => receiver.deadLetters.count()).toBe(1);
  await receiver.stop();
  const [letter] = await receiver.deadLetters.list();
  expect(letter).toMatchObject({
    failures: 1,
    error: expect.stringContaining("does not match its schema: total: "),
  });
  expect(rejected).toEqual([]);

  const { receiver: mended } = openReceiver({ mode: "inbox", events: { "order.paid": z.unknown() }, store });
  const seen: unknown[] = [];
  mended.fallback(({ data }) => void seen.push(data));
  expect(await mended.deadLetters.replay(letter?.message ?? { source: "", id: "" })).toBe("done");
  expect(seen).toEqual([payload.data]);
});

test("a schema that throws is 500, reported with the type", async () => {
  const broken: StandardSchema = {
    "~standard": {
      version: 1,
      vendor: "test",
      validate() {
        throw new TypeError("no such field");
      },
    },
  };
  const { receiver, failures, store } = openReceiver({ events: { "order.paid": broken } });
  expect((await receiver.receive(await signedDelivery())).status).toBe(500);
  const message = "The schema of order.paid threw: TypeError: no such field";
  expect([failures, store.size]).toMatchObject([[{ message: null, error: { message } }], 0]);
});

test.each<[what: string, limit: number, payload: (text: string) => object]>([
  ["type", MAX_TYPE_LENGTH, (type) => cloudEvent("1", { type })],
  ["subject", MAX_SUBJECT_LENGTH, (subject) => cloudEvent("1", { subject })],
  ["id", MAX_ID_LENGTH, (text) => [cloudEvent(text.slice("msg_1 /shop ".length))]],
])("a %s of more than %i characters is 400", async (what, limit, payload) => {
  const { receiver, rejected } = openReceiver();
  receiver.fallback(() => {});
  for (const [length, status] of [
    [limit, 200],
    [limit + 1, 400],
  ] as const) {
    const delivery = await signedDelivery({ id: "msg_1", payload: payload("x".repeat(length)) });
    expect((await receiver.receive(delivery)).status).toBe(status);
  }
  expect(rejected).toMatchObject([
    { reason: "not_an_event", detail: expect.stringContaining(`The ${what} has more`) },
  ]);
});

test("without a signature header the body is not read", async () => {
  const { receiver, rejected } = openReceiver();
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
  expect([isRead, rejected]).toMatchObject([false, [{ reason: "header_missing" }]]);
});

test("a request whose source throws in `parse` is 400", async () => {
  const source = standardWebhooks({ secrets: [secret] });
  const parse = () => JSON.parse("{");
  const { receiver } = openReceiver({ sources: [{ ...source, parse }] });
  expect((await receiver.receive(await signedDelivery())).status).toBe(400);
});

test("a type with a character that a database cannot store is 400", async () => {
  const { receiver } = openReceiver();
  for (const type of ["a\u0000b", "a\ud800"]) {
    expect((await receiver.receive(await signedDelivery({ payload: { type, data: 1 } }))).status).toBe(400);
  }
});

test("a type without a handler is acknowledged, reported and not stored", async () => {
  const onUnhandled = vi.fn();
  const { receiver, store } = openReceiver({ onUnhandled });
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

test("RetryLater is 409 for Posthorn and 503 for other senders", async () => {
  for (const [source, status] of [
    [posthorn({ secrets: [secret] }), 409],
    [standardWebhooks({ secrets: [secret] }), 503],
  ] as const) {
    const { receiver } = openReceiver({ sources: [source] });
    receiver.fallback(() => {
      throw new RetryLater("The bank is closed.", { afterMs: 90_000 });
    });
    const payload = { id: "evt_1", type: "order.paid", data: {} };
    const response = await receiver.receive(await signedDelivery({ id: "evt_1", payload }));
    expect(response).toMatchObject({ status, headers: { "retry-after": "90" } });
  }
});

test("hooks that throw or reject have no effect", async () => {
  const throwing = () => {
    throw new Error("hook");
  };
  const rejecting = async () => throwing();
  for (const hook of [throwing, rejecting]) {
    const hooks = { onRejected: hook, onConflict: hook, onFailure: hook, onDead: hook, onUnhandled: hook };
    const { receiver } = openReceiver({ ...hooks, deadLetters: { afterFailures: 1 } });
    receiver.on("order.paid", throwing);
    const delivery = await signedDelivery({ id: "msg_1" });
    expect((await receiver.receive(delivery)).status).toBe(200);
    expect((await receiver.receive({ ...delivery, headers: {} })).status).toBe(401);
    const conflict = await signedDelivery({ id: "msg_1", payload: { type: "order.paid", data: 2 } });
    expect((await receiver.receive(conflict)).status).toBe(422);
    expect((await receiver.receive(await signedDelivery({ payload: { type: "x" } }))).status).toBe(200);
  }
});

test("a lost lease aborts the handler's signal, and the delivery is not acknowledged", async () => {
  const { receiver, store } = openReceiver();
  const [started, held] = [gate(), gate()];
  let signal: AbortSignal | undefined;
  receiver.fallback(async (_, context) => {
    signal = context.signal;
    started.open();
    await held.opened;
  });
  const response = receiver.receive(await signedDelivery());
  await started.opened;
  vi.setSystemTime(Date.now() + defaults.leaseMs);
  const [other] = await store.claimDue(1, defaults);
  await vi.advanceTimersByTimeAsync(defaults.leaseMs / 3);
  expect(signal?.aborted).toBe(true);
  held.open();
  expect(await response).toMatchObject({ status: 503, headers: { "retry-after": "60" } });
  expect(other !== undefined && (await store.complete(other))).toBe(true);
});

test("reading `tx` without a transaction throws with the reason", async () => {
  const { receiver, failures } = openReceiver();
  receiver.fallback((_, { tx }) => tx);
  expect((await receiver.receive(await signedDelivery())).status).toBe(500);
  expect(failures).toMatchObject([{ error: { message: expect.stringContaining("`tx` is not available") } }]);
});

test("the source that signed is used, and a wrong timestamp is reported before a wrong signature", async () => {
  const other = generateSecret();
  const sources = [
    standardWebhooks({ name: "old shop", secrets: [other] }),
    standardWebhooks({ name: "new shop", secrets: [secret] }),
  ];
  const { receiver, rejected } = openReceiver({ sources });
  const seen: WebhookEvent[] = [];
  receiver.fallback((event) => void seen.push(event));
  expect((await receiver.receive(await signedDelivery({ id: "msg_1" }))).status).toBe(200);
  expect((await receiver.receive(await signedDelivery({ id: "msg_1", secrets: [other] }))).status).toBe(200);
  expect(seen.map(({ source }) => source)).toEqual(["new shop", "old shop"]);
  await receiver.receive(await signedDelivery({ atSeconds: NOW.getTime() / 1000 - 1_000 }));
  await receiver.receive(await signedDelivery({ secrets: [generateSecret()] }));
  await receiver.receive({ ...(await signedDelivery()), headers: {} });
  expect(rejected).toMatchObject([
    { source: "new shop", reason: "too_old" },
    { source: "old shop", reason: "no_match" },
    { source: null, reason: "header_missing", detail: "There is no signature header of old shop, new shop." },
  ]);
});

test("a message from the inbox is parsed as it was sent, including the headers of CloudEvents' binary mode", async () => {
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
  const { receiver } = openReceiver({ mode: "inbox", inbox: { pollMs: 10 }, sources });
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

/** A receiver with one dead letter, whose handler succeeds from now on. */
async function openWithDeadLetter() {
  const opened = openReceiver({ order: { gapWaitMs: 60_000 }, onDead: null });
  let isBroken = true;
  opened.receiver.fallback(() => {
    if (isBroken) throw new PermanentFailure("no such order");
  });
  await opened.receiver.receive(await nth(1));
  isBroken = false;
  return { ...opened, key: { source: "standard-webhooks", id: "msg_1" } };
}

test("a dead letter that cannot be claimed now remains one", async () => {
  const { receiver, store, key } = await openWithDeadLetter();
  const holder = messageWith({ source: key.source, subject: "/shop order/1", sequence: 1 });
  const other = await claimed(store, holder, { ...defaults, order: { gapWaitMs: 0 } });
  expect(await receiver.deadLetters.replay(key)).toBe("skipped");
  expect(await receiver.deadLetters.count()).toBe(1);
  await store.fail(other, { error: "no", next: { kind: "release" } });
  expect(await receiver.deadLetters.replay(key)).toBe("done");
});

test("a replay that was interrupted by a crash can be repeated", async () => {
  const { receiver, store, key } = await openWithDeadLetter();
  await store.deadLetters.requeue(key);
  expect(await receiver.deadLetters.replay(key)).toBe("done");
  expect(await receiver.deadLetters.replay(key)).toBe("unknown");
});

test("a signal that is read only after the time limit is aborted", async () => {
  const { receiver } = openReceiver({ handlerTimeoutMs: 5_000 });
  let read: (() => AbortSignal) | undefined;
  receiver.fallback((_, context) => {
    read = () => context.signal;
    return new Promise(() => {});
  });
  const response = receiver.receive(await signedDelivery());
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await response).toMatchObject({ status: 500 });
  expect(read?.().reason).toBeInstanceOf(HandlerTimeout);
  expect(read?.()).toBe(read?.());
});

test("a handler that hangs is aborted after its time limit and not run again before its lease expires", async () => {
  const { receiver, failures } = openReceiver({ handlerTimeoutMs: 5_000 });
  const signals: AbortSignal[] = [];
  receiver.fallback((_, { signal }) => {
    signals.push(signal);
    return signals.length === 1 ? new Promise(() => {}) : undefined;
  });
  const delivery = await signedDelivery();
  const response = receiver.receive(delivery);
  await vi.advanceTimersByTimeAsync(4_999);
  expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  await vi.advanceTimersByTimeAsync(1);
  expect(signals.map(({ reason }) => reason)).toEqual([expect.any(HandlerTimeout)]);
  expect(await response).toMatchObject({ status: 500 });
  expect(failures).toMatchObject([{ error: { name: "HandlerTimeout" }, failures: 1 }]);
  expect(await receiver.receive(delivery)).toMatchObject({ status: 503 });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await receiver.receive(delivery)).toMatchObject({ status: 200 });
  expect(signals).toHaveLength(2);
});
