// Switching endpoints off and on again with something owed to them, on a running engine.
import { expect, onTestFinished, test } from "vitest";
import { createMigratedDatabase, createPool } from "../../../../../tests/support/postgres.ts";
import { createTestInstance, startScriptedReceiver } from "../../testing/index.ts";

async function open() {
  const database = await createMigratedDatabase();
  const receiver = await startScriptedReceiver();
  const instance = await createTestInstance({ database: database.connectionString });
  const { hooks } = instance;
  onTestFinished(async () => {
    await hooks.stop({ graceMs: 0 });
    await receiver.close();
    await database.drop();
  });
  await hooks.tenants.upsert("acme");
  const { endpoint } = await hooks.endpoints.create("acme", {
    url: `${receiver.url}/hook`,
    events: ["*"],
    maxInFlight: 1,
  });
  return {
    connectionString: database.connectionString,
    receiver,
    hooks,
    settle: instance.settle,
    id: endpoint.id,
    publish: (n: number) => hooks.publish({ tenant: "acme", type: "order.paid", data: { n } }),
    numbers: () => receiver.requests.map(({ body }) => JSON.parse(String(body)).data.n as number),
    async states() {
      const { data } = await hooks.deliveries.list({ endpoint: endpoint.id, limit: 250 });
      return data.map(({ state, deadReason }) => deadReason ?? state).toSorted();
    },
  };
}

test("the backlog of a disabled endpoint is delivered when it is enabled, and the reason is cleared", async () => {
  const { hooks, id, publish, settle, numbers, states } = await open();
  await hooks.endpoints.disable("acme", id);
  await publish(1);
  await publish(2);
  await settle();
  expect(numbers()).toEqual([]);
  expect(await states()).toEqual(["pending", "pending"]);

  const enabled = await hooks.endpoints.enable("acme", id);
  expect(enabled).toMatchObject({ isActive: true, disabledReason: null, disabledAt: null });
  await settle();
  expect(numbers().toSorted()).toEqual([1, 2]);
  expect(await states()).toEqual(["success", "success"]);
});

test("the backlog goes to a URL that was changed while the endpoint was disabled", async () => {
  const { hooks, id, publish, settle, receiver } = await open();
  await hooks.endpoints.disable("acme", id);
  await publish(1);
  await hooks.endpoints.update("acme", id, { url: `${receiver.url}/moved` });
  await hooks.endpoints.enable("acme", id);
  await settle();
  expect(receiver.requests.map(({ path }) => path)).toEqual(["/moved"]);
});

test("deleting a disabled endpoint makes its backlog dead with that reason", async () => {
  const { hooks, id, publish, states } = await open();
  await hooks.endpoints.disable("acme", id);
  await publish(1);
  await hooks.endpoints.delete("acme", id);
  expect(await states()).toEqual(["endpoint_deleted"]);
  await expect(hooks.endpoints.enable("acme", id)).rejects.toMatchObject({ code: "endpoint_not_found" });
});

test("a discarded backlog becomes dead, and later events are delivered", async () => {
  const { hooks, id, publish, settle, numbers, states } = await open();
  await hooks.endpoints.disable("acme", id);
  await publish(1);
  await publish(2);
  const enabled = await hooks.endpoints.enable("acme", id, { backlog: "discard" });
  expect(enabled).toMatchObject({ isActive: true, disabledReason: null });
  await publish(3);
  await settle();
  expect(numbers()).toEqual([3]);
  expect(await states()).toEqual(["discarded", "discarded", "success"]);
  const { data } = await hooks.deliveries.list({ endpoint: id, reason: "discarded" });
  expect(data).toHaveLength(2);
});

test("of a discarded backlog that a worker had claimed, only in-flight deliveries are sent", async () => {
  const { connectionString, id, publish, settle, receiver, numbers, states } = await open();
  // not started, so that it cannot tell the worker of the pause, who finds out by itself a second later
  const { hooks } = await createTestInstance({ database: connectionString, started: false });
  onTestFinished(() => hooks.stop());
  let release = (): void => {};
  const isReleased = new Promise<void>((resolve) => {
    release = resolve;
  });
  receiver.answer("/hook", { until: isReleased });
  for (let n = 1; n <= 20; n += 1) await publish(n);
  await receiver.received(1);
  await hooks.endpoints.disable("acme", id);
  const enabling = hooks.endpoints.enable("acme", id, { backlog: "discard" });
  const inFlight = async () => (await states()).filter((state) => state === "in_flight").length;
  await expect.poll(inFlight, { timeout: 10_000 }).toBe(1);
  release();
  expect(await enabling).toMatchObject({ isActive: true });
  await settle();
  expect(numbers()).toEqual([1]);
  expect(await states()).toEqual([...Array<string>(19).fill("discarded"), "success"]);
});

test("a large backlog is discarded completely, in several transactions", async () => {
  const { hooks, id, connectionString, states, publish, settle, numbers } = await open();
  const pool = createPool(connectionString);
  onTestFinished(() => pool.end());
  await hooks.endpoints.disable("acme", id);
  const { id: event } = await publish(0);
  await pool.query(
    "insert into posthorn.queue (id, event_id, endpoint_id, next_at, schedule_started_at) " +
      "select posthorn.uuidv7(now()), $1, $2, now(), now() from generate_series(1, 12000)",
    [event.slice(4), id.slice(3)],
  );
  await hooks.endpoints.enable("acme", id, { backlog: "discard" });
  const { rows } = await pool.query(
    "select dead_reason, count(*)::integer as count, count(distinct xmin::text)::integer as steps " +
      "from posthorn.deliveries where endpoint_id = $1 group by dead_reason",
    [id.slice(3)],
  );
  expect(rows).toEqual([{ dead_reason: "discarded", count: 12_001, steps: 3 }]);
  await settle();
  expect(numbers()).toEqual([]);
  expect((await states()).every((state) => state === "discarded")).toBe(true);
});

test("enabling an active endpoint changes nothing and discards nothing", async () => {
  const { hooks, id, publish, settle, receiver, states } = await open();
  receiver.answer("/hook", { status: 500 });
  await publish(1);
  await settle();
  const before = await hooks.endpoints.get("acme", id);
  expect(await hooks.endpoints.enable("acme", id, { backlog: "discard" })).toEqual(before);
  expect(await states()).toEqual(["failed"]);
});

test("disabling a disabled endpoint keeps the first reason and its time", async () => {
  const { hooks, id, receiver, publish, settle } = await open();
  receiver.answer("/hook", { status: 410 });
  await publish(1);
  await expect.poll(async () => (await hooks.endpoints.get("acme", id)).disabledReason).toBe("gone");
  const { disabledAt } = await hooks.endpoints.get("acme", id);
  await settle();
  expect(await hooks.endpoints.disable("acme", id)).toMatchObject({ disabledReason: "gone", disabledAt });
});

test("an unknown value for the backlog is refused, and nothing is changed", async () => {
  const { hooks, id } = await open();
  await hooks.endpoints.disable("acme", id);
  for (const [options, pointer] of [
    [{ backlog: "drop" }, "/backlog"],
    [{ backlog: null }, "/backlog"],
    [{ baklog: "discard" }, "/baklog"],
    ["discard", ""],
  ] as const) {
    await expect(hooks.endpoints.enable("acme", id, options as never)).rejects.toMatchObject({
      code: "invalid_endpoint",
      problems: [{ pointer }],
    });
  }
  expect(await hooks.endpoints.get("acme", id)).toMatchObject({ isActive: false });
});

test("another tenant's endpoint cannot be disabled or enabled", async () => {
  const { hooks, id } = await open();
  await hooks.tenants.upsert("other");
  await expect(hooks.endpoints.disable("other", id)).rejects.toMatchObject({ code: "endpoint_not_found" });
  await hooks.endpoints.disable("acme", id);
  await expect(hooks.endpoints.enable("other", id, { backlog: "discard" })).rejects.toMatchObject({
    code: "endpoint_not_found",
  });
  expect(await hooks.endpoints.get("acme", id)).toMatchObject({ isActive: false });
});

test("a late discard does not affect events after the endpoint was enabled", async () => {
  const { connectionString, hooks, id, publish, settle, receiver, numbers, states } = await open();
  const other = await createTestInstance({ database: connectionString, started: false });
  onTestFinished(() => other.hooks.stop());
  let release = (): void => {};
  const isReleased = new Promise<void>((resolve) => {
    release = resolve;
  });
  receiver.answer("/hook", [{ until: isReleased }, {}]);
  await publish(1);
  await receiver.received(1);
  await hooks.endpoints.disable("acme", id);
  // waits for the owner, which has a request in the air
  const discarding = other.hooks.endpoints.enable("acme", id, { backlog: "discard" });
  await hooks.endpoints.enable("acme", id);
  for (let n = 2; n <= 80; n += 1) await publish(n);
  await discarding;
  release();
  await settle();
  expect(numbers()).toHaveLength(80);
  expect(new Set(await states())).toEqual(new Set(["success"]));
});
