// Replays, and what is done about one delivery, over HTTP.
import { startScriptedReceiver } from "posthorn/testing";
import { expect, onTestFinished, test } from "vitest";
import { startServer } from "../../../../../../tests/support/start-server.ts";

async function open(tenants = ["acme"]) {
  const server = await startServer({ posthorn: { retryPolicy: "1h" } });
  const receiver = await startScriptedReceiver();
  onTestFinished(() => receiver.close());
  receiver.answer("/in", 400);
  for (const tenant of tenants) {
    await server.call("PUT", `/api/v1/tenants/${tenant}`);
    await server.call("POST", `/api/v1/tenants/${tenant}/endpoints`, {
      url: `${receiver.url}/in`,
      events: ["*"],
    });
  }
  const list = async (query: string) => (await server.call("GET", `/api/v1/deliveries?${query}`)).json.data;
  return {
    server,
    receiver,
    list,
    /** An event to each tenant, until its delivery is in this state. */
    async publish(state: "dead" | "failed") {
      for (const tenant of tenants)
        await server.call("POST", "/api/v1/events", { tenant, type: "order.paid", data: 1 });
      await expect.poll(async () => (await list(`state=${state}`)).length).toBe(tenants.length);
    },
    async keyOf(tenant: string, scopes = ["deliveries:retry"]) {
      const { json } = await server.call("POST", "/api/v1/keys", { name: "k", tenant, scopes });
      return { id: json.id as string, headers: { authorization: `Bearer ${json.key}` } };
    },
  };
}

test("a replay is previewed, started, looked at and listed", async () => {
  const { server, receiver, publish, list } = await open();
  await publish("dead");
  receiver.answer("/in", 200);
  const preview = await server.call("POST", "/api/v1/replays", { tenant: "acme", dry_run: true });
  expect([preview.status, preview.json]).toEqual([202, { dry_run: true, count: 1, is_exact: true }]);
  const created_after = "2020-01-01T00:00:00.000Z";
  const started = await server.call("POST", "/api/v1/replays", { states: ["dead"], created_after, rate: 10 });
  expect([started.status, started.json]).toMatchObject([
    202,
    { state: "running", tenant: null, created_after, created_before: null, rate: 10, total: 1, done: 0 },
  ]);
  const path = `/api/v1/replays/${started.json.id}`;
  await expect
    .poll(async () => (await server.call("GET", path)).json, { timeout: 10_000 })
    .toMatchObject({ state: "finished", done: 1, skipped: {}, ended_at: expect.any(String) });
  await expect.poll(() => list("state=success"), { timeout: 10_000 }).toMatchObject([{ replay_count: 1 }]);
  expect((await server.call("GET", "/api/v1/replays?state=finished")).json.data).toHaveLength(1);
  expect((await server.call("GET", "/api/v1/replays?state=running")).json.data).toEqual([]);
  const cancelled = await server.call("POST", `${path}/cancel`);
  expect([cancelled.status, cancelled.json.code]).toEqual([409, "replay_over"]);
});

test("a key of one tenant replays that tenant's alone, under its name", async () => {
  const { server, publish, keyOf } = await open(["acme", "rivals"]);
  await publish("dead");
  const { id, headers } = await keyOf("acme");
  const preview = await server.call("POST", "/api/v1/replays", { dry_run: true }, headers);
  expect(preview.json).toMatchObject({ count: 1 });
  const started = await server.call("POST", "/api/v1/replays", undefined, headers);
  expect(started.json).toMatchObject({ tenant: "acme", requested_by: id, total: 1 });
  await server.call("POST", "/api/v1/replays", { tenant: "rivals" });
  expect((await server.call("GET", "/api/v1/replays", undefined, headers)).json.data).toHaveLength(1);
});

test("another tenant's endpoint is indistinguishable from an unknown one", async () => {
  const { server, keyOf } = await open(["acme", "rivals"]);
  const { headers } = await keyOf("acme");
  const [theirs] = (await server.call("GET", "/api/v1/tenants/rivals/endpoints")).json.data;
  const answers = [];
  for (const endpoint of [theirs.id, "ep_0197a3c2-7d1e-7c43-9a51-2f6f6f1b8e10"]) {
    const { status, text } = await server.call(
      "POST",
      "/api/v1/replays",
      { endpoint },
      { ...headers, "x-request-id": "same" },
    );
    answers.push([status, text.replaceAll(endpoint, "…")]);
  }
  expect(answers[0]?.[0]).toBe(404);
  expect(answers[1]).toEqual(answers[0]);
});

test("what is wrong with a replay is told under the names of the API", async () => {
  const { server } = await open();
  const body = { resubscribe: true, states: ["dead"], rate: 0 };
  const { status, json } = await server.call("POST", "/api/v1/replays", body);
  expect([status, json.code]).toEqual([422, "invalid_replay"]);
  expect(json.errors.map(({ pointer }: { pointer: string }) => pointer).toSorted()).toEqual([
    "/rate",
    "/states",
  ]);
  for (const wrong of [{ states: ["pending"] }, { colour: "red" }, { created_after: "yesterday" }])
    expect(await server.call("POST", "/api/v1/replays", wrong)).toMatchObject({
      status: 422,
      json: { code: "invalid_body" },
    });
});

test("a failed delivery is in the retry queue until it is cancelled, and gone when it is deleted", async () => {
  const { server, receiver, publish } = await open();
  receiver.answer("/in", 500);
  await publish("failed");
  const queue = async () => (await server.call("GET", "/api/v1/retry-queue?tenant=acme")).json.data;
  const [failed] = await queue();
  expect(failed).toMatchObject({ state: "failed", next_retry_at: expect.any(String) });
  const path = `/api/v1/deliveries/${failed.id}`;
  expect(await server.call("DELETE", path)).toMatchObject({
    status: 409,
    json: { code: "delivery_not_dead" },
  });
  expect(await server.call("POST", `${path}/cancel`)).toMatchObject({
    status: 200,
    json: { state: "dead", dead_reason: "cancelled" },
  });
  expect(await queue()).toEqual([]);
  expect(await server.call("POST", `${path}/cancel`)).toMatchObject({
    status: 409,
    json: { code: "delivery_over" },
  });
  expect((await server.call("DELETE", path)).status).toBe(204);
  expect((await server.call("GET", path)).status).toBe(404);
});
