// A secret is published, and every answer of the API is searched for it.
import { operationsOf, pathParamsOf } from "@posthorn/client";
import { startScriptedReceiver } from "posthorn/testing";
import { expect, onTestFinished, test } from "vitest";
import { startServer, type TestServer } from "../../../../tests/support/start-server.ts";

const SECRET = "4111-1111-1111-1111";

/** Everything that can be read, with the ids of what was published. */
async function readAll(
  server: TestServer,
  ids: Readonly<Record<string, string>>,
  key: string,
): Promise<Map<string, string>> {
  const answers = new Map<string, string>();
  for (const [id, { method, path }] of operationsOf()) {
    if (method !== "GET" || pathParamsOf(path).some((name) => ids[name] === undefined)) continue;
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(ids[name] as string));
    const { text } = await server.call("GET", filled, undefined, { authorization: `Bearer ${key}` });
    answers.set(id, text);
  }
  return answers;
}

async function newKey(server: TestServer, scopes: readonly string[]): Promise<string> {
  return (await server.call("POST", "/api/v1/keys", { name: "x", tenant: "acme", scopes })).json.key;
}

test("what a type hides is masked wherever somebody without payloads:read looks, and never on the wire", async () => {
  const receiver = await startScriptedReceiver();
  onTestFinished(() => receiver.close());
  // an endpoint that repeats what it got
  receiver.answer("/hook", { status: 500, body: `no: ${SECRET}` });
  const server = await startServer({ posthorn: { retryPolicy: "1h" } });
  await server.call("PUT", "/api/v1/tenants/acme");
  const endpoint = await server.call("POST", "/api/v1/tenants/acme/endpoints", {
    url: `${receiver.url}/hook`,
    events: ["*"],
  });
  await server.call("PUT", "/api/v1/event-types/order.paid", {
    redact: ["/card/number", "/history/*/number"],
  });
  const data = `{"total": 1.0,"card":{"number":"${SECRET}"},"history":[{"number":"${SECRET}","at":1}]}`;
  const body = `{"tenant":"acme","type":"order.paid","data":${data}}`;
  const { json: event } = await server.call("POST", "/api/v1/events", body);

  const [received] = await receiver.received(1);
  expect(String(received?.body)).toContain(data);
  const found = await server.call("GET", "/api/v1/deliveries");
  const delivery = found.json.data[0].id;
  await expect
    .poll(async () => (await server.call("GET", `/api/v1/deliveries/${delivery}`)).json.attempts.length)
    .toBe(1);

  const ids = { tenant: "acme", event: event.id, delivery, endpoint: endpoint.json.id, name: "order.paid" };
  const masked = await readAll(server, ids, await newKey(server, ["deliveries:read", "webhooks:manage"]));
  expect([...masked.keys()]).toEqual(expect.arrayContaining(["events.list", "events.get", "deliveries.get"]));
  for (const [id, text] of masked) expect([id, text.includes(SECRET)]).toEqual([id, false]);
  expect(JSON.parse(masked.get("events.get") as string).data).toEqual({
    total: 1,
    card: { number: "[redacted]" },
    history: [{ number: "[redacted]", at: 1 }],
  });
  expect(JSON.parse(masked.get("deliveries.get") as string).attempts[0].response_body).toBe("[redacted]");

  const open = await readAll(server, ids, await newKey(server, ["deliveries:read", "payloads:read"]));
  for (const id of ["events.list", "events.get"]) expect(open.get(id)).toContain(`"data":${data}`);
  expect(open.get("deliveries.get")).toContain(SECRET);

  // deleting the type does not bring it to light
  await server.call("DELETE", "/api/v1/event-types/order.paid");
  const after = await readAll(server, ids, await newKey(server, ["deliveries:read"]));
  for (const [id, text] of after) expect([id, text.includes(SECRET)]).toEqual([id, false]);
});

test("why an endpoint got no event tells nothing of what is hidden, whatever its filter asks", async () => {
  const server = await startServer();
  await server.call("PUT", "/api/v1/tenants/acme");
  await server.call("PUT", "/api/v1/event-types/order.paid", { redact: ["/card/number", "/lines/*/iban"] });
  const endpoints = "/api/v1/tenants/acme/endpoints";
  const { json: endpoint } = await server.call("POST", endpoints, {
    url: "http://127.0.0.1:9999/hook",
    events: ["*"],
    filter: { data: { total: 0 } },
  });
  const data = { total: 5, card: { number: SECRET }, lines: [{ iban: "DE02", n: 1 }] };
  const { json: event } = await server.call("POST", "/api/v1/events", {
    tenant: "acme",
    type: "order.paid",
    data,
  });
  const curious = await newKey(server, ["webhooks:manage", "deliveries:read"]);
  const trusted = await newKey(server, ["deliveries:read", "payloads:read"]);
  const reasonOf = async (filter: object, key: string) => {
    const authorization = `Bearer ${key}`;
    await server.call(
      "PATCH",
      `${endpoints}/${endpoint.id}`,
      { filter },
      { authorization: `Bearer ${curious}` },
    );
    const { json } = await server.call("GET", `/api/v1/events/${event.id}`, undefined, { authorization });
    const { settings_changed: _, ...why } = json.not_matched[0];
    return why;
  };
  const hidden = {
    endpoint_id: endpoint.id,
    reason: "filter_hidden",
    detail: "Its filter uses redacted data, so its result is not shown.",
    pointer: null,
  };
  const probes = [
    [{ card: { number: { $startsWith: "4" } } }, { card: { number: { $startsWith: "5" } } }],
    [{ card: { number: { $ne: SECRET } } }, { card: { number: { $ne: "x" } } }],
    [{ lines: { iban: "DE02" } }, { lines: { iban: "FR01" } }],
    [
      { $or: [{ total: 1 }, { lines: { iban: "DE02" } }] },
      { $or: [{ total: 1 }, { lines: { iban: "FR01" } }] },
    ],
    [{ $not: { card: { number: SECRET } } }, { $not: { card: { number: "x" } } }],
  ];
  for (const probe of probes.flat()) expect(await reasonOf({ data: probe }, curious)).toEqual(hidden);
  // what is not hidden is told as before, and so is everything to those who may see it
  const visible = { data: { card: { number: SECRET }, total: 6 } };
  expect(await reasonOf({ data: { total: 6 } }, curious)).toMatchObject({ pointer: "/data/total" });
  expect(await reasonOf({ data: { lines: { n: 1 } } }, curious)).toMatchObject({ reason: "matches_now" });
  expect(await reasonOf(visible, trusted)).toMatchObject({ reason: "filter", pointer: "/data/total" });
});

test("data of a type without redacted paths is returned byte for byte", async () => {
  const server = await startServer({ started: false });
  await server.call("PUT", "/api/v1/tenants/acme");
  await server.call("PUT", "/api/v1/event-types/order.paid", {});
  const data = '{"b": 1.0, "a":12345678901234567890, "a":2}';
  const body = `{"tenant":"acme","type":"order.paid","data":${data}}`;
  const { json } = await server.call("POST", "/api/v1/events", body);
  const headers = { authorization: `Bearer ${await newKey(server, ["deliveries:read"])}` };
  const shown = await server.call("GET", `/api/v1/events/${json.id}`, undefined, headers);
  expect(shown.text).toContain(`"data":${data}`);
});

test("the values of an endpoint's headers are redacted without webhooks:manage", async () => {
  const server = await startServer();
  await server.call("PUT", "/api/v1/tenants/acme");
  const { json: endpoint } = await server.call("POST", "/api/v1/tenants/acme/endpoints", {
    url: "http://127.0.0.1:9999/hook",
    events: ["*"],
    headers: { "X-Password": SECRET },
  });
  const ids = { tenant: "acme", endpoint: endpoint.id };
  const reader = await newKey(server, ["deliveries:read", "deliveries:retry", "payloads:read"]);
  const seen = await readAll(server, ids, reader);
  for (const [id, text] of seen) expect([id, text.includes(SECRET)]).toEqual([id, false]);
  expect(JSON.parse(seen.get("endpoints.get") as string).headers).toEqual({ "X-Password": "[redacted]" });
  const managed = await readAll(server, ids, await newKey(server, ["webhooks:manage"]));
  for (const id of ["endpoints.get", "endpoints.list"]) expect(managed.get(id)).toContain(SECRET);
});

test("the query of an endpoint's URL is redacted without webhooks:manage", async () => {
  const server = await startServer();
  await server.call("PUT", "/api/v1/tenants/acme");
  const { json: endpoint } = await server.call("POST", "/api/v1/tenants/acme/endpoints", {
    url: `http://127.0.0.1:9999/hook/7?token=${SECRET}`,
    events: ["order.paid"],
  });
  await server.call("PUT", "/api/v1/tenants/acme/members/anna", { role: "member" });
  const member = await server.call("POST", "/api/v1/tenants/acme/members/anna/tokens");
  const { json: event } = await server.call("POST", "/api/v1/events", {
    tenant: "acme",
    type: "order.sent",
    data: {},
  });
  const ids = { tenant: "acme", endpoint: endpoint.id, event: event.id };

  const reader = await newKey(server, ["deliveries:read", "deliveries:retry", "payloads:read"]);
  for (const credential of [reader, member.json.key]) {
    const seen = await readAll(server, ids, credential);
    for (const [id, text] of seen) expect([id, text.includes(SECRET)]).toEqual([id, false]);
    const shown = JSON.parse(seen.get("endpoints.get") as string);
    expect(shown.url).toBe("http://127.0.0.1:9999/hook/7?[redacted]");
    expect(JSON.parse(seen.get("endpoints.list") as string).data).toEqual([shown]);
  }
  const managed = await readAll(server, ids, await newKey(server, ["webhooks:manage"]));
  for (const id of ["endpoints.get", "endpoints.list"]) expect(managed.get(id)).toContain(SECRET);
});
