// A secret is published, and every response of the API is searched for it.
import { operationsOf, pathParamsOf } from "@posthorn/client";
import { expect, test } from "vitest";
import { listen } from "../../../../tests/support/servers/http.ts";
import { startReceiver } from "../../../../tests/support/servers/start-receiver.ts";
import { sharedServer } from "../../../../tests/support/servers/start-server.ts";

const SECRET = "4111-1111-1111-1111";
const server = sharedServer({ posthorn: { retryPolicy: "1h" } });

/** Returns the responses of all GET operations that the ids allow, by operation. */
async function readAll(ids: Readonly<Record<string, string>>, headers: Record<string, string>) {
  const answers = new Map<string, string>();
  for (const [id, { method, path }] of operationsOf()) {
    if (method !== "GET" || pathParamsOf(path).some((name) => ids[name] === undefined)) continue;
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(ids[name] as string));
    answers.set(id, (await server.call("GET", filled, undefined, headers)).text);
  }
  return answers;
}

function expectNoSecret(answers: Map<string, string>, secret = SECRET): void {
  for (const [id, text] of answers) expect([id, text.includes(secret)]).toEqual([id, false]);
}

test("header values that a receiver repeats are not stored with its response", async () => {
  const receiver = await listen(
    (request, response) => void response.writeHead(400).end(JSON.stringify(request.headers)),
  );
  const headers = { "X-Password": "their-own-token", Authorization: "Bearer their-own-key" };
  const { tenant } = await server.newEndpoint({ url: receiver, headers });
  const { json: event } = await server.call("POST", "/api/v1/events", {
    tenant,
    type: "order.paid",
    data: 1,
  });
  const page = async () => (await server.call("GET", `/api/v1/events/${event.id}`)).json.deliveries[0];
  await expect.poll(async () => (await page()).attempt_count).toBe(1);
  const { text } = await server.call("GET", `/api/v1/deliveries/${(await page()).id}`);
  expect(text).toContain("x-password");
  expect(text).not.toContain("their-own");
});

test("redacted data is masked in every response without payloads:read, and never when it is sent", async () => {
  const receiver = await startReceiver();
  // an endpoint that repeats what it received
  receiver.answer("/hook", { status: 500, body: `no: ${SECRET}` });
  const { tenant, id: endpoint } = await server.newEndpoint({ url: `${receiver.url}/hook` });
  await server.call("PUT", "/api/v1/event-types/card.paid", {
    redact: ["/card/number", "/history/*/number"],
  });
  const data = `{"total": 1.0,"card":{"number":"${SECRET}"},"history":[{"number":"${SECRET}","at":1}]}`;
  const body = `{"tenant":"${tenant}","type":"card.paid","data":${data}}`;
  const { json: event } = await server.call("POST", "/api/v1/events", body);
  const [received] = await receiver.received(1);
  expect(String(received?.body)).toContain(data);
  const page = async () => (await server.call("GET", `/api/v1/events/${event.id}`)).json.deliveries[0];
  await expect.poll(async () => (await page()).attempt_count).toBe(1);
  const delivery = (await page()).id;

  const ids = { tenant, event: event.id, delivery, endpoint, name: "card.paid" };
  const masked = await readAll(ids, await server.keyHeaders(["deliveries:read", "webhooks:manage"], tenant));
  expect([...masked.keys()]).toEqual(expect.arrayContaining(["events.list", "events.get", "deliveries.get"]));
  expectNoSecret(masked);
  expect(JSON.parse(masked.get("events.get") as string).data).toEqual({
    total: 1,
    card: { number: "[redacted]" },
    history: [{ number: "[redacted]", at: 1 }],
  });
  expect(JSON.parse(masked.get("deliveries.get") as string).attempts[0].response_body).toBe("[redacted]");

  const open = await readAll(ids, await server.keyHeaders(["deliveries:read", "payloads:read"], tenant));
  for (const id of ["events.list", "events.get"]) expect(open.get(id)).toContain(`"data":${data}`);
  expect(open.get("deliveries.get")).toContain(SECRET);

  // deleting the type does not reveal it
  await server.call("DELETE", "/api/v1/event-types/card.paid");
  expectNoSecret(await readAll(ids, await server.keyHeaders(["deliveries:read"], tenant)));
});

test("the reason why an endpoint did not get an event reveals no redacted data, for any filter", async () => {
  const { tenant, id, path } = await server.newEndpoint({ filter: { data: { total: 0 } } });
  await server.call("PUT", "/api/v1/event-types/card.used", { redact: ["/card/number", "/lines/*/iban"] });
  const data = { total: 5, card: { number: SECRET }, lines: [{ iban: "DE02", n: 1 }] };
  const { json: event } = await server.call("POST", "/api/v1/events", { tenant, type: "card.used", data });
  const curious = await server.keyHeaders(["webhooks:manage", "deliveries:read"], tenant);
  const trusted = await server.keyHeaders(["deliveries:read", "payloads:read"], tenant);
  const reasonOf = async (filter: object, headers: Record<string, string>) => {
    await server.call("PATCH", path, { filter: { data: filter } }, curious);
    const { json } = await server.call("GET", `/api/v1/events/${event.id}`, undefined, headers);
    const { settings_changed: _, ...why } = json.not_matched[0];
    return why;
  };
  for (const probe of [
    { card: { number: { $startsWith: "4" } } },
    { card: { number: { $startsWith: "5" } } },
    { card: { number: { $ne: SECRET } } },
    { lines: { iban: "DE02" } },
    { lines: { iban: "FR01" } },
    { $or: [{ total: 1 }, { lines: { iban: "DE02" } }] },
    { $not: { card: { number: SECRET } } },
  ])
    expect(await reasonOf(probe, curious)).toEqual({
      endpoint_id: id,
      reason: "filter_redacted",
      detail: "Its filter uses redacted data, so its result is not shown.",
      pointer: null,
    });
  expect(await reasonOf({ total: 6 }, curious)).toMatchObject({ pointer: "/data/total" });
  expect(await reasonOf({ lines: { n: 1 } }, curious)).toMatchObject({ reason: "matches_now" });
  expect(await reasonOf({ card: { number: SECRET }, total: 6 }, trusted)).toMatchObject({
    reason: "filter",
    pointer: "/data/total",
  });
});

test("an endpoint's header values and the query of its URL are redacted without webhooks:manage", async () => {
  const token = "their-own-token";
  const url = `http://127.0.0.1:9999/hook/7?token=${token}`;
  const { tenant, id: endpoint } = await server.newEndpoint({ url, headers: { "X-Password": token } });
  await server.call("PUT", `/api/v1/tenants/${tenant}/members/anna`, { role: "member" });
  const { json: made } = await server.call("POST", `/api/v1/tenants/${tenant}/members/anna/tokens`);
  const ids = { tenant, endpoint };
  const scopes = ["deliveries:read", "deliveries:retry", "payloads:read"];
  for (const headers of [
    await server.keyHeaders(scopes, tenant),
    await server.keyHeaders(["deliveries:read"]),
    { authorization: `Bearer ${made.key}` },
  ]) {
    const seen = await readAll(ids, headers);
    expectNoSecret(seen, token);
    const shown = JSON.parse(seen.get("endpoints.get") as string);
    expect(shown).toMatchObject({
      url: "http://127.0.0.1:9999/hook/7?[redacted]",
      headers: { "X-Password": "[redacted]" },
    });
    expect(JSON.parse(seen.get("endpoints.list") as string).data).toEqual([shown]);
  }
  const managed = await readAll(ids, await server.keyHeaders(["webhooks:manage"], tenant));
  for (const id of ["endpoints.get", "endpoints.list"]) expect(managed.get(id)).toContain(token);
});
