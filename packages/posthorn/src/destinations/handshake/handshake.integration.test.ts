// Handshakes over real HTTP: endpoints that agree, refuse, or agree later.
import { expect, test } from "vitest";
import { databasePerFile, receiverPerFile } from "../../../../../tests/support/database/database-per-test.ts";
import { gate } from "../../../../../tests/support/gate.ts";
import type { ScriptedStep } from "../../testing/index.ts";

const receiver = await receiverPerFile();
const world = await databasePerFile({ maxEndpointsPerTenant: 100 });
const { pool } = world;
let instance = await world.open();

const ORIGIN = "hooks.example.com";
const GRANT = { headers: { "WebHook-Allowed-Origin": ORIGIN, "WebHook-Allowed-Rate": "*" } };
let count = 0;

async function asked(answers: readonly ScriptedStep[], rate: number | null = null) {
  count += 1;
  const path = `/hook-${count}`;
  receiver.answer(path, answers);
  const { endpoint } = await instance.hooks.endpoints.create("acme", {
    url: `${receiver.url}${path}?a=1`,
    events: [`number.${count}`],
    handshake: { origin: ORIGIN, rate },
  });
  const type = `number.${count}`;
  return {
    id: endpoint.id,
    endpoint,
    path,
    publish: async () => {
      await instance.hooks.publish({ tenant: "acme", type, data: {} });
      await instance.settle();
    },
    shown: async () => (await instance.hooks.endpoints.get("acme", endpoint.id)).handshake,
    sent: (method: string) => receiver.requestsTo(path).filter((request) => request.method === method),
  };
}

test("an endpoint that agrees is asked once, and every delivery carries the same origin", async () => {
  const { endpoint, publish, shown, sent } = await asked([GRANT, 200], 120);
  expect(endpoint.handshake).toMatchObject({
    state: "requesting",
    origin: ORIGIN,
    rate: 120,
    requestedAt: null,
  });
  await instance.settle();
  expect(await shown()).toMatchObject({ state: "granted", allowedRate: null, detail: null });
  await publish();
  await publish();
  const [question, ...more] = sent("OPTIONS");
  expect(more).toEqual([]);
  expect(question?.url).toBe(`/hook-${count}?a=1`);
  expect(question?.headers).toMatchObject({
    "webhook-request-origin": ORIGIN,
    "webhook-request-rate": "120",
  });
  expect(question?.headers["webhook-request-callback"]).toBeUndefined();
  expect(question?.body.length).toBe(0);
  expect(sent("POST").map(({ headers }) => headers["webhook-request-origin"])).toEqual([ORIGIN, ORIGIN]);
});

test("an endpoint that refuses shows the reason and gets nothing until it agrees, then its backlog", async () => {
  const { id, publish, shown, sent } = await asked([200, GRANT, 200]);
  await publish();
  await publish();
  expect(sent("POST")).toEqual([]);
  expect(await shown()).toMatchObject({
    state: "denied",
    detail: expect.stringContaining("HTTP 200 without"),
  });
  const [waiting] = (await instance.hooks.deliveries.list({ endpoint: id })).data;
  expect(waiting).toMatchObject({ state: "pending", waitsFor: { reason: "handshake" } });
  expect(await instance.hooks.deliveries.get(waiting?.id ?? "")).toMatchObject({
    waitsFor: { reason: "handshake" },
  });
  const { deliveries } = await instance.hooks.events.get(waiting?.eventId ?? "");
  expect(deliveries.map(({ waitsFor }) => waitsFor?.reason)).toEqual(["handshake"]);
  await instance.hooks.endpoints.disable("acme", id);
  expect(await instance.hooks.deliveries.get(waiting?.id ?? "")).toMatchObject({
    waitsFor: { reason: "endpoint_disabled" },
  });
  await instance.hooks.tenants.upsert("acme", { isActive: false });
  expect(await instance.hooks.deliveries.get(waiting?.id ?? "")).toMatchObject({
    waitsFor: { reason: "tenant_off" },
  });
  await instance.hooks.tenants.upsert("acme", { isActive: true });
  await instance.hooks.endpoints.enable("acme", id);

  await instance.hooks.endpoints.update("acme", id, { handshake: { origin: ORIGIN } });
  await instance.settle();
  await instance.settle();
  expect(await shown()).toMatchObject({ state: "granted" });
  expect(sent("POST")).toHaveLength(2);
  expect(await instance.hooks.deliveries.get(waiting?.id ?? "")).toMatchObject({ waitsFor: null });
});

test("a repeated grant changes nothing; one with another rate does", async () => {
  const { id, shown } = await asked([404], 60);
  await instance.settle();
  const { rows } = await pool.query(
    "select callback_token from posthorn.endpoint_handshakes where endpoint_id = $1",
    [id.slice(3)],
  );
  const version = async () =>
    (await pool.query("select routing_version from posthorn.tenants where id = 'acme'")).rows[0];
  const grant = (rate?: string) => instance.hooks.endpoints.grant(rows[0].callback_token, rate);
  await grant();
  const before = await version();
  await grant();
  await grant("60");
  expect(await version()).toEqual(before);
  await grant("30");
  expect(await version()).not.toEqual(before);
  expect(await shown()).toMatchObject({ state: "granted", allowedRate: 30 });
});

test("an undecided handshake survives a restart, and an unreachable endpoint is asked again", async () => {
  const { publish, shown, sent } = await asked(["reset", GRANT, 200]);
  await publish();
  expect(await shown()).toMatchObject({
    state: "requesting",
    detail: expect.stringContaining("handshake request failed"),
  });
  expect(sent("POST")).toEqual([]);
  await instance.close();
  instance = await world.open();
  await instance.settle();
  expect(sent("POST")).toEqual([]);
  await instance.advance(90_000);
  await instance.settle();
  await instance.settle();
  expect(await shown()).toMatchObject({ state: "granted" });
  expect(sent("POST")).toHaveLength(1);
});

test("a disabled endpoint or inactive tenant is asked only when active again", async () => {
  count += 1;
  const path = `/hook-${count}`;
  receiver.answer(path, [GRANT, 200]);
  const { endpoint } = await instance.hooks.endpoints.create("acme", {
    url: receiver.url + path,
    events: ["never"],
    isActive: false,
    handshake: { origin: ORIGIN },
  });
  await instance.settle();
  await instance.hooks.tenants.upsert("acme", { isActive: false });
  await instance.hooks.endpoints.enable("acme", endpoint.id);
  await instance.settle();
  expect(receiver.requestsTo(path)).toEqual([]);
  await instance.hooks.tenants.upsert("acme", { isActive: true });
  await instance.settle();
  expect(receiver.requestsTo(path).map(({ method }) => method)).toEqual(["OPTIONS"]);
});

test("endpoints that do not respond delay no other handshake", async () => {
  await instance.hooks.tenants.upsert("other");
  const { opened, open: release } = gate();
  receiver.answer("/mute", { until: opened });
  const handshake = { origin: ORIGIN };
  for (let mute = 0; mute < 12; mute += 1) {
    const url = `${receiver.url}/mute?${mute}`;
    await instance.hooks.endpoints.create("acme", { url, events: ["x"], handshake, timeoutMs: 60_000 });
  }
  receiver.answer("/quick", [GRANT]);
  const url = `${receiver.url}/quick`;
  const { endpoint } = await instance.hooks.endpoints.create("other", { url, events: ["x"], handshake });
  await receiver.received(1, { path: "/quick" });
  const first = (await instance.hooks.endpoints.list("acme", { limit: 100 })).data.filter(({ url }) =>
    url.includes("/mute?"),
  );
  expect(first.map(({ handshake }) => handshake?.detail)).toEqual(Array(12).fill(null));
  release();
  await instance.settle();
  expect((await instance.hooks.endpoints.get("other", endpoint.id)).handshake?.state).toBe("granted");
  for (const { id } of first) await instance.hooks.endpoints.delete("acme", id);
});

test("a new URL is asked again, and gets nothing before it agrees or the setting is removed", async () => {
  const { id, publish, shown } = await asked([GRANT, 200]);
  await instance.settle();
  const other = `/other-${count}`;
  receiver.answer(other, [405, 200]);
  await instance.hooks.endpoints.update("acme", id, { url: `${receiver.url}${other}` });
  await publish();
  expect(await shown()).toMatchObject({ state: "denied", detail: expect.stringContaining("HTTP 405") });
  expect(receiver.requestsTo(other).map(({ method }) => method)).toEqual(["OPTIONS"]);
  await instance.hooks.endpoints.update("acme", id, { handshake: null });
  await instance.settle();
  const [, sent, ...more] = receiver.requestsTo(other);
  expect([sent?.method, more]).toEqual(["POST", []]);
  expect(sent?.headers["webhook-request-origin"]).toBeUndefined();
});

test.each([
  [{ origin: "https://example.com" }, /DNS name/],
  [{ origin: "" }, /DNS name/],
  [{ origin: "a\r\nb" }, /DNS name/],
  [{ origin: ORIGIN, orgin: 1 }, /A handshake has no/],
  ["yes", /handshake is an object/],
])("refused: %j", async (handshake, words) => {
  const input = { url: `${receiver.url}/x`, events: ["*"], handshake };
  await expect(instance.hooks.endpoints.create("acme", input as never)).rejects.toThrow(words);
});
