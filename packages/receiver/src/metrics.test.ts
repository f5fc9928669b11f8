import { memoryStore } from "@posthorn/receiver";
import { expect, test } from "vitest";
import { openReceiver } from "../../../tests/support/receiver/open-receiver.ts";
import { signedDelivery } from "../../../tests/support/receiver/signed-delivery.ts";
import { PermanentFailure } from "./errors.ts";

test("the metrics contain the number of dead letters, until they are discarded", async () => {
  const { receiver } = openReceiver({ onDead: null });
  receiver.fallback(() => {
    throw new PermanentFailure("no such product");
  });
  for (const id of ["msg_1", "msg_2"]) await receiver.receive(await signedDelivery({ id }));
  expect(await receiver.metrics()).toBe(
    "# HELP webhook_receiver_dead_letters Dead letters in the receiver's store.\n" +
      "# TYPE webhook_receiver_dead_letters gauge\n" +
      "webhook_receiver_dead_letters 2\n",
  );
  for (const { message } of await receiver.deadLetters.list()) await receiver.deadLetters.discard(message);
  expect(await receiver.metrics()).toContain("\nwebhook_receiver_dead_letters 0\n");
});

test("a store that does not respond leaves the metrics empty and is reported", async () => {
  const error = new Error("connection refused");
  const store = memoryStore();
  const deadLetters = { ...store.deadLetters, count: () => Promise.reject(error) };
  const { receiver, failures } = openReceiver({ store: { ...store, deadLetters } });
  expect(await receiver.metrics()).toBe("");
  expect(failures).toEqual([{ message: null, error, failures: 0 }]);
});
