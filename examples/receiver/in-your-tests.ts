// Your own tests, with any runner.
import assert from "node:assert/strict";
import { createSender, signedRequest } from "@posthorn/receiver/testing";
import { receiver } from "./receiver.ts";

const secret = process.env.WEBHOOK_SECRET ?? "";
const order = { type: "order.paid", data: { total: 12 } };

export async function anOrderIsHandled() {
  const response = await receiver.fetch(await signedRequest({ secret, ...order }));
  assert.equal(response.status, 200);
}

const sender = createSender({ secret, receive: receiver.fetch });

export async function aDuplicateIsHandledOnce() {
  const [, second] = await sender.duplicate(order);
  assert.equal(second?.isDuplicate, true);
}

export async function aChangedByteIsRejected() {
  assert.equal((await sender.tamper(order)).status, 401);
}

export async function aFailedDeliveryIsRetried() {
  const { outcome } = await sender.deliver(order);
  assert.equal(outcome, "delivered");
}
