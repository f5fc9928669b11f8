// Filters, their trial, the reasons why an event did not match, the import and the log of an endpoint, over HTTP.
import { startScriptedReceiver } from "posthorn/testing";
import { expect, onTestFinished, test } from "vitest";
import { startServer, type TestServer } from "../../../../../../tests/support/start-server.ts";

const acme = "/api/v1/tenants/acme/endpoints";
const hook = { url: "https://hooks.example/in", events: ["*"] };

async function world(options: Parameters<typeof startServer>[0] = {}): Promise<TestServer> {
  const server = await startServer({ started: false, ...options });
  await server.call("PUT", "/api/v1/tenants/acme");
  return server;
}

const event = (data: unknown, more: object = {}) => ({ tenant: "acme", type: "order.paid", data, ...more });

const pointersOf = ({ json }: { json: { errors: { pointer: string }[] } }) =>
  json.errors.map(({ pointer }) => pointer);

test("a filter is set, returned unchanged, changed and removed", async () => {
  const server = await world();
  const filter = {
    data: { orderTotal: { $gte: 100 }, snake_case: { camelCase: "x" }, $$ref: null },
    subject: { $startsWith: "order-" },
    $or: [{ data: { a: { $in: [1, "2", true] } } }, { $not: { subject: "order-1" } }],
  };
  const { json: made, status } = await server.call("POST", acme, { ...hook, filter });
  expect(status).toBe(201);
  expect(made.filter).toEqual(filter);
  const path = `${acme}/${made.id}`;
  expect((await server.call("GET", path)).json.filter).toEqual(filter);
  expect((await server.call("PATCH", path, { description: "x" })).json.filter).toEqual(filter);
  expect((await server.call("PATCH", path, { filter: { subject: "s" } })).json.filter).toEqual({
    subject: "s",
  });
  expect((await server.call("PATCH", path, { filter: null })).json.filter).toBeNull();
});

test("a field named __proto__ is a field of the filter", async () => {
  const server = await world();
  const filter = '{"data":{"__proto__":{"a":1}}}';
  const { json: made } = await server.call(
    "POST",
    acme,
    `{"url":"${hook.url}","events":["*"],"filter":${filter}}`,
  );
  const { text } = await server.call("GET", `${acme}/${made.id}`);
  expect(text).toContain(`"filter":${filter}`);
  const match = (data: string) =>
    server.call("POST", `${acme}/${made.id}/match`, `{"type":"a.b","data":${data}}`);
  expect((await match('{"__proto__":{"a":1}}')).json.matches).toBe(true);
  expect((await match('{"a":1}')).json.matches).toBe(false);
});

test("what is wrong with a filter is pointed at in the caller's own names", async () => {
  const server = await world();
  const filter = { data: { orderId: { $startswith: "x" }, ok: 1 }, Type: 1 };
  const refused = await server.call("POST", acme, { ...hook, filter });
  expect(refused.status).toBe(422);
  expect(refused.json.code).toBe("invalid_endpoint");
  expect(pointersOf(refused)).toEqual(["/filter/data/orderId/$startswith", "/filter/Type"]);
  expect(refused.json.detail).toContain("/filter/data/orderId/$startswith: ");
  expect(refused.json.errors[0].message).toContain("Did you mean $startsWith?");
  for (const wrong of ["a", 1, [], {}, true])
    expect(pointersOf(await server.call("POST", acme, { ...hook, filter: wrong }))).toEqual(["/filter"]);
});

test("hostile filters are refused quickly: too deep, too long, too many", async () => {
  const server = await world();
  const filters = [
    `{"data":${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}}`,
    `{"data":{"a":{"$in":[${Array(30_000).fill(1)}]}}}`,
    `{"data":{"a":"${"x".repeat(9_000)}"}}`,
    `{"$or":[${Array(100).fill('{"data":{"a":1}}')}]}`,
    '{"data":{"a":"\\u0000"}}',
    '{"data":{"a":"\\ud800"}}',
    '{"data":{"a":1e400}}',
    '{"data":{"a":9007199254740993}}',
  ];
  for (const filter of filters) {
    const answer = await server.call("POST", acme, `{"url":"${hook.url}","events":["*"],"filter":${filter}}`);
    expect([answer.status, answer.json.code]).toEqual([422, "invalid_endpoint"]);
  }
});

test("only what matches arrives, and the event's page says why it did not go elsewhere", async () => {
  const server = await world({ started: true });
  const receiver = await startScriptedReceiver();
  onTestFinished(() => receiver.close());
  const filter = { data: { amount: { $gte: 100 }, currency: "EUR" } };
  const { json: endpoint } = await server.call("POST", acme, { ...hook, url: `${receiver.url}/in`, filter });
  const { json: silent } = await server.call("POST", acme, { ...hook, events: ["invoice.*"] });
  const small = await server.call("POST", "/api/v1/events", event({ amount: 99, currency: "EUR" }));
  expect(small.json.deliveries).toBe(0);
  const large = await server.call("POST", "/api/v1/events", event({ amount: 100, currency: "EUR" }));
  expect(large.json.deliveries).toBe(1);
  const [arrived] = await receiver.received(1);
  expect(JSON.parse(String(arrived?.body)).data.amount).toBe(100);
  const { json: page } = await server.call("GET", `/api/v1/events/${small.json.id}`);
  expect(page).toMatchObject({ data: { amount: 99 }, deliveries: [] });
  expect(page.not_matched).toEqual([
    {
      endpoint_id: endpoint.id,
      reason: "filter",
      detail: "The condition at /data/amount/$gte of its filter does not hold.",
      pointer: "/data/amount/$gte",
      settings_changed: false,
    },
    expect.objectContaining({ endpoint_id: silent.id, reason: "type" }),
  ]);
  const { json: log } = await server.call("GET", `/api/v1/events/${large.json.id}`);
  expect(log.deliveries).toHaveLength(1);
  expect(log.not_matched).toHaveLength(1);
});

test("a thin endpoint is told what happened to what, by a filter on the data that it is not sent", async () => {
  const server = await world({ started: true });
  const receiver = await startScriptedReceiver();
  onTestFinished(() => receiver.close());
  const endpoint = { ...hook, url: `${receiver.url}/in`, format: "thin", filter: { data: { amount: 2 } } };
  const { json: made } = await server.call("POST", acme, endpoint);
  expect(made.format).toBe("thin");
  await server.call("POST", "/api/v1/events", event({ amount: 1 }));
  const { json: sent } = await server.call(
    "POST",
    "/api/v1/events",
    event({ amount: 2 }, { subject: "o-1" }),
  );
  const [arrived] = await receiver.received(1);
  expect(JSON.parse(String(arrived?.body))).toEqual({ id: sent.id, type: "order.paid", subject: "o-1" });
});

test("a filter can be tried, saved or not, before an event is published", async () => {
  const server = await world();
  const { json: made } = await server.call("POST", acme, {
    ...hook,
    filter: { data: { amount: { $gt: 5 } } },
  });
  const match = (body: object) => server.call("POST", `${acme}/${made.id}/match`, { type: "a.b", ...body });
  expect((await match({ data: { amount: 6 } })).json).toEqual({
    matches: true,
    reason: null,
    detail: null,
    pointer: null,
  });
  expect((await match({ data: { amount: 5 } })).json).toMatchObject({ matches: false, reason: "filter" });
  const tried = { data: { amount: 5 }, subject: "s", filter: { subject: { $in: ["s"] } } };
  expect((await match(tried)).json.matches).toBe(true);
  expect(pointersOf(await match({ data: 1, filter: { data: { orderId: {} } } }))).toEqual([
    "/filter/data/orderId",
  ]);
  expect(pointersOf(await match({ data: 1, type: "No Type" }))).toEqual(["/type"]);
  expect(pointersOf(await match({ data: 1, api_version: "2" }))).toEqual(["/api_version"]);
  expect((await server.call("POST", `${acme}/${made.id}/match`, { data: 1 })).status).toBe(422);
});

test("endpoints are imported all or none, with a dry run, secrets once and errors in the API's names", async () => {
  const server = await world();
  const { json: there } = await server.call("POST", acme, hook);
  const endpoints = [
    { ...hook, rate_limit: 5, headers: { "X-MyTeam": "a" }, filter: { data: { orderId: 1 } } },
    { id: there.id, description: "changed" },
  ];
  const dry = await server.call("POST", `${acme}/import`, { endpoints, dry_run: true });
  expect(dry.status).toBe(200);
  expect(dry.json).toEqual({
    dry_run: true,
    endpoints: [
      { action: "created", id: null, url: expect.any(String), secret: null },
      { action: "updated", id: there.id, url: expect.any(String), secret: null },
    ],
  });
  expect((await server.call("GET", acme)).json.data).toEqual([{ ...there, secret: undefined }]);
  const done = await server.call("POST", `${acme}/import`, { endpoints });
  const [made] = done.json.endpoints;
  expect(made).toMatchObject({ action: "created", secret: expect.stringMatching(/^whsec_/) });
  const { json: list, text } = await server.call("GET", acme);
  expect(list.data).toMatchObject([
    { id: made.id, rate_limit: 5, headers: { "X-MyTeam": "a" }, filter: { data: { orderId: 1 } } },
    { id: there.id, description: "changed" },
  ]);
  expect(text).not.toContain(made.secret);
  const wrong = await server.call("POST", `${acme}/import`, {
    endpoints: [
      { ...hook, timeout_ms: 1 },
      { ...hook, filter: { data: { orderId: [] } } },
      { id: made.id, signature: { header_prefix: "X-" } },
    ],
  });
  expect(wrong.json.code).toBe("invalid_endpoint");
  expect(pointersOf(wrong)).toEqual([
    "/endpoints/0/timeout_ms",
    "/endpoints/1/filter/data/orderId",
    "/endpoints/2/signature/header_prefix",
  ]);
  expect(
    pointersOf(await server.call("POST", `${acme}/import`, { endpoints: [{ ...hook, url: 5 }] })),
  ).toEqual(["/endpoints/0/url"]);
  const unknown = await server.call("POST", `${acme}/import`, { endpoints: [{ ...hook, owner: "x" }] });
  expect([unknown.status, ...pointersOf(unknown)]).toEqual([422, "/endpoints/0/owner"]);
});

test("what is imported is the tenant's that it is imported for, whatever it says of itself", async () => {
  const server = await world();
  await server.call("PUT", "/api/v1/tenants/rivals");
  const { json } = await server.call("POST", `${acme}/import`, {
    endpoints: [{ ...hook, tenant: "rivals" }],
  });
  expect((await server.call("GET", "/api/v1/tenants/rivals/endpoints")).json.data).toEqual([]);
  expect((await server.call("GET", `${acme}/${json.endpoints[0].id}`)).json.tenant).toBe("acme");
});

test("an import treats another tenant's endpoint as unknown", async () => {
  const server = await world();
  await server.call("PUT", "/api/v1/tenants/rivals");
  const { json: theirs } = await server.call("POST", "/api/v1/tenants/rivals/endpoints", hook);
  const answers = [];
  for (const id of [theirs.id, "ep_0197a3c2-7d1e-7c43-9a51-2f6f6f1b8e10", "x"]) {
    const { status, json } = await server.call("POST", `${acme}/import`, {
      endpoints: [{ id, description: "taken over" }],
    });
    answers.push([status, json.code, json.detail, json.errors]);
  }
  expect(answers[0]?.[0]).toBe(422);
  expect(answers[1]).toEqual(answers[0]);
  expect(answers[2]).toEqual(answers[0]);
  const { json: after } = await server.call("GET", `/api/v1/tenants/rivals/endpoints/${theirs.id}`);
  expect(after.description).toBeNull();
});

test("the log of an endpoint has its attempts, the newest delivery's first, page by page", async () => {
  const server = await world({ started: true, posthorn: { retryPolicy: "10ms,10ms" } });
  const receiver = await startScriptedReceiver();
  onTestFinished(() => receiver.close());
  receiver.answer("/in", [500, 200]);
  const { json: endpoint } = await server.call("POST", acme, { ...hook, url: `${receiver.url}/in` });
  const path = `${acme}/${endpoint.id}/attempts`;
  const { json: published } = await server.call("POST", "/api/v1/events", event(1));
  await receiver.received(2);
  await expect.poll(async () => (await server.call("GET", path)).json.data.length).toBe(2);
  const { json: log } = await server.call("GET", path);
  expect(log).toMatchObject({
    next_cursor: null,
    data: [
      { event_id: published.id, number: 2, status_code: 200, trigger: "retry", next_retry_at: null },
      { event_id: published.id, number: 1, status_code: 500, trigger: "event" },
    ],
  });
  const first = (await server.call("GET", `${path}?limit=1`)).json;
  expect(first.data).toEqual([log.data[0]]);
  const second = (await server.call("GET", `${path}?limit=1&cursor=${first.next_cursor}`)).json;
  expect(second).toEqual({ data: [log.data[1]], next_cursor: null });
  expect((await server.call("GET", `${path}?cursor=x`)).json.errors[0].parameter).toBe("cursor");
});
