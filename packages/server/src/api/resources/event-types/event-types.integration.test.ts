// The catalogue over HTTP: registering, validating, exporting and importing.
import { expect, test } from "vitest";
import { sharedServer } from "../../../../../../tests/support/servers/start-server.ts";

const server = sharedServer({ started: false });

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

test("an OpenAPI document of another tool is imported with all referenced schemas", async () => {
  const refer = (name: string) => ({ $ref: `#/components/schemas/${name}` });
  const requestBody = { content: { "application/json": { schema: refer("Shipment") } } };
  const schemas = {
    Shipment: { type: "object", required: ["to"], properties: { to: refer("Address") } },
    Address: { type: "object", properties: { city: { type: "string" }, billing: refer("Address") } },
  };
  const document = {
    openapi: "3.1.0",
    info: { title: "Shop", version: "1" },
    webhooks: { "order.shipped": { post: { summary: "An order left the house.", requestBody } } },
    components: { schemas },
  };
  await server.call("POST", "/api/v1/event-types/import", { document });
  const type = await server.call("GET", "/api/v1/event-types/order.shipped");
  expect(type.json).toMatchObject({
    description: "An order left the house.",
    schema: { properties: { to: { $ref: "#/$defs/Address" } } },
  });
  await server.call("PUT", "/api/v1/tenants/acme");
  const data = { to: { billing: { city: 5 } } };
  const event = { tenant: "acme", type: "order.shipped", data };
  const refused = await server.call("POST", "/api/v1/events", event);
  expect(refused.json.errors[0].pointer).toBe("/data/to/billing/city");
});

test("the catalogue is exported as AsyncAPI 3.0 with valid references", async () => {
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
    const parts = path.split("/").slice(1);
    expect([path, parts.reduce((value, part) => value?.[part], json)]).not.toEqual([path, undefined]);
  }
});

test("an invalid type or document is rejected with a pointer, and nothing is registered", async () => {
  const before = (await server.call("GET", "/api/v1/event-types")).json;
  const documentOf = (webhooks: object) => ({ document: { openapi: "3.1.0", webhooks } });
  const webhooks = (schema: object) => ({
    "pet.new": { post: { requestBody: { content: { "application/json": { schema } } } } },
  });
  for (const [method, path, body, pointer] of [
    ["PUT", "order.paid", { schema: { type: "nonsense" } }, "/schema/type"],
    ["PUT", "order.paid", { schema: { $ref: "https://example.com/x" } }, "/schema/$ref"],
    ["PUT", "order.paid", { schema: { not: { camelCase: 1, pattern: "(?<=a)" } } }, "/schema/not/pattern"],
    ["PUT", "order.paid", { ...orderPaid, example: { amountDue: -1 } }, "/example/amountDue"],
    ["PUT", "order.paid", { redact: ["card"] }, "/redact/0"],
    ["PUT", "order.paid", { redacted: [] }, "/redacted"],
    ["PUT", "order.paid", { api_version: "" }, "/api_version"],
    ["PUT", "webhook.test", {}, "/name"],
    ["POST", "import", { document: { openapi: "3.0.3" } }, "/document/openapi"],
    ["POST", "import", { document: { openapi: "3.1.0", paths: {} } }, "/document/webhooks"],
    ["POST", "import", documentOf({ newPet: { post: {} } }), "/document/webhooks/newPet"],
    ["POST", "import", documentOf(webhooks({ items: { $ref: "#/x" } })), "/document/webhooks/pet.new"],
  ] as const) {
    const { status, json } = await server.call(method, `/api/v1/event-types/${path}`, body);
    expect([status, json.errors?.[0]?.pointer]).toEqual([422, pointer]);
  }
  expect((await server.call("PUT", "/api/v1/event-types/export", {})).status).toBe(405);
  expect((await server.call("GET", "/api/v1/event-types")).json).toEqual(before);
});
