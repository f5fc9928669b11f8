// Retry by hand and test events: only where something can be sent, what is refused leaves everything as it was, and what is
// sent again has the same bytes.
import { afterAll, beforeAll, expect, test } from "vitest";
import { createMigratedDatabase, type TestDatabase } from "../../../tests/support/postgres.ts";
import {
  createTestInstance,
  type ScriptedReceiver,
  startScriptedReceiver,
  type TestInstance,
} from "./testing/index.ts";

let database: TestDatabase;
let receiver: ScriptedReceiver;
let instance: TestInstance;

beforeAll(async () => {
  receiver = await startScriptedReceiver();
  database = await createMigratedDatabase();
  instance = await createTestInstance({ database: database.connectionString });
});
afterAll(async () => {
  await instance.close();
  await database.drop();
  await receiver.close();
});

let names = 0;
async function delivered(status = 200) {
  names += 1;
  const [tenant, path] = [`tenant-${names}`, `/retry-${names}`];
  const { hooks } = instance;
  receiver.answer(path, { status });
  await hooks.tenants.upsert(tenant);
  const { endpoint } = await hooks.endpoints.create(tenant, { url: receiver.url + path, events: ["*"] });
  const { id } = await hooks.publish({ tenant, type: "order.paid", data: 1 });
  await instance.settle();
  const [delivery] = (await hooks.events.get(id)).deliveries;
  return { hooks, tenant, path, endpoint: endpoint.id, delivery: delivery?.id as string };
}

type World = Awaited<ReturnType<typeof delivered>>;

test.each<[what: string, close: (world: World) => Promise<unknown>, code: string]>([
  [
    "a deleted endpoint",
    ({ hooks, tenant, endpoint }) => hooks.endpoints.delete(tenant, endpoint),
    "endpoint_deleted",
  ],
  [
    "an endpoint whose tenant was deleted too",
    async ({ hooks, tenant, endpoint }) => {
      await hooks.endpoints.delete(tenant, endpoint);
      await hooks.tenants.delete(tenant);
    },
    "endpoint_deleted",
  ],
  [
    "a disabled endpoint",
    ({ hooks, tenant, endpoint }) => hooks.endpoints.update(tenant, endpoint, { isActive: false }),
    "endpoint_disabled",
  ],
  [
    "an endpoint that has not agreed to webhooks",
    ({ hooks, tenant, endpoint }) =>
      hooks.endpoints.update(tenant, endpoint, { handshake: { origin: "hooks.example.com" } }),
    "endpoint_not_agreed",
  ],
  [
    "an inactive tenant's endpoint",
    ({ hooks, tenant }) => hooks.tenants.upsert(tenant, { isActive: false }),
    "tenant_inactive",
  ],
])("a retry to %s is rejected and leaves the success in history", async (_what, close, code) => {
  const world = await delivered();
  const { hooks, delivery, path } = world;
  await close(world);
  const before = await stateOf(delivery);
  await expect(hooks.deliveries.retry(delivery)).rejects.toMatchObject({ code, status: 409 });
  await instance.settle();
  expect(await stateOf(delivery)).toEqual(before);
  expect(before).toMatchObject([{ state: "success", attempts: 1 }]);
  expect(receiver.requestsTo(path).filter(({ method }) => method === "POST")).toHaveLength(1);
});

/** By its row: a deleted tenant's deliveries are not shown any more. */
async function stateOf(delivery: string): Promise<unknown> {
  const text = "select * from posthorn.delivery_states where id = $1::uuid";
  return await instance.hooks.db.query({ name: "state", text, hasNoTimeout: false }, [delivery.slice(4)]);
}

test("deliveries of a disabled endpoint keep waiting, and can be retried once it is enabled", async () => {
  const { hooks, tenant, endpoint, delivery, path } = await delivered(500);
  await hooks.endpoints.update(tenant, endpoint, { isActive: false });
  const before = await hooks.deliveries.get(delivery);
  expect(before).toMatchObject({ state: "failed", nextRetryAt: expect.any(Date) });
  await expect(hooks.deliveries.retry(delivery)).rejects.toMatchObject({ code: "endpoint_disabled" });
  expect(await hooks.deliveries.get(delivery)).toEqual(before);

  receiver.answer(path, { status: 200 });
  await hooks.endpoints.update(tenant, endpoint, { isActive: true });
  await hooks.deliveries.retry(delivery);
  await instance.settle();
  const { state, attempts } = await hooks.deliveries.get(delivery);
  expect(state).toBe("success");
  expect(attempts.map(({ trigger }) => trigger)).toEqual(["event", "manual"]);
});

test("a test event is rejected where nothing is sent, and stores nothing", async () => {
  const { hooks, tenant, endpoint } = await delivered();
  const asked = { handshake: { origin: "hooks.example.com" } };
  await hooks.endpoints.update(tenant, endpoint, asked);
  await expect(hooks.endpoints.test(tenant, endpoint)).rejects.toMatchObject({ code: "endpoint_not_agreed" });
  await hooks.endpoints.update(tenant, endpoint, { handshake: null });
  await hooks.tenants.upsert(tenant, { isActive: false });
  await expect(hooks.endpoints.test(tenant, endpoint)).rejects.toMatchObject({ code: "tenant_inactive" });
  await hooks.endpoints.update(tenant, endpoint, { isActive: false });
  await expect(hooks.endpoints.test(tenant, endpoint)).rejects.toMatchObject({ code: "endpoint_disabled" });
  await hooks.endpoints.delete(tenant, endpoint);
  await expect(hooks.endpoints.test(tenant, endpoint)).rejects.toMatchObject({ code: "endpoint_not_found" });
  expect((await hooks.events.list({ tenant, type: "webhook.test" })).data).toEqual([]);
});

test.each(["envelope", "cloudevents", "cloudevents-thin"] as const)(
  "a retry of what came as a CloudEvent has the same bytes, sent as %s",
  async (format) => {
    const { hooks } = instance;
    const [tenant, path] = [`foreign-${format}`, `/foreign-${format}`];
    await hooks.tenants.upsert(tenant);
    await hooks.endpoints.create(tenant, { url: receiver.url + path, events: ["*"], format });
    const extensions = { region: "eu", a: true, zz: 1 };
    const attributes = {
      source: "/shop",
      id: "1",
      datacontenttype: "text/plain",
      encoding: "text",
      extensions,
    } as const;
    const { id } = await hooks.publish({ tenant, type: "order.paid", data: "text", attributes });
    await instance.settle();
    const [delivery] = (await hooks.events.get(id)).deliveries;
    await hooks.deliveries.retry(delivery?.id as string);
    await instance.settle();
    const [first, second] = receiver.requestsTo(path).map(({ body }) => Buffer.from(body).toString());
    expect(first).toContain('"region":"eu"');
    expect(second).toBe(first);
  },
);
