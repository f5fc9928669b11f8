import { expect, onTestFinished, test, vi } from "vitest";
import { MAX_SCHEMA_BYTES } from "../../json-schema/schema-limits.ts";
import { MAX_IMPORTED_SCHEMA_BYTES, readDocument } from "./event-type-document.ts";

const body = (schema: object) => ({ content: { "application/json": { schema } } });
const documentOf = (webhooks: object, components: object = {}) => ({
  openapi: "3.1.0",
  info: { title: "t", version: "1" },
  webhooks,
  components,
});
const webhooksOf = (count: number, schemaOf: (nth: number) => object) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, nth) => [
      `order.n${nth}`,
      { post: { requestBody: body(schemaOf(nth)) } },
    ]),
  );

test("a second webhook of the same type and version is a problem", async () => {
  const other = { post: { "x-posthorn": { type: "order.paid" } } };
  const document = documentOf({ "order.paid": { post: {} }, other });
  await expect(readDocument(document)).rejects.toMatchObject({
    code: "invalid_event_type",
    problems: [{ pointer: "/webhooks/other", message: expect.stringContaining('"/webhooks/order.paid"') }],
  });
  const ofTwo = { post: { "x-posthorn": { type: "order.paid", api_version: "2" } } };
  expect(await readDocument(documentOf({ "order.paid": { post: {} }, ofTwo }))).toHaveLength(2);
});

test("a body, an example and a webhook may be references with descriptions", async () => {
  const components = {
    requestBodies: { Paid: { $ref: "#/components/requestBodies/Order" }, Order: body({ type: "object" }) },
    pathItems: {
      Paid: { post: { requestBody: { $ref: "#/components/requestBodies/Paid", description: "d" } } },
    },
  };
  const webhooks = { "order.paid": { $ref: "#/components/pathItems/Paid", summary: "s" } };
  const types = await readDocument(documentOf(webhooks, components));
  expect(types).toMatchObject([{ name: "order.paid", schema: '{"type":"object"}' }]);
});

test.each([
  ["is not there", "#/components/requestBodies/none"],
  ["goes in a circle", "#/components/requestBodies/loop"],
  ["leads elsewhere", "https://example.com/body.json"],
])("a reference to a body that %s is a problem, and not an event without a schema", async (_what, $ref) => {
  const components = { requestBodies: { loop: { $ref: "#/components/requestBodies/loop" } } };
  const webhooks = { "order.paid": { post: { requestBody: { $ref } } } };
  await expect(readDocument(documentOf(webhooks, components))).rejects.toMatchObject({
    problems: [{ pointer: "/webhooks/order.paid", message: expect.stringContaining($ref) }],
  });
});

test("a schema may refer to a chain of thousands of components", async () => {
  const last = 2_000;
  const chain = Array.from({ length: last + 1 }, (_, nth) => [
    `c${nth}`,
    nth === last ? { type: "string" } : { properties: { p: { $ref: `#/components/schemas/c${nth + 1}` } } },
  ]);
  const document = documentOf(
    webhooksOf(1, () => ({ $ref: "#/components/schemas/c0" })),
    { schemas: Object.fromEntries(chain) },
  );
  // with all of them it is too large, and the error reports that
  await expect(readDocument(document)).rejects.toMatchObject({
    problems: [{ pointer: "/webhooks/order.n0", message: expect.stringContaining("bytes; the limit") }],
  });
});

test("the total size of schemas is limited, and a component counts for every type that refers to it", async () => {
  const empty = JSON.stringify({ description: "" }).length;
  const component = { description: "x".repeat(MAX_SCHEMA_BYTES - empty) };
  const documentWith = (count: number) =>
    documentOf(
      webhooksOf(count, () => ({ $ref: "#/components/schemas/Large" })),
      { schemas: { Large: component } },
    );
  const most = MAX_IMPORTED_SCHEMA_BYTES / MAX_SCHEMA_BYTES;
  let hasYielded = false;
  let nowMs = 0;
  vi.spyOn(performance, "now").mockImplementation(() => (nowMs += 5));
  onTestFinished(() => void vi.restoreAllMocks());
  setImmediate(() => {
    hasYielded = true;
  });
  expect(await readDocument(documentWith(most))).toHaveLength(most);
  expect(hasYielded, "the import yields to other work").toBe(true);
  await expect(readDocument(documentWith(most + 1))).rejects.toMatchObject({
    problems: [{ pointer: `/webhooks/order.n${most}`, message: expect.stringContaining("in parts") }],
  });
});
