// Tenants and their members over HTTP, and events for a member.
import { expect, test } from "vitest";
import { get, send } from "../../../../../tests/support/servers/http.ts";
import { adminKey, sharedServer } from "../../../../../tests/support/servers/start-server.ts";

const server = sharedServer({ started: false });
const asAdmin = { authorization: `Bearer ${adminKey}` };

/** Sends the path as it is written; `fetch` resolves its dots. */
async function statusOfPut(path: string, body = {}): Promise<number> {
  const headers = { ...asAdmin, "content-type": "application/json" };
  return (await send(server.url + path, { method: "PUT", headers, body: JSON.stringify(body) })).status;
}

test.each([".", "..", "%2e", "%2E%2e", "a%2F..", "%2e%2e%2fkeys"])(
  "%s in a path is neither a tenant nor a user",
  async (id) => {
    const member = `/api/v1/tenants/${await server.newTenant()}/members/${id}`;
    expect(await statusOfPut(`/api/v1/tenants/${id}`)).toBe(422);
    expect((await get(`${server.url}/api/v1/tenants/${id}/endpoints`, asAdmin)).status).toBe(404);
    expect(await statusOfPut(member, { role: "owner" })).toBe(422);
  },
);

/** Two tenants with the same member, and the headers of the first tenant's admin. */
async function twoTenants() {
  const user = `u-${crypto.randomUUID()}`;
  const tenants = [await server.newTenant(), await server.newTenant()];
  for (const tenant of tenants)
    await server.call("PUT", `/api/v1/tenants/${tenant}/members/${user}`, { role: "member" });
  const [tenant = ""] = tenants;
  return { server, user, tenant, tenants, admin: await server.keyHeaders(["admin"], tenant) };
}

test("publishing for a user returns one event per tenant", async () => {
  const { server, user, tenants } = await twoTenants();
  const event = { user, type: "user.invited", data: {} };
  const headers = { "idempotency-key": "k" };
  const { status, json } = await server.call("POST", "/api/v1/events", event, headers);
  expect([status, json]).toEqual([
    202,
    {
      user,
      events: tenants.toSorted().map((tenant) => ({
        tenant,
        id: expect.stringMatching(/^evt_/),
        sequence: null,
        duplicate: false,
        deliveries: null,
      })),
    },
  ]);
  const again = await server.call("POST", "/api/v1/events", event, headers);
  expect(again.json.events.map(({ duplicate }: { duplicate: boolean }) => duplicate)).toEqual([true, true]);
  for (const [body, pointer] of [
    [{ ...event, tenant: "acme" }, "/user"],
    [[event], "/0/user"],
    [{ ...event, user: 5 }, "/user"],
    [{ type: "user.invited", data: {} }, "/tenant"],
  ] as const)
    expect((await server.call("POST", "/api/v1/events", body)).json).toMatchObject({
      status: 422,
      errors: [{ pointer }],
    });
});

test("a key of a tenant cannot publish for a user, and learns nothing about the user", async () => {
  const { server, user, admin } = await twoTenants();
  const publish = (to: string) =>
    server.call(
      "POST",
      "/api/v1/events",
      { user: to, type: "user.invited", data: {} },
      { ...admin, "x-request-id": "same" },
    );
  const [known, unknown] = [await publish(user), await publish("nobody")];
  expect([known.status, known.json.detail]).toEqual([
    403,
    expect.stringContaining("a key of the whole installation"),
  ]);
  expect(unknown.text).toBe(known.text);
});

test("a tenant's admin changes and deletes its members, and cannot add any", async () => {
  const { server, user, tenant, admin } = await twoTenants();
  const path = `/api/v1/tenants/${tenant}/members/${user}`;
  const change = { role: "owner", email: "anna@acme.example" };
  expect((await server.call("PUT", path, change, admin)).json).toMatchObject(change);
  expect((await server.call("PUT", path, { role: "member" }, admin)).json).toMatchObject({
    role: "member",
    email: change.email,
  });
  expect((await server.call("DELETE", path, undefined, admin)).status).toBe(204);
  const refused = await server.call("PUT", path, change, { ...admin, "x-request-id": "same" });
  expect(refused.json).toMatchObject({ status: 403, code: "forbidden" });
  expect(refused.json.detail).toContain("Only a key of the whole installation can add members");
  const unknown = await server.call("PUT", path.replace(user, "zoe"), change, {
    ...admin,
    "x-request-id": "same",
  });
  expect(unknown.text.replaceAll("zoe", user)).toBe(refused.text);
  expect((await server.call("PUT", path, change)).status).toBe(200);
});
