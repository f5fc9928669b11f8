// The `dataschema` of delivered CloudEvents, and the schemas it points to.
import { afterAll, expect, test } from "vitest";
import { startReceiver } from "../../../../../tests/support/servers/start-receiver.ts";
import { startServer } from "../../../../../tests/support/servers/start-server.ts";

const publicUrl = "https://hooks.example/in/";
const server = await startServer({ atEnd: afterAll, posthorn: { publicUrl, catalogue: "open" } });
const schema = { type: "object", properties: { total: { type: "number" } }, required: ["total"] };

const path = (type: string, version = "1") => `/event-schemas/${type}/${version}.json`;

/** Publishes an event to an endpoint of this format, and returns its `dataschema`. */
async function dataschemaOf(event: object, format = "cloudevents", on = server) {
  const receiver = await startReceiver();
  const { tenant } = await on.newEndpoint({ url: `${receiver.url}/in`, format, batch: { max_delay_ms: 10 } });
  const headers = "specversion" in event ? { "content-type": "application/cloudevents+json" } : {};
  const body = "specversion" in event ? event : { tenant, data: { total: 1 }, ...event };
  const published = await on.call(
    "POST",
    `/api/v1/events${"specversion" in event ? `?tenant=${tenant}` : ""}`,
    body,
    headers,
  );
  expect([published.status, published.text]).toEqual([202, expect.any(String)]);
  const [request] = await receiver.received(1);
  if (format === "cloudevents-binary") return request?.headers["ce-dataschema"];
  const [sent] = [JSON.parse(String(request?.body))].flat();
  return sent.dataschema;
}

test.each(["cloudevents", "cloudevents-binary", "cloudevents-thin", "cloudevents-batch"])(
  "an event with a registered schema is sent as %s with the URL that serves the schema",
  async (format) => {
    const type = `sent.as_${format.replaceAll("-", "_")}`;
    await server.call("PUT", `/api/v1/event-types/${type}`, { api_version: "2-b", schema });
    const url = await dataschemaOf({ type, api_version: "2-b" }, format);
    expect(url).toBe(`https://hooks.example/in${path(type, "2-b")}`);
    const answer = await server.visit("GET", path(type, "2-b"));
    expect([answer.status, answer.json]).toEqual([200, schema]);
    expect(answer.headers.get("content-type")).toBe("application/schema+json");
    const known = { "if-none-match": answer.headers.get("etag") ?? "" };
    expect((await server.visit("GET", path(type, "2-b"), undefined, known)).status).toBe(304);
  },
);

test("types without a schema, other versions, and CloudEvents of others get no schema of this server", async () => {
  await server.call("PUT", "/api/v1/event-types/no.schema", { description: "none" });
  await server.call("PUT", "/api/v1/event-types/one.version", { schema });
  expect(await dataschemaOf({ type: "no.schema" })).toBeUndefined();
  expect(await dataschemaOf({ type: "one.version", api_version: "2" })).toBeUndefined();
  const foreign = { specversion: "1.0", id: "1", source: "/shop", type: "one.version", data: { total: 1 } };
  expect(await dataschemaOf(foreign)).toBeUndefined();
  expect(await dataschemaOf({ ...foreign, dataschema: "https://shop.example/schema" })).toBe(
    "https://shop.example/schema",
  );
  for (const unknown of [path("no.schema"), path("one.version", "2"), path("un.known"), path("..")])
    expect((await server.visit("GET", unknown)).status).toBe(404);
});

test("an event that is older than its schema never gets one, so that its bytes stay the same", async () => {
  const receiver = await startReceiver();
  const { tenant } = await server.newEndpoint({ url: `${receiver.url}/in`, format: "cloudevents" });
  const { json: event } = await server.call("POST", "/api/v1/events", {
    tenant,
    type: "late.schema",
    data: {},
  });
  const [first] = await receiver.received(1);
  await server.call("PUT", "/api/v1/event-types/late.schema", { schema: { type: "object" } });
  const list = async () => (await server.call("GET", `/api/v1/deliveries?tenant=${tenant}`)).json.data;
  // a delivery in flight cannot be retried
  await expect.poll(list).toMatchObject([{ event_id: event.id, state: "success" }]);
  const retried = await server.call("POST", `/api/v1/deliveries/${(await list())[0].id}/retry`);
  expect(retried.status).toBe(202);
  const [, second] = await receiver.received(2);
  expect(String(second?.body)).toBe(String(first?.body));
});

test("without a public URL no schema is sent", async () => {
  const local = await startServer();
  await local.call("PUT", "/api/v1/event-types/order.paid", { schema });
  expect(await dataschemaOf({ type: "order.paid" }, "cloudevents", local)).toBeUndefined();
});
