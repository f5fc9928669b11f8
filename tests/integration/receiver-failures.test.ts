// Failing handlers and unavailable stores lose no event and write no effect twice, on every store and in every mode.
import { PermanentFailure } from "@posthorn/receiver";
import { nodeHandler } from "@posthorn/receiver/node";
import { expect, test } from "vitest";
import { gate } from "../support/gate.ts";
import { describeReceivers } from "../support/receiver/receiver-harness.ts";
import { batchOf, cloudEvent, signedDelivery } from "../support/receiver/signed-delivery.ts";
import { openStrictSender } from "../support/receiver/strict-sender.ts";
import { listen } from "../support/servers/http.ts";

const HOURS_MS = 2 * 3_600_000;

/** A failed message waits in the inbox until the test moves the clock. */
const longWaits = { retries: { firstDelayMs: HOURS_MS / 2, maxDelayMs: HOURS_MS / 2 } };

describeReceivers((current) => {
  /** Causes the next attempt at a failed message, by another delivery or by time. */
  const tryAgain = async (delivery: Awaited<ReturnType<typeof signedDelivery>>) => {
    const harness = current();
    if (harness.mode !== "inbox") return (await harness.send(delivery)).status;
    await harness.world.makeOlder(HOURS_MS);
    return 200;
  };

  test("a handler that fails twice and then succeeds is called three times and has its effect once", async () => {
    const harness = current();
    const delivery = await signedDelivery({ id: "msg_1" });
    harness.work = (_, { failures }) => {
      expect(failures).toBe(harness.calls("msg_1") - 1);
      if (harness.calls("msg_1") < 3) throw new Error("shop closed");
    };
    const receiver = await harness.receiver(longWaits);
    expect((await harness.send(delivery, receiver)).status).toBe(harness.mode === "inbox" ? 202 : 500);
    await expect.poll(() => harness.failures.length).toEqual(1);
    expect(await tryAgain(delivery)).toBe(harness.mode === "inbox" ? 200 : 500);
    await expect.poll(() => harness.failures.length).toEqual(2);
    expect(await tryAgain(delivery)).toBe(200);
    await expect.poll(harness.effects).toEqual(["msg_1"]);
    await harness.untilDone(delivery);
    expect(harness.calls("msg_1")).toBe(3);
    expect(await harness.effects()).toEqual(["msg_1"]);
    expect(harness.failures).toMatchObject([
      { message: { id: "msg_1", type: "order.paid" }, error: { message: "shop closed" }, failures: 1 },
      { failures: 2 },
    ]);
    expect(harness.dead).toEqual([]);
  });

  test("a sender for which 4xx is final loses nothing if its retry comes before the first handler fails", async () => {
    const harness = current();
    const [started, held] = [gate(), gate()];
    harness.work = async ({ id }) => {
      if (harness.calls(id) > 1) return;
      started.open();
      await held.opened;
      throw new Error("shop closed");
    };
    const receiver = await harness.receiver({ retries: { firstDelayMs: 1, maxDelayMs: 1 } });
    const sender = openStrictSender(
      await listen(nodeHandler(receiver)),
      await signedDelivery({ id: "msg_1" }),
    );
    expect(await sender.timeOut(started.opened)).toBe("retry");
    const retried = await sender.attempt();
    expect(retried).toMatchObject({ status: 503, verdict: "retry" });
    expect(Number(retried.retryAfter)).toBeGreaterThanOrEqual(1);
    held.open();
    await expect.poll(() => harness.failures.length).toEqual(1);
    await expect.poll(async () => (await sender.attempt()).verdict).toEqual("delivered");
    await expect.poll(harness.effects).toEqual(["msg_1"]);
    expect(harness.calls("msg_1")).toBe(2);
  });

  test("a sender for which 4xx is final loses no event that comes before its predecessor", async () => {
    const harness = current();
    const receiver = await harness.receiver({ order: { gapWaitMs: HOURS_MS } });
    const url = await listen(nodeHandler(receiver));
    const senderOf = async (sequence: number) => {
      const payload = cloudEvent("1", { subject: "order/1", sequence: String(sequence) });
      return openStrictSender(url, await signedDelivery({ id: `msg_${sequence}`, payload }));
    };
    const [first, second] = [await senderOf(1), await senderOf(2)];
    const early = await second.attempt();
    expect(early.verdict).toBe(harness.mode === "inbox" ? "delivered" : "retry");
    expect(early.status).toBe(harness.mode === "inbox" ? 202 : 503);
    expect((await first.attempt()).verdict).toBe("delivered");
    await expect.poll(async () => (await second.attempt()).verdict).toEqual("delivered");
    await expect.poll(harness.effects).toEqual(["msg_1", "msg_2"]);
  });

  test("a permanent failure is acknowledged, becomes a dead letter at once, and can be replayed", async () => {
    const harness = current();
    const receiver = await harness.receiver();
    const delivery = await signedDelivery({ id: "msg_1" });
    harness.work = () => {
      throw new PermanentFailure("no such product");
    };
    const answer = await harness.send(delivery, receiver);
    expect(answer.status).toBe(harness.mode === "inbox" ? 202 : 200);
    await expect.poll(() => harness.dead.length).toEqual(1);
    expect(harness.dead).toMatchObject([{ message: { id: "msg_1" }, failures: 1 }]);
    expect(await receiver.deadLetters.count()).toBe(1);
    const [letter] = await receiver.deadLetters.list();
    expect(letter).toMatchObject({
      message: { id: "msg_1" },
      error: "PermanentFailure: no such product",
      failures: 1,
    });
    await harness.untilDone(delivery, receiver);
    expect(harness.calls("msg_1")).toBe(1);

    if (letter === undefined) throw new Error("no letter");
    await receiver.stop(); // a worker might claim the message before the replay does
    expect(await receiver.deadLetters.replay(letter.message)).toBe("failed");
    expect(await receiver.deadLetters.count()).toBe(1);
    harness.work = () => {};
    expect(await receiver.deadLetters.replay(letter.message)).toBe("done");
    expect(await harness.effects()).toEqual(["msg_1"]);
    expect(await receiver.deadLetters.count()).toBe(0);
    expect(await receiver.deadLetters.replay(letter.message)).toBe("unknown");
  });

  test("with transactions, writes of a handler after it returned or timed out throw and leave nothing", async () => {
    const harness = current();
    const { effects } = harness.world;
    if (!harness.hasTransactions || effects === undefined) return;
    const [late, returned] = [gate(), gate()];
    const refusals: Promise<unknown>[] = [];
    harness.work = async ({ id }, { tx }) => {
      const write = late.opened.then(() => effects.write(tx, `late ${id}`));
      refusals.push(write.then(null, (error: Error) => error.message));
      if (id === "hung" && harness.calls(id) === 1) await new Promise(() => {});
      returned.open();
    };
    const unhurried = await harness.receiver();
    await harness.send({ id: "done" }, unhurried);
    await returned.opened;
    await expect.poll(harness.effects).toEqual(["done"]);
    await unhurried.stop();
    const receiver = await harness.receiver({ handlerTimeoutMs: 500, ...longWaits });
    const hung = await signedDelivery({ id: "hung" });
    await harness.send(hung, receiver);
    await expect.poll(() => harness.failures.length).toEqual(1);
    late.open();
    const refusal = expect.stringContaining("The handler has ended, and so has its transaction");
    expect(await Promise.all(refusals)).toEqual([refusal, refusal]);
    expect(await harness.effects()).toEqual(["done"]);
  });

  test("only the failed members of a batch are handled again", async () => {
    const harness = current();
    const batch = await batchOf("a", "b", "c");
    harness.work = ({ id }) => {
      if (id === "batch /shop b" && harness.calls(id) === 1) throw new Error("shop closed");
    };
    // Not by moving the clock: the leases of the others, which may still run, would expire.
    const receiver = await harness.receiver({ retries: { firstDelayMs: 1, maxDelayMs: 1 } });
    const answer = await harness.send(batch, receiver);
    if (harness.mode !== "inbox") {
      expect(answer.status).toBe(500);
      expect(answer.body).toEqual({
        results: [
          { id: "batch /shop a", status: "done" },
          { id: "batch /shop b", status: "failed" },
          { id: "batch /shop c", status: "done" },
        ],
      });
      expect((await harness.send(batch, receiver)).status).toBe(200);
    }
    await expect
      .poll(async () => (await harness.effects()).toSorted())
      .toEqual(["batch /shop a", "batch /shop b", "batch /shop c"]);
    expect(["a", "b", "c"].map((id) => harness.calls(`batch /shop ${id}`))).toEqual([1, 2, 1]);
  });

  test("with transactions, a failed commit counts as a failure of the handler and leaves nothing", async () => {
    const harness = current();
    const { effects } = harness.world;
    if (harness.mode === "lease" || effects === undefined) return;
    const receiver = await harness.receiver({ deadLetters: { afterFailures: 1 } });
    harness.work = (_, { tx }) => effects.breakCommit(tx);
    const delivery = await signedDelivery({ id: "msg_1" });
    expect((await harness.send(delivery, receiver)).status).toBe(harness.mode === "inbox" ? 202 : 200);
    await expect.poll(() => harness.dead.length).toEqual(1);
    expect(await harness.effects()).toEqual([]);
    harness.work = () => {};
    await receiver.stop();
    expect(await receiver.deadLetters.replay({ source: "standard-webhooks", id: "msg_1" })).toBe("done");
    expect(await harness.effects()).toEqual(["msg_1"]);
  });

  test.each([
    ["for every call", undefined],
    ["when the message is claimed", ["claim", "run", "accept"]],
  ])(
    "while the store is unavailable (%s) nothing is acknowledged or counted as an attempt",
    async (_, methods) => {
      const harness = current();
      const delivery = await signedDelivery({ id: "msg_1" });
      const receiver = await harness.receiver({ deadLetters: { afterFailures: 1 } });
      harness.watched.failWith(new Error("connection refused"), methods);
      const answer = await harness.send(delivery, receiver);
      expect(answer.status).toBe(503);
      expect(Number(answer.headers["retry-after"])).toBeGreaterThanOrEqual(1);
      expect(harness.failures.length).toBeGreaterThan(0);
      expect(harness.calls("msg_1")).toBe(0);
      harness.watched.failWith(null);
      expect((await harness.send(delivery, receiver)).status).toBe(harness.mode === "inbox" ? 202 : 200);
      await expect.poll(harness.effects).toEqual(["msg_1"]);
      expect(harness.dead).toEqual([]);
    },
  );
});
