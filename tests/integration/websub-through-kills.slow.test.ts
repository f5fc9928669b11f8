// kill -9 of the process that verifies, fetches or distributes for the WebSub hub, in the middle of it. The subscriber and
// the API are in this process. What a dead process had claimed is due again when its lease expires: the database's clock is
// moved.
import type { Posthorn } from "posthorn";
import { createTestInstance } from "posthorn/testing";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { openWorkerWorld, type WorkerProcess } from "../support/processes/worker-world.ts";
import { obedient, publicUrl, type Seen, startSubscriber, topicUrl } from "../support/servers/websub.ts";

const topic = topicUrl("acme", "order.paid");

async function openWorld() {
  const subscriber = await startSubscriber();
  onTestFinished(() => subscriber.close());
  const { options, open, startWorker } = await openWorkerWorld({ onTestFinished }, [], {
    publicUrl,
    websub: { externalTopics: ["*"], allowCidrs: ["127.0.0.0/8"] },
    leaseMs: 2_000,
  });
  // brings the clock that is moved
  const { advance, close } = await createTestInstance({ ...options, started: false });
  onTestFinished(close);
  const api = await open("api");
  await api.tenants.upsert("acme", { websubTopics: ["*"] });
  return {
    api,
    subscriber,
    advance,
    startWorker: async (): Promise<WorkerProcess> => {
      const worker = startWorker();
      await worker.started;
      return worker;
    },
    ask: (path: string, fields: Record<string, string> = {}) =>
      api.websub.handle(
        new URLSearchParams({
          "hub.mode": "subscribe",
          "hub.topic": topic,
          "hub.callback": subscriber.url + path,
          ...fields,
        }),
      ),
  };
}

/** Leaves requests of this worker unanswered. */
const deafTo =
  ({ name }: WorkerProcess) =>
  (seen: Seen) =>
    seen.headers["user-agent"] === name
      ? new Promise<never>(() => {})
      : (obedient(seen) as { status: number });

test("after a kill during the end of a subscription and during a handshake, both requests are repeated", {
  timeout: 60_000,
}, async () => {
  const { api, subscriber, advance, startWorker, ask } = await openWorld();
  const first = await startWorker();
  await ask("/leaving");
  await subscribed(api, 1);
  subscriber.behave("/leaving", deafTo(first));
  subscriber.behave("/asked", (seen) =>
    seen.headers["user-agent"] === first.name
      ? new Promise<never>(() => {})
      : { status: 200, headers: { "WebHook-Allowed-Origin": "*", "WebHook-Allowed-Rate": "*" } },
  );
  await ask("/leaving", { "hub.mode": "unsubscribe" });
  const url = `${subscriber.url}/asked`;
  await api.endpoints.create("acme", { url, events: ["x"], handshake: { origin: "hooks.example.com" } });
  const askedTimes = () => subscriber.seen.filter(({ method }) => method === "OPTIONS").length;
  await subscriber.until(
    "both questions",
    () => subscriber.asked("/leaving").length === 2 && askedTimes() === 1,
  );
  await first.kill();

  await api.publish({ tenant: "acme", type: "order.paid", data: 1 });
  await startWorker();
  await subscriber.until(
    "the event, since nothing has ended",
    () => subscriber.notified("/leaving").length === 1,
  );
  await advance(120_000);
  await subscriber.until(
    "both once more",
    () => subscriber.asked("/leaving").length === 3 && askedTimes() === 2,
  );
  await eventually("the end of one, and the grant of the other", async () => {
    const { data } = await api.endpoints.list("acme");
    return data.length === 1 && data[0]?.handshake?.state === "granted";
  });
  await api.publish({ tenant: "acme", type: "order.paid", data: 2 });
  await api.publish({ tenant: "acme", type: "x", data: 3 });
  await subscriber.until("what was agreed to", () => subscriber.notified("/asked").length === 1);
  expect(subscriber.notified("/leaving")).toHaveLength(1);
  expect(askedTimes()).toBe(2);
});

test("after kills during a fetch and during distribution, every subscriber gets the content", {
  timeout: 60_000,
}, async () => {
  const { api, subscriber, advance, startWorker, ask } = await openWorld();
  const first = await startWorker();
  const feed = `${subscriber.url}/feed`;
  const paths = Array.from({ length: 10 }, (_, index) => `/s${index}`);
  for (const path of paths) await ask(path, { "hub.topic": feed });
  await subscribed(api, paths.length, "posthorn.websub");

  const content = { status: 200, body: "<feed/>", headers: { "content-type": "application/atom+xml" } };
  subscriber.behave("/feed", (seen) =>
    seen.headers["user-agent"] === first.name ? new Promise(() => {}) : content,
  );
  await api.websub.handle(new URLSearchParams({ "hub.mode": "publish", "hub.url": feed }));
  await subscriber.until("the fetch", () => subscriber.asked("/feed").length === 1);
  await first.kill();

  const second = await startWorker();
  for (const path of paths.slice(5)) subscriber.behave(path, deafTo(second));
  await advance(60_000);
  await subscriber.until("the half that answers", () =>
    paths.slice(0, 5).every((path) => subscriber.notified(path).length === 1),
  );
  await subscriber.until("the half that does not", () =>
    paths.slice(5).every((path) => subscriber.notified(path).length === 1),
  );
  await second.kill();
  await startWorker();
  await subscriber.until("the other half once more", () =>
    paths.slice(5).every((path) => subscriber.notified(path).length === 2),
  );
  expect(paths.map((path) => String(subscriber.notified(path).at(-1)?.body))).toEqual(
    paths.map(() => "<feed/>"),
  );
  const { data } = await api.events.list({ tenant: "posthorn.websub" });
  expect(data).toHaveLength(1);
});

/** Polls the API, because nothing signals it. */
async function subscribed(api: Posthorn, count: number, tenant = "acme"): Promise<void> {
  await eventually(`${count} subscriptions`, async () => {
    const page = await api.endpoints.list(tenant).catch(() => ({ data: [] }));
    return page.data.length === count;
  });
}
