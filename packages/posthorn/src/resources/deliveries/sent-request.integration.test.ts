// Compares the returned request of an attempt with the one that the receiver got.
import { expect, test } from "vitest";
import { databasePerFile, receiverPerFile } from "../../../../../tests/support/database/database-per-test.ts";
import type { ReceivedRequest } from "../../testing/index.ts";

const receiver = await receiverPerFile();
const world = await databasePerFile({ retryPolicy: "1m,5m", catalogue: "open", maxEndpointsPerTenant: 50 });
const instance = await world.open();
await instance.hooks.eventTypes.put("card.used", { redact: ["/card"] });

let path = 0;
async function delivered(options: Record<string, unknown> = {}, event: Record<string, unknown> = {}) {
  path += 1;
  const { endpoint } = await instance.hooks.endpoints.create("acme", {
    url: `${receiver.url}/hook-${path}?token=t`,
    events: [`number.${path}`, "card.used"],
    headers: { "X-Team": "billing", Authorization: "Bearer their-own" },
    ...options,
  });
  const type = `number.${path}`;
  await instance.hooks.publish({ tenant: "acme", type, data: { n: 1.5 }, ...event });
  await instance.settle();
  const [delivery] = (await instance.hooks.deliveries.list({ endpoint: endpoint.id })).data;
  return { endpoint: endpoint.id, path: `/hook-${path}`, id: delivery?.id as string };
}

const HTTPS_OWN = ["host", "connection", "content-length"];

function comparable({ headers }: { headers: ReceivedRequest["headers"] }) {
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  return Object.fromEntries(entries.filter(([name]) => !HTTPS_OWN.includes(name as string)));
}

test("the rebuilt request of each attempt is byte for byte what the receiver got", async () => {
  const next = `/hook-${path + 1}`;
  receiver.answer(next, [500, 200]);
  const { id } = await delivered({ signature: { schemes: ["sha256", "standard-webhooks"] } });
  await instance.advance(70_000);
  await instance.settle();
  const got = receiver.requestsTo(next);
  expect(got).toHaveLength(2);
  for (const [index, request] of got.entries()) {
    const shown = await instance.hooks.deliveries.request(id, { attempt: index + 1 });
    expect(shown).toMatchObject({ attempt: index + 1, method: "POST", differences: [], redactedParts: [] });
    expect(comparable(shown)).toEqual(comparable(request));
    expect(shown.body).toEqual(request.body);
    expect(shown.url).toBe(receiver.url + request.url);
  }
  expect((await instance.hooks.deliveries.request(id)).attempt).toBe(2);
});

test("a delivery without attempts has only a fresh request", async () => {
  const { endpoint, path } = await delivered();
  await instance.hooks.endpoints.disable("acme", endpoint);
  await instance.hooks.publish({ tenant: "acme", type: path.replace("/hook-", "number."), data: {} });
  const [waiting] = (await instance.hooks.deliveries.list({ endpoint, state: "pending" })).data;
  const id = waiting?.id as string;
  const { request } = instance.hooks.deliveries;
  await expect(request(id)).rejects.toMatchObject({ code: "attempt_not_found" });
  await expect(request(id, { attempt: 1, fresh: true })).rejects.toMatchObject({ code: "attempt_not_found" });
  expect(await request(id, { fresh: true })).toMatchObject({ attempt: 1, isFresh: true });
});

test("after a change of the endpoint the request is marked as possibly different", async () => {
  const { id, endpoint } = await delivered();
  const { request } = instance.hooks.deliveries;
  const before = await request(id);
  await instance.advance(1_000);
  await instance.hooks.endpoints.rotateSecret("acme", endpoint, { overlapSeconds: 0 });
  const rotated = await request(id);
  expect(rotated.differences).toMatchObject([{ reason: "settings_changed" }]);
  expect(rotated.headers["X-Webhook-Signature"]).not.toBe(before.headers["X-Webhook-Signature"]);
  expect(rotated.body).toEqual(before.body);
});

test("the request is signed with the secret of that time, even if it has expired", async () => {
  const first = await delivered();
  await instance.hooks.endpoints.rotateSecret("acme", first.endpoint, { overlapSeconds: 60 });
  await instance.advance(1_000);
  const type = first.path.replace("/hook-", "number.");
  await instance.hooks.publish({ tenant: "acme", type, data: {} });
  await instance.settle();
  await instance.advance(120_000);
  const [newest] = (await instance.hooks.deliveries.list({ endpoint: first.endpoint })).data;
  const shown = await instance.hooks.deliveries.request(newest?.id as string);
  const got = receiver.requestsTo(first.path).at(-1) as ReceivedRequest;
  expect(shown.differences).toEqual([]);
  expect(shown.headers["X-Webhook-Signature"]).toBe(got.headers["x-webhook-signature"]);
  expect(shown.headers["X-Webhook-Signature"]?.match(/v1=/g)).toHaveLength(2);
});

test("payloads and their signatures are masked on request", async () => {
  const { id } = await delivered({}, { type: "card.used", data: { card: "4111", n: 1 } });
  const { request } = instance.hooks.deliveries;
  const redacted = await request(id, { redacted: true });
  expect(JSON.parse(String(redacted.body)).data).toEqual({ card: "[redacted]", n: 1 });
  expect(redacted.redactedParts).toEqual(["X-Webhook-Signature", "webhook-signature", "body"]);
  expect(String((await request(id)).body)).toContain("4111");
  // no path leads into bytes, so all of them are redacted
  const attributes = { source: "/shop", datacontenttype: "image/png", encoding: "base64" } as const;
  const bytes = await delivered(
    { format: "cloudevents-binary" },
    { type: "card.used", data: "NDExMQ==", attributes },
  );
  expect(String((await request(bytes.id, { redacted: true })).body)).toBe("[redacted]");
  expect(String((await request(bytes.id)).body)).toBe("4111");
});

test("if the worker died, timestamp and signature are unknown", async () => {
  const { id } = await delivered();
  await instance.hooks.db.query(
    {
      name: "forget the time",
      text: `with forgotten as (update posthorn.deliveries set started_at = null where id = $1::uuid returning id)
        insert into posthorn.attempt_log (delivery_id, number, error, trigger, worker)
        select id, 1, 'unknown', 'event', 1 from forgotten`,
      hasNoTimeout: false,
    },
    [id.slice(4)],
  );
  const shown = await instance.hooks.deliveries.request(id);
  expect(shown).toMatchObject({ signedAt: null, differences: [{ reason: "time_unknown" }] });
  expect(shown.headers).toMatchObject({
    "X-Webhook-Timestamp": "[unknown]",
    "X-Webhook-Signature": "[unknown]",
    "webhook-signature": "[unknown]",
  });
});

test("another tenant's delivery, a deleted endpoint and a misspelt scope are refused", async () => {
  const { id, endpoint } = await delivered();
  const { request } = instance.hooks.deliveries;
  await expect(request(id, { tenant: "rivals" })).rejects.toMatchObject({ code: "delivery_not_found" });
  await expect(request(id, { tennant: "acme" } as never)).rejects.toMatchObject({ code: "invalid_query" });
  await expect(request(id, { attempt: 0 })).rejects.toMatchObject({ code: "invalid_query" });
  await expect(request(id, { attempt: 2 })).rejects.toMatchObject({ code: "attempt_not_found" });
  await instance.hooks.endpoints.delete("acme", endpoint);
  await expect(request(id)).rejects.toMatchObject({ code: "endpoint_deleted" });
});
