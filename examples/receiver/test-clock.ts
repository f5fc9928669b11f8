// A clock controlled by the test, used for the sender's signatures and the receiver's tolerance.
import assert from "node:assert/strict";
import { createReceiver, memoryStore, posthorn } from "@posthorn/receiver";
import { createSender, createTestClock } from "@posthorn/receiver/testing";

const secret = process.env.WEBHOOK_SECRET ?? "";
const clock = createTestClock(new Date("2026-01-01T00:00:00Z"));
const store = memoryStore();
const receiver = createReceiver({ sources: [posthorn({ secrets: [secret] })], store, clock: clock.now });
const sender = createSender({ secret, receive: receiver.fetch, clock });

let failuresLeft = 2;
receiver.on("order.paid", () => {
  if (failuresLeft-- > 0) throw new Error("The bank is closed.");
});

export async function aDeliveryThatFailsTwiceArrivesAfterSixMinutes() {
  const startedMs = clock.now().getTime();
  const { outcome, attempts } = await sender.deliver({ type: "order.paid" });
  assert.deepEqual([outcome, attempts.length], ["delivered", 3]);
  assert.equal(clock.now().getTime() - startedMs, 6 * 60_000); // the retry delays of 1 and 5 minutes advanced the clock
}

export async function aTimestampOlderThanFiveMinutesIsRejected() {
  assert.equal((await sender.late({ type: "order.sent" }, 300)).status, 200);
  assert.equal((await sender.late({ type: "order.sent" }, 301)).status, 401);
}
