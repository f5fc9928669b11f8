// The data of an event, as the `dataref` of a CloudEvent refers to it.
import { expect, test } from "vitest";
import { adminKey, sharedServer } from "../../../../../../tests/support/servers/start-server.ts";

const binary = { "ce-specversion": "1.0", "ce-source": "/shop", "ce-type": "doc.made" };

const server = sharedServer();

async function publish(tenant: string, id: string, contentType: string, body: Buffer): Promise<string> {
  const headers = { ...binary, "ce-id": id, "content-type": contentType };
  return (await server.call("POST", `/api/v1/events?tenant=${tenant}`, body, headers)).json.id;
}

async function readData(event: string, headers: Record<string, string> = asAdmin) {
  const response = await fetch(`${server.url}/event-data/${event}`, { headers });
  const bytes = Buffer.from(await response.arrayBuffer());
  return { status: response.status, headers: response.headers, bytes };
}

const asAdmin = { authorization: `Bearer ${adminKey}` };

test("data has its bytes and content type, and browsers do not render it", async () => {
  const tenant = await server.newTenant();
  const [bytes, number] = [Buffer.from([0, 255, 13]), Buffer.from("1.0")];
  const read = async (event: string) => {
    const { status, headers, bytes: body } = await readData(event);
    return [status, headers.get("content-type"), body];
  };
  expect(await read(await publish(tenant, "1", "image/png", bytes))).toEqual([200, "image/png", bytes]);
  const json = "application/json";
  expect(await read(await publish(tenant, "2", json, number))).toEqual([200, json, number]);
  const own = await server.call(
    "POST",
    "/api/v1/events",
    `{"tenant":"${tenant}","type":"a.b","data":{"n":1.0}}`,
  );
  expect(await read(own.json.id)).toEqual([200, json, Buffer.from('{"n":1.0}')]);

  const page = Buffer.from("<script>alert(1)</script>");
  const { headers } = await readData(await publish(tenant, "3", "text/html", page));
  expect(Object.fromEntries(headers)).toMatchObject({
    "content-type": "text/html",
    "content-security-policy": "sandbox",
    "content-disposition": "attachment",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
  });
});

test("data needs a key of the tenant with deliveries:read, and is redacted without payloads:read", async () => {
  const [tenant, other] = [await server.newTenant(), await server.newTenant()];
  await server.call("PUT", "/api/v1/event-types/doc.made", { redact: ["/card"] });
  const event = await publish(tenant, "1", "application/json", Buffer.from('{"card":"4111","n":1}'));
  const image = await publish(tenant, "2", "image/png", Buffer.from([1, 2, 255]));
  const reader = await server.keyHeaders(["deliveries:read"], tenant);
  expect((await readData(event, reader)).bytes.toString()).toBe('{"card":"[redacted]","n":1}');
  expect((await readData(image, reader)).bytes.toString()).toBe("[redacted]");
  const full = await server.keyHeaders(["deliveries:read", "payloads:read"], tenant);
  expect((await readData(event, full)).bytes.toString()).toBe('{"card":"4111","n":1}');

  const stranger = await server.keyHeaders(["deliveries:read", "payloads:read"], other);
  expect((await readData(event, stranger)).status).toBe(404);
  expect((await readData("evt_0198c2f0-0000-7000-8000-000000000000", stranger)).status).toBe(404);
  expect((await readData(event, await server.keyHeaders(["events:publish"], tenant))).status).toBe(403);
  expect((await readData(event, {})).status).toBe(401);
});
