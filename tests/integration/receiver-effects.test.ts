// An event has its effect once, on every store and in every mode.
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { gate } from "../support/gate.ts";
import { describeReceivers } from "../support/receiver/receiver-harness.ts";
import { batchOf, cloudEvent, signedDelivery } from "../support/receiver/signed-delivery.ts";

describeReceivers((current) => {
  const firstStatus = () => (current().mode === "inbox" ? 202 : 200);

  test("an event that is sent twice is handled once, and the second response names the duplicate", async () => {
    const harness = current();
    const delivery = await signedDelivery({ id: "msg_1" });
    const first = await harness.send(delivery);
    expect(first).toMatchObject({
      status: firstStatus(),
      body: { status: harness.mode === "inbox" ? "accepted" : "done" },
    });
    expect(first.headers).not.toHaveProperty("posthorn-duplicate");
    await expect.poll(harness.effects).toEqual(["msg_1"]);
    await harness.untilDone(delivery);
    expect(await harness.effects()).toEqual(["msg_1"]);
    expect(harness.calls("msg_1")).toBe(1);
  });

  test("while an event is being handled a second delivery gets 503 with Retry-After, and 200 afterwards", async () => {
    const harness = current();
    const started = gate();
    const held = gate();
    harness.work = async () => {
      started.open();
      await held.opened;
    };
    const delivery = await signedDelivery({ id: "msg_1" });
    const receiver = await harness.receiver();
    const first = harness.send(delivery, receiver);
    await started.opened;
    const second = await harness.send(delivery, receiver);
    expect(second.status).toBe(503);
    expect(Number(second.headers["retry-after"])).toBeGreaterThanOrEqual(1);
    expect(Number(second.headers["retry-after"])).toBeLessThanOrEqual(60);
    held.open();
    expect((await first).status).toBe(firstStatus());
    await harness.untilDone(delivery);
    expect(await harness.effects()).toEqual(["msg_1"]);
    expect(harness.calls("msg_1")).toBe(1);
  });

  test("stop() waits for the event in flight and for the rest of its batch", async () => {
    const harness = current();
    const [started, held] = [gate(), gate()];
    harness.work = async () => {
      started.open();
      await held.opened;
    };
    const receiver = await harness.receiver();
    // The inbox claims nothing more after stop(), so the rest of a batch would stay there.
    const ids = harness.mode === "inbox" ? ["a"] : ["a", "b"];
    const answer = harness.send(await batchOf(...ids), receiver);
    await started.opened;
    let isStopped = false;
    const stopped = receiver.stop().then(() => {
      isStopped = true;
    });
    await setImmediate();
    expect(isStopped).toBe(false);
    held.open();
    await stopped;
    expect(await harness.effects()).toEqual(ids.map((id) => `batch /shop ${id}`));
    expect((await answer).status).toBe(firstStatus());
  });

  test("with the sequence guard, an event without a handler leaves no gap in its subject", async () => {
    const harness = current();
    const receiver = await harness.receiver({ order: { gapWaitMs: 60_000 } }, ["order.paid"]);
    const send = async (sequence: number, type: string) => {
      const payload = cloudEvent("1", { type, subject: "order/1", sequence: String(sequence) });
      return (await harness.send({ id: `msg_${sequence}`, payload }, receiver)).status;
    };
    expect(await send(1, "order.seen")).toBe(firstStatus());
    expect(await send(2, "order.paid")).toBe(firstStatus());
    await expect.poll(harness.effects).toEqual(["msg_2"]);
    expect(harness.calls("msg_1")).toBe(0);
  });

  test("each member of a batch is a separate message", async () => {
    const harness = current();
    const batch = await batchOf("a", "b", "b", "c");
    const answer = await harness.send(batch);
    expect(answer.status).toBe(firstStatus());
    expect(answer.body).toMatchObject({
      results: [{ id: "batch /shop a" }, { id: "batch /shop b" }, { id: "batch /shop b" }, {}],
    });
    await expect
      .poll(async () => (await harness.effects()).toSorted())
      .toEqual(["batch /shop a", "batch /shop b", "batch /shop c"]);
    const overlapping = await batchOf("b", "d");
    await expect.poll(async () => (await harness.send(overlapping)).status).toEqual(200);
    await expect
      .poll(async () => (await harness.effects()).toSorted())
      .toEqual(["batch /shop a", "batch /shop b", "batch /shop c", "batch /shop d"]);
  });
});
