// Events for a user over HTTP.
import { expect, test } from "vitest";
import { startServer, type TestServer } from "../../../../../../tests/support/start-server.ts";

async function startWithUser(): Promise<TestServer> {
  const server = await startServer({ started: false });
  for (const tenant of ["acme", "beta"]) {
    await server.call("PUT", `/api/v1/tenants/${tenant}`);
    await server.call("PUT", `/api/v1/tenants/${tenant}/members/anna`, { role: "member" });
  }
  return server;
}

const invited = { user: "anna", type: "user.invited", data: {} };

test("publishing for a user returns one event per tenant", async () => {
  const server = await startWithUser();
  const { status, json } = await server.call("POST", "/api/v1/events", invited);
  expect([status, json]).toEqual([
    202,
    {
      user: "anna",
      events: ["acme", "beta"].map((tenant) => ({
        tenant,
        id: expect.stringMatching(/^evt_/),
        sequence: null,
        duplicate: false,
        deliveries: null,
      })),
    },
  ]);
  const headers = { "idempotency-key": "k" };
  await server.call("POST", "/api/v1/events", invited, headers);
  const again = await server.call("POST", "/api/v1/events", invited, headers);
  expect(again.json.events.map(({ duplicate }: { duplicate: boolean }) => duplicate)).toEqual([true, true]);
});

test("a key of a tenant may not publish for a user", async () => {
  const server = await startWithUser();
  const made = { name: "x", tenant: "acme", scopes: ["admin"] };
  const { json } = await server.call("POST", "/api/v1/keys", made);
  const headers = { authorization: `Bearer ${json.key}`, "x-request-id": "same" };
  const [known, unknown] = [
    await server.call("POST", "/api/v1/events", invited, headers),
    await server.call("POST", "/api/v1/events", { ...invited, user: "nobody" }, headers),
  ];
  expect(known.status).toBe(403);
  expect(unknown.text).toBe(known.text);
  expect((await server.call("GET", "/api/v1/events")).json.data).toEqual([]);
});

test.each<[what: string, body: unknown, pointer: string]>([
  ["both a tenant and a user", { ...invited, tenant: "acme" }, "/user"],
  ["a user in an array", [invited], "/0/user"],
  ["a user that is no text", { ...invited, user: 5 }, "/user"],
  ["neither", { type: "user.invited", data: {} }, "/tenant"],
])("%s is refused", async (_what, body, pointer) => {
  const server = await startWithUser();
  const { status, json } = await server.call("POST", "/api/v1/events", body);
  expect([status, json.errors[0].pointer]).toEqual([422, pointer]);
});

test("a tenant's admin cannot make itself the tenant of somebody else's user", async () => {
  const server = await startWithUser();
  await server.call("PUT", "/api/v1/tenants/nosy");
  const made = await server.call("POST", "/api/v1/keys", { name: "nosy", tenant: "nosy", scopes: ["admin"] });
  const headers = { authorization: `Bearer ${made.json.key}`, "x-request-id": "same" };
  const admit = (user: string) =>
    server.call("PUT", `/api/v1/tenants/nosy/members/${user}`, { role: "member" }, headers);
  const [known, unknown] = [await admit("anna"), await admit("zoe")];
  expect(known.json).toMatchObject({ status: 403, code: "forbidden" });
  expect(known.json.detail).toContain("Only a key of the whole installation can add members");
  expect(unknown.text.replaceAll("zoe", "anna")).toBe(known.text);
  const { json } = await server.call("POST", "/api/v1/events", invited);
  expect(json.events.map(({ tenant }: { tenant: string }) => tenant)).toEqual(["acme", "beta"]);
});

test("a key of a tenant gets an error that names the key needed to publish for a user", async () => {
  const server = await startWithUser();
  const made = await server.call("POST", "/api/v1/keys", {
    name: "acme",
    tenant: "acme",
    scopes: ["events:publish"],
  });
  const headers = { authorization: `Bearer ${made.json.key}` };
  const { status, json } = await server.call("POST", "/api/v1/events", invited, headers);
  expect([status, json.detail]).toEqual([403, expect.stringContaining("a key of the whole installation")]);
});

test("a tenant's admin changes and removes the members it was given, and cannot bring one back", async () => {
  const server = await startWithUser();
  const made = await server.call("POST", "/api/v1/keys", { name: "acme", tenant: "acme", scopes: ["admin"] });
  const headers = { authorization: `Bearer ${made.json.key}` };
  const path = "/api/v1/tenants/acme/members/anna";
  const change = { role: "owner", email: "anna@acme.example" };
  const changed = await server.call("PUT", path, change, headers);
  expect([changed.status, changed.json]).toMatchObject([200, change]);
  expect((await server.call("PUT", path, { role: "member" }, headers)).json).toMatchObject({
    role: "member",
    email: "anna@acme.example",
  });
  expect((await server.call("DELETE", path, undefined, headers)).status).toBe(204);
  expect((await server.call("PUT", path, change, headers)).status).toBe(403);
  expect((await server.call("PUT", path, change)).status).toBe(200);
});
