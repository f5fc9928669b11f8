// Disables and enables endpoints that have a backlog, on a running engine.
import { performance } from "node:perf_hooks";
import { expect, onTestFinished, test, vi } from "vitest";
import { databasePerTest } from "../../../../../tests/support/database/database-per-test.ts";
import { gate } from "../../../../../tests/support/gate.ts";
import { startReceiver } from "../../../../../tests/support/servers/start-receiver.ts";

const world = databasePerTest();

async function open() {
  const receiver = await startReceiver();
  const { hooks, settle } = await world.open();
  const input = { url: `${receiver.url}/hook`, events: ["*"], maxInFlight: 1 };
  const { endpoint } = await hooks.endpoints.create("acme", input);
  return {
    receiver,
    hooks,
    settle,
    id: endpoint.id,
    publish: (n: number) => hooks.publish({ tenant: "acme", type: "order.paid", data: { n } }),
    numbers: () => receiver.requests.map(({ body }) => JSON.parse(String(body)).data.n as number),
    async states() {
      const { data } = await hooks.deliveries.list({ endpoint: endpoint.id, limit: 250 });
      return data.map(({ state, deadReason }) => deadReason ?? state).toSorted();
    },
  };
}

test("the backlog goes to a URL that was changed while the endpoint was disabled", async () => {
  const { hooks, id, publish, settle, receiver } = await open();
  await hooks.endpoints.disable("acme", id);
  await publish(1);
  await hooks.endpoints.update("acme", id, { url: `${receiver.url}/moved` });
  await hooks.endpoints.enable("acme", id);
  await settle();
  expect(receiver.requests.map(({ path }) => path)).toEqual(["/moved"]);
});

test("of a discarded backlog that a worker had claimed, only in-flight deliveries are sent", async () => {
  const { id, publish, settle, receiver, numbers, states } = await open();
  // not started, so that it cannot notify the worker of the pause, which it notices a second later
  const { hooks } = await world.open({ started: false });
  const { opened, open: release } = gate();
  receiver.answer("/hook", { until: opened });
  for (let n = 1; n <= 20; n += 1) await publish(n);
  await receiver.received(1);
  await hooks.endpoints.disable("acme", id);
  // it waits for the worker as long as a busy machine needs, not for three seconds
  const frozen = vi.spyOn(performance, "now").mockReturnValue(performance.now());
  onTestFinished(() => frozen.mockRestore());
  const enabling = hooks.endpoints.enable("acme", id, { backlog: "discard" });
  const inFlight = async () => (await states()).filter((state) => state === "in_flight").length;
  await expect.poll(inFlight).toBe(1);
  release();
  expect(await enabling).toMatchObject({ isActive: true, disabledReason: null });
  frozen.mockRestore();
  await settle();
  expect(numbers()).toEqual([1]);
  expect(await states()).toEqual([...Array<string>(19).fill("discarded"), "success"]);
});

test("a large backlog is discarded completely, in several transactions", async () => {
  const { hooks, id, states, publish, settle, numbers } = await open();
  const { pool } = world;
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

test("a late discard does not affect events after the endpoint was enabled", async () => {
  const { hooks, id, publish, settle, receiver, numbers, states } = await open();
  const other = await world.open({ started: false });
  const { opened, open: release } = gate();
  receiver.answer("/hook", [{ until: opened }, {}]);
  await publish(1);
  await receiver.received(1);
  await hooks.endpoints.disable("acme", id);
  // waits for the owner, which has a request in flight
  const discarding = other.hooks.endpoints.enable("acme", id, { backlog: "discard" });
  await hooks.endpoints.enable("acme", id);
  for (let n = 2; n <= 80; n += 1) await publish(n);
  await discarding;
  release();
  await settle();
  expect(numbers()).toHaveLength(80);
  expect(new Set(await states())).toEqual(new Set(["success"]));
});
