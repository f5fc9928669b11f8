// The catalogue over HTTP: registering, checking, carrying it elsewhere.
import { createClient } from "@posthorn/client";
import { expect, test } from "vitest";
import {
  adminKey,
  sharedServer,
  startServer,
  type TestServer,
} from "../../../../../../tests/support/start-server.ts";

const shared = sharedServer({ started: false });

const orderPaid = {
  description: "An order was paid.",
  schema: {
    type: "object",
    required: ["amountDue"],
    properties: { amountDue: { $ref: "#/$defs/money" }, const: { const: { $ref: "not one" } } },
    $defs: { money: { type: "integer", minimum: 0 } },
  },
  example: { amountDue: 1299 },
  redact: ["/card/number"],
  deprecated: true,
};

async function startWithTenant(): Promise<TestServer> {
  const server = await startServer();
  await server.call("PUT", "/api/v1/tenants/acme");
  return server;
}

test("a type is registered, shown, listed and deleted, in the contract's shapes", async () => {
  const server = shared();
  const client = createClient({ url: server.url, key: adminKey, checksAnswers: true });
  await client.eventTypes.put({ name: "order.paid", body: orderPaid });
  await client.eventTypes.put({ name: "order.paid", body: { api_version: "2" } });
  expect(await client.eventTypes.get({ name: "order.paid", query: { api_version: "1" } })).toMatchObject({
    ...orderPaid,
    name: "order.paid",
    api_version: "1",
    versions: ["1", "2"],
  });
  expect(await client.eventTypes.get({ name: "order.paid" })).toMatchObject({
    api_version: "2",
    schema: null,
  });
  const first = await client.eventTypes.list({ query: { limit: 1 } });
  const rest = await client.eventTypes.list({ query: { cursor: first.next_cursor ?? "" } });
  expect([...first.data, ...rest.data].map(({ api_version }) => api_version)).toEqual(["1", "2"]);
  await client.eventTypes.delete({ name: "order.paid", query: { api_version: "1" } });
  expect((await client.eventTypes.list()).data).toHaveLength(1);
  await client.eventTypes.delete({ name: "order.paid" });
  await expect(client.eventTypes.get({ name: "order.paid" })).rejects.toMatchObject({
    code: "event_type_not_found",
    status: 404,
  });
});

test.each<[what: string, body: object, pointer: string]>([
  ["a schema that is none", { schema: { type: "nonsense" } }, "/schema/type"],
  ["a reference to somewhere else", { schema: { $ref: "https://example.com/x" } }, "/schema/$ref"],
  [
    "a pattern that looks behind",
    { schema: { properties: { camelCase: { pattern: "(?<=a)" } } } },
    "/schema/properties/camelCase/pattern",
  ],
  ["an example that does not fit", { ...orderPaid, example: { amountDue: -1 } }, "/example/amountDue"],
  ["a path that is none", { redact: ["card"] }, "/redact/0"],
  ["an unknown field", { redacted: [] }, "/redacted"],
  ["a version that is none", { api_version: "" }, "/api_version"],
])("%s is refused with a pointer", async (_what, body, pointer) => {
  const server = shared();
  const answer = await server.call("PUT", "/api/v1/event-types/order.paid", body);
  expect([answer.status, answer.json.errors?.[0]?.pointer]).toEqual([422, pointer]);
  expect((await server.call("GET", "/api/v1/event-types")).json.data).toEqual([]);
});

test.each(["webhook.test", "Order.Paid", "import", "export"])("%s is not a name for a type", async (name) => {
  const server = shared();
  const { status } = await server.call("PUT", `/api/v1/event-types/${name}`, {});
  expect([405, 422]).toContain(status);
});

test("an event that does not fit is refused with the place in its data, also in an array", async () => {
  const server = await startWithTenant();
  await server.call("PUT", "/api/v1/event-types/order.paid", orderPaid);
  const event = { tenant: "acme", type: "order.paid", data: { amountDue: 1 } };
  const wrong = { ...event, data: { amountDue: "1" } };
  expect((await server.call("POST", "/api/v1/events", event)).status).toBe(202);
  const one = await server.call("POST", "/api/v1/events", wrong);
  expect([one.status, one.json.code, one.json.errors]).toEqual([
    422,
    "invalid_event",
    [
      {
        pointer: "/data/amountDue",
        message: '"/data/amountDue" must be integer, says the schema of order.paid, version 1.',
      },
    ],
  ]);
  const many = await server.call("POST", "/api/v1/events", [event, wrong]);
  expect([many.status, many.json.errors[0].pointer]).toEqual([422, "/1/data/amountDue"]);
  const unknown = await server.call("POST", "/api/v1/events", {
    ...event,
    type: "order.pad",
    api_version: "1",
  });
  expect(unknown.json.errors).toEqual([
    { pointer: "/type", message: expect.stringContaining("Did you mean order.paid?") },
  ]);
  const version = await server.call("POST", "/api/v1/events", { ...event, api_version: "9" });
  expect(version.json.errors[0].pointer).toBe("/api_version");
});

test("what is exported as OpenAPI is imported as it was", async () => {
  const server = await startServer({ started: false });
  await server.call("PUT", "/api/v1/event-types/order.paid", orderPaid);
  await server.call("PUT", "/api/v1/event-types/order.paid", { api_version: "2" });
  const { json: document } = await server.call("GET", "/api/v1/event-types/export");
  const again = await server.call("POST", "/api/v1/event-types/import", { document });
  expect(again.json.data.map(({ change }: { change: string }) => change)).toEqual(["unchanged", "unchanged"]);

  const other = shared();
  const dry = await other.call("POST", "/api/v1/event-types/import", { document, dry_run: true });
  expect(dry.json.data[0]).toEqual({ name: "order.paid", api_version: "1", change: "created" });
  expect((await other.call("GET", "/api/v1/event-types")).json.data).toEqual([]);
  await other.call("POST", "/api/v1/event-types/import", { document });
  expect((await other.call("GET", "/api/v1/event-types/export?format=openapi")).json).toEqual(document);
  const part = await other.call("GET", "/api/v1/event-types/export?type=invoice.*");
  expect(part.json.webhooks).toEqual({});
  const wrong = await other.call("GET", "/api/v1/event-types/export?type=Order");
  expect([wrong.status, wrong.json.errors[0].parameter]).toEqual([422, "type"]);
});

test("an OpenAPI document of another tool is imported with all referenced schemas", async () => {
  const server = shared();
  const document = {
    openapi: "3.1.0",
    info: { title: "Shop", version: "1" },
    webhooks: {
      "order.shipped": {
        post: {
          summary: "An order left the house.",
          requestBody: {
            content: { "application/json": { schema: { $ref: "#/components/schemas/Shipment" } } },
          },
        },
      },
    },
    components: {
      schemas: {
        Shipment: {
          type: "object",
          required: ["to"],
          properties: { to: { $ref: "#/components/schemas/Address" } },
        },
        Address: {
          type: "object",
          properties: { city: { type: "string" }, billing: { $ref: "#/components/schemas/Address" } },
        },
      },
    },
  };
  await server.call("POST", "/api/v1/event-types/import", { document });
  const type = await server.call("GET", "/api/v1/event-types/order.shipped");
  expect(type.json).toMatchObject({
    description: "An order left the house.",
    schema: { properties: { to: { $ref: "#/$defs/Address" } } },
  });
  await server.call("PUT", "/api/v1/tenants/acme");
  const data = { to: { billing: { city: 5 } } };
  const refused = await server.call("POST", "/api/v1/events", {
    tenant: "acme",
    type: "order.shipped",
    data,
  });
  expect(refused.json.errors[0].pointer).toBe("/data/to/billing/city");
});

test.each<[what: string, document: object, pointer: string]>([
  ["an older OpenAPI", { openapi: "3.0.3" }, "/document/openapi"],
  ["one without webhooks", { openapi: "3.1.0", paths: {} }, "/document/webhooks"],
  [
    "a name that is no type",
    { openapi: "3.1.0", webhooks: { newPet: { post: {} } } },
    "/document/webhooks/newPet",
  ],
  [
    "a reference that leads nowhere",
    {
      openapi: "3.1.0",
      webhooks: {
        "pet.new": {
          post: { requestBody: { content: { "application/json": { schema: { items: { $ref: "#/x" } } } } } },
        },
      },
    },
    "/document/webhooks/pet.new",
  ],
])("%s is not imported", async (_what, document, pointer) => {
  const server = shared();
  const answer = await server.call("POST", "/api/v1/event-types/import", { document });
  expect([answer.status, answer.json.errors[0].pointer]).toEqual([422, pointer]);
});

test("the catalogue is written as AsyncAPI 3.0, whose references all lead somewhere", async () => {
  const server = shared();
  await server.call("PUT", "/api/v1/event-types/order.paid", orderPaid);
  const { json } = await server.call("GET", "/api/v1/event-types/export?format=asyncapi");
  expect(json).toMatchObject({
    asyncapi: "3.0.0",
    operations: { "send-order.paid-1": { action: "send", channel: { $ref: "#/channels/order.paid-1" } } },
    components: { messages: { "order.paid-1": { name: "order.paid" } } },
  });
  const references = [...JSON.stringify(json).matchAll(/"\$ref":"#(\/[^"]+)"/g)].map(
    ([, path]) => path as string,
  );
  expect(references.length).toBeGreaterThan(4);
  for (const path of references) {
    const found = path
      .split("/")
      .slice(1)
      .reduce((value, part) => value?.[part], json);
    expect([path, found === undefined]).toEqual([path, false]);
  }
});

test("keys of a tenant read the catalogue and do not change it", async () => {
  const server = await startWithTenant();
  await server.call("PUT", "/api/v1/event-types/order.paid", orderPaid);
  const key = await server.call("POST", "/api/v1/keys", {
    name: "x",
    tenant: "acme",
    scopes: ["events:publish"],
  });
  const headers = { authorization: `Bearer ${key.json.key}` };
  expect((await server.call("GET", "/api/v1/event-types/order.paid", undefined, headers)).status).toBe(200);
  expect((await server.call("PUT", "/api/v1/event-types/order.paid", {}, headers)).status).toBe(403);
});
