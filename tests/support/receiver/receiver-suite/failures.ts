// Handlers that fail, now and then or for good, and stores that are away: nothing is lost, nothing is poisoned.
import { PermanentFailure, RetryLater } from "@posthorn/receiver";
import { expect, test } from "vitest";
import { signedDelivery } from "../signed-delivery.ts";
import { type Desk, eventually, gate } from "./desk.ts";
import { batchOf } from "./effects.ts";

const HOURS_MS = 2 * 3_600_000;

export function failureTests(current: () => Desk): void {
  /** Brings a failed message to its next try, by the sender or by time. */
  const tryAgain = async (delivery: Awaited<ReturnType<typeof signedDelivery>>) => {
    const desk = current();
    if (desk.mode !== "inbox") return (await desk.send(delivery)).status;
    await desk.world.makeOlder(HOURS_MS);
    return 200;
  };

  test("a handler that fails twice and then succeeds is called three times and has its effect once", async () => {
    const desk = current();
    const delivery = await signedDelivery({ id: "msg_1" });
    desk.work = (_, { tries }) => {
      expect(tries).toBe(desk.calls("msg_1") - 1);
      if (desk.calls("msg_1") < 3) throw new Error("shop closed");
    };
    expect((await desk.send(delivery)).status).toBe(desk.mode === "inbox" ? 202 : 500);
    await eventually(() => desk.failures.length, 1);
    expect(await tryAgain(delivery)).toBe(desk.mode === "inbox" ? 200 : 500);
    await eventually(() => desk.failures.length, 2);
    expect(await tryAgain(delivery)).toBe(200);
    await eventually(desk.effects, ["msg_1"]);
    await desk.untilDone(delivery);
    expect(desk.calls("msg_1")).toBe(3);
    expect(await desk.effects()).toEqual(["msg_1"]);
    expect(desk.failures).toMatchObject([
      { message: { id: "msg_1", type: "order.paid" }, error: { message: "shop closed" }, tries: 1 },
      { tries: 2 },
    ]);
    expect(desk.dead).toEqual([]);
  });

  test("a permanent failure is a dead letter at once, acknowledged, and replayed by hand", async () => {
    const desk = current();
    const receiver = await desk.receiver();
    const delivery = await signedDelivery({ id: "msg_1" });
    desk.work = () => {
      throw new PermanentFailure("no such product");
    };
    const answer = await desk.send(delivery, receiver);
    expect(answer.status).toBe(desk.mode === "inbox" ? 202 : 200);
    await eventually(() => desk.dead.length, 1);
    expect(desk.dead).toMatchObject([{ message: { id: "msg_1" }, tries: 1 }]);
    expect(await receiver.deadLetters.count()).toBe(1);
    const [letter] = await receiver.deadLetters.list();
    expect(letter).toMatchObject({
      message: { id: "msg_1" },
      error: "PermanentFailure: no such product",
      tries: 1,
    });
    await desk.untilDone(delivery, receiver);
    expect(desk.calls("msg_1")).toBe(1);

    if (letter === undefined) throw new Error("no letter");
    await receiver.stop(); // a worker might be quicker than the replay to take what was revived
    expect(await receiver.deadLetters.replay(letter.message)).toBe("failed");
    expect(await receiver.deadLetters.count()).toBe(1);
    desk.work = () => {};
    expect(await receiver.deadLetters.replay(letter.message)).toBe("done");
    expect(await desk.effects()).toEqual(["msg_1"]);
    expect(await receiver.deadLetters.count()).toBe(0);
    expect(await receiver.deadLetters.replay(letter.message)).toBe("unknown");
  });

  test("after so many tries it is a dead letter, and not one try earlier", async () => {
    const desk = current();
    const receiver = await desk.receiver({ deadLetters: { afterTries: 2 } });
    const delivery = await signedDelivery({ id: "msg_1" });
    desk.work = () => {
      throw new Error("shop closed");
    };
    await desk.send(delivery, receiver);
    await eventually(() => desk.failures.length, 1);
    expect(await receiver.deadLetters.count()).toBe(0);
    expect(await tryAgain(delivery)).toBe(200);
    await eventually(() => desk.dead.length, 1);
    expect(await receiver.deadLetters.count()).toBe(1);
    expect(await receiver.deadLetters.discard({ source: "standard-webhooks", id: "msg_1" })).toBe(true);
    await desk.untilDone(delivery, receiver);
    expect(desk.calls("msg_1")).toBe(2);
  });

  test("a handler that asks for time gets it", async () => {
    const desk = current();
    const delivery = await signedDelivery({ id: "msg_1" });
    desk.work = () => {
      if (desk.calls("msg_1") === 1) throw new RetryLater("shop closed", { afterMs: 90_000 });
    };
    const answer = await desk.send(delivery);
    if (desk.mode === "inbox") await eventually(() => desk.failures.length, 1);
    else expect(answer).toMatchObject({ status: 503, headers: { "retry-after": "90" } });
    await desk.world.makeOlder(91_000);
    if (desk.mode !== "inbox") expect((await desk.send(delivery)).status).toBe(200);
    await eventually(desk.effects, ["msg_1"]);
  });

  test("a handler that hangs is given up, and what it wrote is undone where a transaction held it", async () => {
    const desk = current();
    const receiver = await desk.receiver({ handlerTimeoutMs: 500 });
    const delivery = await signedDelivery({ id: "msg_1" });
    desk.work = async (event, context) => {
      if (desk.calls("msg_1") > 1) return;
      if (desk.hasTransactions) await desk.world.effects?.write(context.tx, event.id);
      await new Promise(() => {});
    };
    const { status } = await desk.send(delivery, receiver);
    expect(status).toBe(desk.mode === "inbox" ? 202 : 500);
    await eventually(() => desk.failures.length, 1);
    expect(desk.failures).toMatchObject([{ error: { name: "HandlerTimeout" } }]);
    expect(await desk.effects()).toEqual([]);
    await desk.world.makeOlder(HOURS_MS);
    await desk.untilDone(delivery, receiver);
    await eventually(desk.effects, ["msg_1"]);
  });

  test("where there are transactions, what a handler does by its tx after its turn is refused and leaves nothing", async () => {
    const desk = current();
    const { effects } = desk.world;
    if (!desk.hasTransactions || effects === undefined) return;
    const retries = { firstDelayMs: HOURS_MS / 2, maxDelayMs: HOURS_MS };
    const receiver = await desk.receiver({ handlerTimeoutMs: 500, retries });
    const [late, returned] = [gate(), gate()];
    const refusals: Promise<unknown>[] = [];
    desk.work = async ({ id }, { tx }) => {
      const write = late.opened.then(() => effects.write(tx, `late ${id}`));
      refusals.push(write.then(null, (error: Error) => error.message));
      if (id === "hung" && desk.calls(id) === 1) await new Promise(() => {});
      returned.open();
    };
    await desk.send({ id: "done" }, receiver);
    await returned.opened;
    await eventually(desk.effects, ["done"]);
    const hung = await signedDelivery({ id: "hung" });
    await desk.send(hung, receiver);
    await eventually(() => desk.failures.length, 1);
    late.open();
    const refusal = expect.stringContaining("The handler has ended, and so has its transaction");
    expect(await Promise.all(refusals)).toEqual([refusal, refusal]);
    expect(await desk.effects()).toEqual(["done"]);
  });

  test("of a batch only what failed is handled again", async () => {
    const desk = current();
    const batch = await batchOf("a", "b", "c");
    desk.work = ({ id }) => {
      if (id === "batch /shop b" && desk.calls(id) === 1) throw new Error("shop closed");
    };
    const answer = await desk.send(batch);
    if (desk.mode === "inbox") {
      await eventually(() => desk.failures.length, 1);
      await desk.world.makeOlder(HOURS_MS);
    } else {
      expect(answer.status).toBe(500);
      expect(answer.body).toEqual({
        results: [
          { id: "batch /shop a", status: "done" },
          { id: "batch /shop b", status: "failed" },
          { id: "batch /shop c", status: "done" },
        ],
      });
      expect((await desk.send(batch)).status).toBe(200);
    }
    await eventually(
      async () => (await desk.effects()).toSorted(),
      ["batch /shop a", "batch /shop b", "batch /shop c"],
    );
    expect(["a", "b", "c"].map((id) => desk.calls(`batch /shop ${id}`))).toEqual([1, 2, 1]);
  });

  test("where there are transactions, a commit that fails is a failure of the handler and leaves nothing", async () => {
    const desk = current();
    const { effects } = desk.world;
    if (desk.mode === "lease" || effects === undefined) return;
    const receiver = await desk.receiver({ deadLetters: { afterTries: 1 } });
    desk.work = (_, { tx }) => effects.breakCommit(tx);
    const delivery = await signedDelivery({ id: "msg_1" });
    expect((await desk.send(delivery, receiver)).status).toBe(desk.mode === "inbox" ? 202 : 200);
    await eventually(() => desk.dead.length, 1);
    expect(await desk.effects()).toEqual([]);
    desk.work = () => {};
    await receiver.stop();
    expect(await receiver.deadLetters.replay({ source: "standard-webhooks", id: "msg_1" })).toBe("done");
    expect(await desk.effects()).toEqual(["msg_1"]);
  });

  test.each([
    ["all of it", undefined],
    ["a moment of it, when the message is claimed", ["claim", "run", "accept"]],
  ])("while the store is away (%s) nothing is acknowledged or counted as a try", async (_, methods) => {
    const desk = current();
    const delivery = await signedDelivery({ id: "msg_1" });
    const receiver = await desk.receiver({ deadLetters: { afterTries: 1 } });
    desk.watched.failWith(new Error("connection refused"), methods);
    const answer = await desk.send(delivery, receiver);
    expect(answer.status).toBe(503);
    expect(Number(answer.headers["retry-after"])).toBeGreaterThanOrEqual(1);
    expect(desk.failures.length).toBeGreaterThan(0);
    expect(desk.calls("msg_1")).toBe(0);
    desk.watched.failWith(null);
    expect((await desk.send(delivery, receiver)).status).toBe(desk.mode === "inbox" ? 202 : 200);
    await eventually(desk.effects, ["msg_1"]);
    expect(desk.dead).toEqual([]);
  });
}
