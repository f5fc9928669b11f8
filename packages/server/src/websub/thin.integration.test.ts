import { expect, onTestFinished, test } from "vitest";
import { hubUrl, startHub, topicUrl } from "../../../../tests/support/websub/hub.ts";
import { startSubscriber } from "../../../../tests/support/websub/subscriber.ts";

test("subscribe, verify, distribute, unsubscribe", async () => {
  const hub = await startHub();
  const subscriber = await startSubscriber();
  onTestFinished(async () => {
    await subscriber.close();
    await hub.stop();
  });
  await hub.hooks.tenants.upsert("acme", { websubTopics: ["order.*"] });
  const topic = topicUrl("acme", "order.paid");
  const callback = `${subscriber.url}/cb?foo=a%20b&x`;
  const form = {
    "hub.mode": "subscribe",
    "hub.topic": topic,
    "hub.callback": callback,
    "hub.secret": "s3cret",
  };
  const taken = await hub.post(form);
  expect([taken.status, taken.text]).toEqual([202, expect.any(String)]);
  await hub.settle();
  expect(subscriber.asked("/cb")).toHaveLength(1);
  await hub.hooks.publish({ tenant: "acme", type: "order.paid", data: { n: 1 } });
  await hub.settle();
  expect(
    subscriber.notified("/cb").map(({ headers, body, url }) => ({ headers, body: body.toString(), url })),
  ).toMatchObject([
    { url: "/cb?foo=a%20b&x", headers: { link: `<${hubUrl}>; rel="hub", <${topic}>; rel="self"` } },
  ]);
  const shown = await hub.get("/websub/topics/acme/order.paid");
  expect(shown.text).toBe(subscriber.notified("/cb")[0]?.body.toString());
  await hub.post({ ...form, "hub.mode": "unsubscribe" });
  await hub.settle();
  await hub.hooks.publish({ tenant: "acme", type: "order.paid", data: { n: 2 } });
  await hub.settle();
  expect(subscriber.notified("/cb")).toHaveLength(1);
});
