// The data of an event by itself, as whoever follows the `dataref` of a CloudEvent reads it.
import { expect, test } from "vitest";
import { adminKey, startServer, type TestServer } from "../../../../../../tests/support/start-server.ts";

const binary = { "ce-specversion": "1.0", "ce-source": "/shop", "ce-type": "doc.made" };

async function publish(server: TestServer, id: string, contentType: string, body: Buffer): Promise<string> {
  const headers = { ...binary, "ce-id": id, "content-type": contentType };
  return (await server.call("POST", "/api/v1/events?tenant=acme", body, headers)).json.id;
}

test("data comes back with its bytes and its content type, and no browser takes it for a page of ours", async () => {
  const server = await startServer();
  await server.call("PUT", "/api/v1/tenants/acme");
  const bytes = Buffer.from([0, 255, 13]);
  const page = Buffer.from("<script>alert(1)</script>");
  const read = async (event: string) => {
    const { status, headers, bytes: body } = await readData(server, event);
    return [status, headers.get("content-type"), body];
  };
  expect(await read(await publish(server, "1", "image/png", bytes))).toEqual([200, "image/png", bytes]);
  expect(await read(await publish(server, "2", "application/json", Buffer.from("1.0")))).toEqual([
    200,
    "application/json",
    Buffer.from("1.0"),
  ]);
  const ours = await server.call("POST", "/api/v1/events", '{"tenant":"acme","type":"a.b","data":{"n":1.0}}');
  expect(await read(ours.json.id)).toEqual([200, "application/json", Buffer.from('{"n":1.0}')]);

  const { headers } = await readData(server, await publish(server, "3", "text/html", page));
  expect(Object.fromEntries(headers)).toMatchObject({
    "content-type": "text/html",
    "content-security-policy": "sandbox",
    "content-disposition": "attachment",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
  });
});

test("it takes a key of the tenant that may read deliveries, and what the catalogue hides stays hidden", async () => {
  const server = await startServer();
  for (const tenant of ["acme", "other"]) await server.call("PUT", `/api/v1/tenants/${tenant}`);
  await server.call("PUT", "/api/v1/event-types/doc.made", { redact: ["/card"] });
  const event = await publish(server, "1", "application/json", Buffer.from('{"card":"4111","n":1}'));
  const secretBytes = await publish(server, "2", "image/png", Buffer.from([1, 2, 255]));
  const keyOf = async (tenant: string, ...scopes: string[]) =>
    (await server.call("POST", "/api/v1/keys", { name: "x", tenant, scopes })).json.key;

  const masked = await keyOf("acme", "deliveries:read");
  expect((await readData(server, event, masked)).bytes.toString()).toBe('{"card":"[redacted]","n":1}');
  expect((await readData(server, secretBytes, masked)).bytes.toString()).toBe("[redacted]");
  const open = await keyOf("acme", "deliveries:read", "payloads:read");
  expect((await readData(server, event, open)).bytes.toString()).toBe('{"card":"4111","n":1}');

  const stranger = await keyOf("other", "deliveries:read", "payloads:read");
  const refused = await readData(server, event, stranger);
  const unknown = await readData(server, "evt_0198c2f0-0000-7000-8000-000000000000", stranger);
  expect([refused.status, unknown.status]).toEqual([404, 404]);
  expect((await readData(server, event, await keyOf("acme", "events:publish"))).status).toBe(403);
  expect((await fetch(`${server.url}/event-data/${event}`)).status).toBe(401);
});

async function readData(server: TestServer, event: string, key = adminKey) {
  const response = await fetch(`${server.url}/event-data/${event}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  return { status: response.status, headers: response.headers, bytes };
}
