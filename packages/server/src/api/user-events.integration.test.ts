// Events for a user over HTTP.
import { expect, test } from "vitest";
import { startServer, type TestServer } from "../../../../tests/support/start-server.ts";

async function startWithUser(): Promise<TestServer> {
  const server = await startServer({ started: false });
  for (const tenant of ["acme", "beta"]) {
    await server.call("PUT", `/api/v1/tenants/${tenant}`);
    await server.call("PUT", `/api/v1/tenants/${tenant}/members/anna`, { role: "member" });
  }
  return server;
}

const invited = { user: "anna", type: "user.invited", data: {} };

test("an event for a user is answered with one for each tenant", async () => {
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

test("a key of one tenant may not publish for a user, whoever that is", async () => {
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
