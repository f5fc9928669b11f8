// Our subscriber subscribes to a topic of our hub over HTTP.
import { createServer } from "node:http";
import { createReceiver, eventTypes, memoryStore } from "@posthorn/receiver";
import { nodeHandler } from "@posthorn/receiver/node";
import { createSubscriber, type WebSubContent } from "@posthorn/receiver/websub";
import { expect, onTestFinished, test } from "vitest";
import { listen } from "../support/servers/http.ts";
import { publicUrl, startHub, topicUrl } from "../support/servers/websub.ts";

test("an event reaches a WebSub subscriber of its topic, signed and once, until the subscription ends", async () => {
  const hub = await startHub();
  onTestFinished(() => hub.stop());
  await hub.hooks.tenants.upsert("acme", { websubTopics: ["order.paid"] });
  const server = createServer();

  const refusals: unknown[] = [];
  const store = memoryStore();
  const subscriber = createSubscriber({
    callbackUrl: `${await listen(server)}/websub`,
    store,
    idHeader: "X-Webhook-Id",
    // the hub has a public name, and is on loopback
    fetch: (input, init) => fetch(String(input).replace(publicUrl, hub.url), init),
  });
  const receiver = createReceiver({
    sources: [subscriber.source],
    store,
    events: eventTypes<{ "websub.content": WebSubContent }>(),
    onRejected: (refused) => void refusals.push(refused),
  });
  const contents: { readonly topic: string; readonly total: number }[] = [];
  receiver.on("websub.content", async ({ data, body }) => {
    contents.push({ topic: data.topic, total: JSON.parse(Buffer.from(body).toString()).data.total });
  });
  server.on("request", nodeHandler(subscriber.before(receiver)));

  const topic = topicUrl("acme", "order.paid");
  await subscriber.subscribe(topic);
  await hub.settle();
  const [subscription] = await subscriber.list();
  expect(subscription?.verified).not.toBeNull();

  for (const total of [1, 2, 1])
    await hub.hooks.publish({ tenant: "acme", type: "order.paid", data: { total } });
  await hub.hooks.publish({ tenant: "acme", type: "order.sent", data: { total: 9 } });
  await hub.settle();
  expect(contents.toSorted((a, b) => a.total - b.total)).toEqual(
    [1, 1, 2].map((total) => ({ topic, total })),
  );
  expect(refusals).toEqual([]);

  expect(await subscriber.unsubscribe(topic)).toBe(true);
  await hub.settle();
  await hub.hooks.publish({ tenant: "acme", type: "order.paid", data: { total: 4 } });
  await hub.settle();
  expect(contents).toHaveLength(3);
});
