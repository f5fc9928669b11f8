// An event has its effect once: sent twice, fifty times at once, while it is being handled, within the window.
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { cloudEvent, signedDelivery } from "../signed-delivery.ts";
import { times } from "../store-world.ts";
import { type Desk, eventually, gate, WINDOW_MS } from "./desk.ts";

export function effectTests(current: () => Desk): void {
  const firstStatus = () => (current().mode === "inbox" ? 202 : 200);

  test("an event that comes twice is handled once, and the second is told to be a duplicate", async () => {
    const desk = current();
    const delivery = await signedDelivery({ id: "msg_1" });
    const first = await desk.send(delivery);
    expect(first).toMatchObject({
      status: firstStatus(),
      body: { status: desk.mode === "inbox" ? "accepted" : "done" },
    });
    expect(first.headers).not.toHaveProperty("posthorn-duplicate");
    await eventually(desk.effects, ["msg_1"]);
    await desk.untilDone(delivery);
    expect(await desk.effects()).toEqual(["msg_1"]);
    expect(desk.calls("msg_1")).toBe(1);
  });

  test("of fifty at once one is handled", async () => {
    const desk = current();
    const delivery = await signedDelivery({ id: "msg_1" });
    const receiver = await desk.receiver();
    const answers = await Promise.all(times(50, () => desk.send(delivery, receiver)));
    for (const { status } of answers) expect([200, 202, 409]).toContain(status);
    expect(answers.filter(({ body }) => /done|accepted/.test(JSON.stringify(body)))).toHaveLength(1);
    await eventually(desk.effects, ["msg_1"]);
    await desk.untilDone(delivery);
    expect(desk.calls("msg_1")).toBe(1);
  });

  test("while it is being handled a second delivery gets 409 with Retry-After, and 200 afterwards", async () => {
    const desk = current();
    const started = gate();
    const held = gate();
    desk.work = async () => {
      started.open();
      await held.opened;
    };
    const delivery = await signedDelivery({ id: "msg_1" });
    const receiver = await desk.receiver();
    const first = desk.send(delivery, receiver);
    await started.opened;
    const second = await desk.send(delivery, receiver);
    expect(second.status).toBe(409);
    expect(Number(second.headers["retry-after"])).toBeGreaterThanOrEqual(1);
    expect(Number(second.headers["retry-after"])).toBeLessThanOrEqual(60);
    held.open();
    expect((await first).status).toBe(firstStatus());
    await desk.untilDone(delivery);
    expect(await desk.effects()).toEqual(["msg_1"]);
    expect(desk.calls("msg_1")).toBe(1);
  });

  test("stopping waits for what is being handled, with what comes after it in its batch", async () => {
    const desk = current();
    const [started, held] = [gate(), gate()];
    desk.work = async () => {
      started.open();
      await held.opened;
    };
    const receiver = await desk.receiver();
    // The inbox takes nothing more, so that the rest of a batch would wait there.
    const ids = desk.mode === "inbox" ? ["a"] : ["a", "b"];
    const answer = desk.send(await batchOf(...ids), receiver);
    await started.opened;
    let isStopped = false;
    const stopped = receiver.stop().then(() => {
      isStopped = true;
    });
    await setImmediate();
    expect(isStopped).toBe(false);
    held.open();
    await stopped;
    expect(await desk.effects()).toEqual(ids.map((id) => `batch /shop ${id}`));
    expect((await answer).status).toBe(firstStatus());
  });

  test("just inside the window it is a duplicate, past it fresh", async () => {
    const desk = current();
    const delivery = await signedDelivery({ id: "msg_1" });
    await desk.send(delivery);
    await eventually(desk.effects, ["msg_1"]);
    await desk.untilDone(delivery);
    await desk.world.makeOlder(WINDOW_MS - 60_000);
    await desk.untilDone(delivery);
    expect(desk.calls("msg_1")).toBe(1);
    await desk.world.makeOlder(61_000);
    expect((await desk.send(delivery)).status).toBe(firstStatus());
    await eventually(desk.effects, ["msg_1", "msg_1"]);
  });

  test("the same id with another body is refused and reported", async () => {
    const desk = current();
    const delivery = await signedDelivery({ id: "msg_1" });
    await desk.send(delivery);
    await eventually(desk.effects, ["msg_1"]);
    await desk.untilDone(delivery);
    const forged = await desk.send({ id: "msg_1", payload: { type: "order.paid", data: { total: 2 } } });
    expect(forged).toMatchObject({ status: 422, body: { status: "other_body" } });
    expect(desk.conflicts).toEqual([{ source: "standard-webhooks", id: "msg_1", type: "order.paid" }]);
    expect(await desk.effects()).toEqual(["msg_1"]);
  });

  test("with the guard for order, a type that nobody wants is no gap in its subject", async () => {
    const desk = current();
    const receiver = await desk.receiver({ order: { gapWaitMs: 60_000 } }, ["order.paid"]);
    const send = async (sequence: number, type: string) => {
      const payload = cloudEvent("1", { type, subject: "order/1", sequence: String(sequence) });
      return (await desk.send({ id: `msg_${sequence}`, payload }, receiver)).status;
    };
    expect(await send(1, "order.seen")).toBe(firstStatus());
    expect(await send(2, "order.paid")).toBe(firstStatus());
    await eventually(desk.effects, ["msg_2"]);
    expect(desk.calls("msg_1")).toBe(0);
  });

  test("each member of a batch is a message of its own", async () => {
    const desk = current();
    const batch = await batchOf("a", "b", "b", "c");
    const answer = await desk.send(batch);
    expect(answer.status).toBe(firstStatus());
    expect(answer.body).toMatchObject({
      results: [{ id: "batch /shop a" }, { id: "batch /shop b" }, { id: "batch /shop b" }, {}],
    });
    await eventually(
      async () => (await desk.effects()).toSorted(),
      ["batch /shop a", "batch /shop b", "batch /shop c"],
    );
    const overlapping = await batchOf("b", "d");
    await eventually(async () => (await desk.send(overlapping)).status, 200);
    await eventually(
      async () => (await desk.effects()).toSorted(),
      ["batch /shop a", "batch /shop b", "batch /shop c", "batch /shop d"],
    );
  });
}

export async function batchOf(...ids: string[]) {
  const headers = { "content-type": "application/cloudevents-batch+json" };
  return signedDelivery({ id: "batch", payload: ids.map((id) => cloudEvent(id)), headers });
}
