// What ends a session: signing out, time, and the end of whatever it stands on.
import { expect, test } from "vitest";
import { databasePerTest } from "../../../../../../tests/support/database-per-test.ts";
import { eventuallyPasses } from "../../../../../../tests/support/eventually.ts";
import { serve, signIn, visitor } from "../../../../../../tests/support/sign-in.ts";
import { adminKey, type TestServer } from "../../../../../../tests/support/start-server.ts";
import { adminKeyDigest } from "../../middleware/credentials.ts";

const SESSION = "/api/v1/session";
const database = databasePerTest({ started: false });

/** Resolves as soon as the session is refused: at the latest a second later, with room for a busy machine. */
async function untilRefused(on: Pick<TestServer, "visit">, headers: Record<string, string>): Promise<void> {
  const look = async () => expect((await on.visit("GET", SESSION, undefined, headers)).status).toBe(401);
  await eventuallyPasses(look);
}

test("a session ends when its owner signs out: at once here, within a second on another node", async () => {
  const { hooks } = await database.open();
  const [here, there] = [await serve(hooks), await serve(hooks)];
  const { headers } = await signIn(here, { key: adminKey });
  expect((await there.visit("GET", SESSION, undefined, headers)).status).toBe(200);
  const over = await here.visit("DELETE", SESSION, undefined, headers);
  expect([over.status, over.headers.get("set-cookie")]).toEqual([
    204,
    "posthorn=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict",
  ]);
  expect((await here.visit("GET", SESSION, undefined, headers)).status).toBe(401);
  await untilRefused(there, headers);
});

test("a session ends with its key", async () => {
  const { hooks } = await database.open();
  const server = await serve(hooks);
  const { key, text } = await hooks.keys.create({ name: "x", scopes: ["admin"] });
  const { headers } = await signIn(server, { key: text });
  expect((await server.visit("GET", "/api/v1/tenants", undefined, headers)).status).toBe(200);
  await hooks.keys.revoke(key.id);
  await untilRefused(server, headers);
});

test("a session ends with its member", async () => {
  const { hooks } = await database.open();
  const server = await serve(hooks);
  await hooks.members.put("acme", "carl", { role: "admin" });
  const { text } = await hooks.keys.createToken("acme", "carl");
  const { code } = await hooks.sessions.createPortalLink("acme", { user: "carl" });
  const byToken = await signIn(server, { key: text });
  const byLink = await signIn(server, { code });
  expect([byToken.answer.status, byLink.answer.status]).toEqual([201, 201]);
  await hooks.members.delete("acme", "carl");
  await untilRefused(server, byToken.headers);
  await untilRefused(server, byLink.headers);
});

test("a session ends with its tenant, and does not come back with it", async () => {
  const { hooks } = await database.open();
  const server = await serve(hooks);
  const { text } = await hooks.keys.create({ name: "x", tenant: "acme", scopes: ["admin"] });
  const { code } = await hooks.sessions.createPortalLink("acme");
  const unused = await hooks.sessions.createPortalLink("acme");
  const byKey = await signIn(server, { key: text });
  const byLink = await signIn(server, { code });
  await hooks.tenants.delete("acme");
  await untilRefused(server, byKey.headers);
  await untilRefused(server, byLink.headers);
  await hooks.tenants.upsert("acme", { restore: true });
  expect((await server.visit("GET", SESSION, undefined, byLink.headers)).status).toBe(401);
  expect((await signIn(server, { code: unused.code })).answer.status).toBe(401);
});

test("a session ends with the admin key, when that is changed, and so does an operator's link", async () => {
  const { hooks } = await database.open();
  const before = await serve(hooks);
  const after = await serve(hooks, { adminKey: `${adminKey}-changed` });
  const { headers } = await signIn(before, { key: adminKey });
  expect((await before.visit("GET", "/api/v1/tenants", undefined, headers)).status).toBe(200);
  expect((await after.visit("GET", "/api/v1/tenants", undefined, headers)).status).toBe(401);
  const { code } = await hooks.sessions.createOperatorLink(adminKeyDigest(adminKey));
  expect((await signIn(after, { code }, visitor)).answer.status).toBe(401);
  expect((await signIn(before, { code }, visitor)).answer.json).toMatchObject({ kind: "operator" });
  expect((await signIn(before, { code }, visitor)).answer.status).toBe(401);
});

test("a session ends by itself: an operator's after 12 hours, one of a tenant after one, one with a key that expires with it", async () => {
  const { hooks, advance } = await database.open();
  const own = await serve(hooks);
  const { text } = await hooks.keys.create({ name: "x", tenant: "acme", scopes: ["admin"] });
  const soon = new Date(Date.now() + 600_000);
  const { text: expiring } = await hooks.keys.create({ name: "x", scopes: ["admin"], expiresAt: soon });
  const operator = await signIn(own, { key: adminKey });
  const tenant = await signIn(own, { key: text });
  const short = await signIn(own, { key: expiring });
  const status = async (headers: Record<string, string>) =>
    (await own.visit("GET", SESSION, undefined, headers)).status;
  await advance(598_000);
  expect(await status(short.headers)).toBe(200);
  await advance(3_000);
  await untilRefused(own, short.headers);
  await advance(3_599_000 - 601_000);
  expect([await status(operator.headers), await status(tenant.headers)]).toEqual([200, 200]);
  await advance(2_000);
  await untilRefused(own, tenant.headers);
  await advance(43_199_000 - 3_601_000);
  expect(await status(operator.headers)).toBe(200);
  await advance(2_000);
  await untilRefused(own, operator.headers);
});
