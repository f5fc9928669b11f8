// kill -9 of the process that verifies, renews, fetches or distributes for the WebSub hub, in the middle of it. The
// subscriber and the API live in this process and are never killed. What a dead process had claimed is due again when its
// time is over: the database's clock is moved there.
import { createHmac, randomBytes } from "node:crypto";
import { createPosthorn, type Posthorn, type PosthornOptions } from "posthorn";
import { createTestInstance } from "posthorn/testing";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { createMigratedDatabase } from "../support/postgres.ts";
import { publicUrl, topicUrl } from "../support/websub/hub.ts";
import { obedient, type Seen, type Subscriber, startSubscriber } from "../support/websub/subscriber.ts";
import { startWorker, type WorkerProcess } from "../support/worker-process.ts";

const topic = topicUrl("acme", "order.paid");

interface World {
  readonly api: Posthorn;
  readonly subscriber: Subscriber;
  readonly advance: (ms: number) => Promise<void>;
  readonly raise: () => Promise<WorkerProcess>;
  readonly ask: (path: string, fields?: Record<string, string>) => Promise<unknown>;
}

async function openWorld(): Promise<World> {
  const database = await createMigratedDatabase();
  const options: PosthornOptions = {
    database: database.connectionString,
    encryptionKeys: `k:${randomBytes(32).toString("base64")}`,
    allowHttp: true,
    allowCidrs: ["127.0.0.0/8"],
    publicUrl,
    websub: { externalTopics: ["*"], allowCidrs: ["127.0.0.0/8"] },
    leaseMs: 2_000,
  };
  // brings the clock that is moved
  const { advance, close } = await createTestInstance({ ...options, started: false });
  const api = createPosthorn(options);
  await api.start({ role: "api" });
  await api.tenants.upsert("acme", { websubTopics: ["*"] });
  const subscriber = await startSubscriber();
  const workers: WorkerProcess[] = [];
  onTestFinished(async () => {
    for (const worker of workers) if (!worker.hasEnded) await worker.kill();
    await subscriber.close();
    await api.stop();
    await close();
    await database.drop();
  });
  return {
    api,
    subscriber,
    advance,
    raise: async () => {
      const worker = startWorker({ ...options, userAgent: `worker-${workers.length}` });
      workers.push(worker);
      await worker.started;
      return worker;
    },
    ask: (path, fields = {}) =>
      api.websub.take(
        new URLSearchParams({
          "hub.mode": "subscribe",
          "hub.topic": topic,
          "hub.callback": subscriber.url + path,
          ...fields,
        }),
      ),
  };
}

/** Answers nobody that this worker asks for. */
const deafTo =
  ({ name }: WorkerProcess) =>
  (seen: Seen) =>
    seen.headers["user-agent"] === name
      ? new Promise<never>(() => {})
      : (obedient(seen) as { status: number });

const signedWith = (secret: string, seen: Seen | undefined): boolean => {
  const hex = createHmac("sha256", secret)
    .update(seen?.body ?? "")
    .digest("hex");
  return seen?.headers["x-hub-signature"] === `sha256=${hex}`;
};

test("killed while it verifies and while it renews: the request is not lost, and counts when it is verified", {
  timeout: 60_000,
}, async () => {
  const { api, subscriber, advance, raise, ask } = await openWorld();
  const first = await raise();
  subscriber.behave("/new", deafTo(first));
  await ask("/new", { "hub.secret": "one" });
  await subscriber.until("the first verification", () => subscriber.asked("/new").length === 1);
  await first.kill();

  const second = await raise();
  await advance(30_000);
  await subscriber.until("the second verification", () => subscriber.asked("/new").length === 2);
  await subscribed(api, 1);
  await api.publish({ tenant: "acme", type: "order.paid", data: 1 });
  await subscriber.until("the first event", () => subscriber.notified("/new").length === 1);

  subscriber.behave("/new", (seen) => (seen.method === "GET" ? deafTo(second)(seen) : { status: 204 }));
  await ask("/new", { "hub.secret": "two" });
  await subscriber.until("the renewal", () => subscriber.asked("/new").length === 3);
  await second.kill();
  await raise();
  await api.publish({ tenant: "acme", type: "order.paid", data: 2 });
  await subscriber.until("the second event", () => subscriber.notified("/new").length === 2);
  await advance(30_000);
  await subscriber.until("the renewal again", () => subscriber.asked("/new").length === 4);
  await renewed(api);
  await api.publish({ tenant: "acme", type: "order.paid", data: 3 });
  await subscriber.until("the third event", () => subscriber.notified("/new").length === 3);

  const [one, two, three] = subscriber.notified("/new");
  expect([signedWith("one", one), signedWith("one", two), signedWith("two", three)]).toEqual([
    true,
    true,
    true,
  ]);
  const challenges = subscriber.asked("/new").map(({ query }) => query.get("hub.challenge"));
  expect(new Set(challenges).size).toBe(4);
});

test("killed while it ends a subscription and while it asks an endpoint: both are asked again", {
  timeout: 60_000,
}, async () => {
  const { api, subscriber, advance, raise, ask } = await openWorld();
  const first = await raise();
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
  await raise();
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

test("killed while it fetches and while it distributes: every subscriber gets the content", {
  timeout: 60_000,
}, async () => {
  const { api, subscriber, advance, raise, ask } = await openWorld();
  const first = await raise();
  const feed = `${subscriber.url}/feed`;
  const paths = Array.from({ length: 10 }, (_, index) => `/s${index}`);
  for (const path of paths) await ask(path, { "hub.topic": feed });
  await subscribed(api, paths.length, "posthorn.websub");

  const content = { status: 200, body: "<feed/>", headers: { "content-type": "application/atom+xml" } };
  subscriber.behave("/feed", (seen) =>
    seen.headers["user-agent"] === first.name ? new Promise(() => {}) : content,
  );
  await api.websub.take(new URLSearchParams({ "hub.mode": "publish", "hub.url": feed }));
  await subscriber.until("the fetch", () => subscriber.asked("/feed").length === 1);
  await first.kill();

  const second = await raise();
  for (const path of paths.slice(5)) subscriber.behave(path, deafTo(second));
  await advance(60_000);
  await subscriber.until("the half that answers", () =>
    paths.slice(0, 5).every((path) => subscriber.notified(path).length === 1),
  );
  await subscriber.until("the half that does not", () =>
    paths.slice(5).every((path) => subscriber.notified(path).length === 1),
  );
  await second.kill();
  await raise();
  await subscriber.until("the other half once more", () =>
    paths.slice(5).every((path) => subscriber.notified(path).length === 2),
  );
  expect(paths.map((path) => String(subscriber.notified(path).at(-1)?.body))).toEqual(
    paths.map(() => "<feed/>"),
  );
  const { data } = await api.events.list({ tenant: "posthorn.websub" });
  expect(data).toHaveLength(1);
});

/** Seen through the API, which is no signal of its own: looked at until it is there. */
async function subscribed(api: Posthorn, count: number, tenant = "acme"): Promise<void> {
  await eventually(`${count} subscriptions`, async () => {
    const page = await api.endpoints.list(tenant).catch(() => ({ data: [] }));
    return page.data.length === count;
  });
}

async function renewed(api: Posthorn): Promise<void> {
  await eventually("the renewal", async () => {
    const [found] = (await api.endpoints.list("acme")).data;
    return found !== undefined && found.updatedAt > found.createdAt;
  });
}
