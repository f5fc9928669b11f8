// Manual retries and test events: rejected ones change nothing, and a retry has the same bytes.
import { expect, test } from "vitest";
import {
  databasePerFile,
  newEndpoint,
  newTenant,
  receiverPerFile,
} from "../../../tests/support/database/database-per-test.ts";
import type { PublishInput } from "./event/validate.ts";
import type { EndpointInput } from "./resources/endpoints/settings.ts";

const receiver = await receiverPerFile();
const instance = await (await databasePerFile()).open();
const { hooks } = instance;
const { endpoints, tenants } = hooks;

async function delivered(settings: Partial<EndpointInput> = {}, input: Partial<PublishInput> = {}) {
  const tenant = await newTenant(instance);
  const { path, id: endpoint } = await newEndpoint(instance, receiver, settings, tenant);
  const { id } = await hooks.publish({ tenant, type: "order.paid", data: 1, ...input });
  await instance.settle();
  const [delivery] = (await hooks.events.get(id)).deliveries;
  return { tenant, path, endpoint, delivery: delivery?.id as string };
}

type World = Awaited<ReturnType<typeof delivered>>;

test.each<[what: string, close: (world: World) => Promise<unknown>, code: string, codeOfTest?: string]>([
  [
    "a deleted endpoint",
    ({ tenant, endpoint }) => endpoints.delete(tenant, endpoint),
    "endpoint_deleted",
    "endpoint_not_found",
  ],
  ["a disabled endpoint", ({ tenant, endpoint: id }) => endpoints.disable(tenant, id), "endpoint_disabled"],
  [
    "an endpoint that has not agreed to webhooks",
    ({ tenant, endpoint }) => endpoints.update(tenant, endpoint, { handshake: { origin: "example.com" } }),
    "endpoint_not_agreed",
  ],
  ["an inactive tenant", ({ tenant }) => tenants.upsert(tenant, { isActive: false }), "tenant_inactive"],
])(
  "a retry and a test event to %s are rejected and change nothing",
  async (_, close, code, codeOfTest = code) => {
    const world = await delivered();
    const { tenant, endpoint, delivery, path } = world;
    await close(world);
    const before = await stateOf(delivery);
    await expect(hooks.deliveries.retry(delivery)).rejects.toMatchObject({ code, status: 409 });
    await expect(endpoints.test(tenant, endpoint)).rejects.toMatchObject({ code: codeOfTest });
    await instance.settle();
    expect(await stateOf(delivery)).toEqual(before);
    expect(before).toMatchObject([{ state: "success", attempts: 1 }]);
    expect(receiver.requestsTo(path).filter(({ method }) => method === "POST")).toHaveLength(1);
    expect((await hooks.events.list({ tenant, type: "webhook.test" })).data).toEqual([]);
  },
);

/** Reads the row, because deliveries of a deleted tenant are no longer returned. */
async function stateOf(delivery: string): Promise<unknown> {
  const text = "select * from posthorn.delivery_states where id = $1::uuid";
  return await hooks.db.query({ name: "state", text, hasNoTimeout: false }, [delivery.slice(4)]);
}

test.each(["envelope", "cloudevents", "cloudevents-thin"] as const)(
  "a retry of an event published as a CloudEvent has the same bytes, sent as %s",
  async (format) => {
    const extensions = { region: "eu", a: true, zz: 1 };
    const text = { datacontenttype: "text/plain", encoding: "text" } as const;
    const attributes = { source: "/shop", id: "1", extensions, ...text };
    const { delivery, path } = await delivered({ format }, { data: "text", attributes });
    await hooks.deliveries.retry(delivery);
    await instance.settle();
    const [first, second] = receiver.requestsTo(path).map(({ body }) => Buffer.from(body).toString());
    expect(first).toContain('"region":"eu"');
    expect(second).toBe(first);
  },
);
