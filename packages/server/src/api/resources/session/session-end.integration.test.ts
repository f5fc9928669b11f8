// A session ends by signing out, with time, and with its key, tenant or admin key.
import { expect, test } from "vitest";
import { databasePerTest } from "../../../../../../tests/support/database/database-per-test.ts";
import { eventuallyPasses } from "../../../../../../tests/support/eventually.ts";
import {
  adminKey,
  signIn,
  startServer,
  type TestServer,
  visitor,
} from "../../../../../../tests/support/servers/start-server.ts";
import { adminKeyDigest } from "../../middleware/admin-key.ts";

const SESSION = "/api/v1/session";
const minute = 60_000;
const database = databasePerTest({ started: false });

/** Resolves when the session is refused, which takes up to a second. */
async function untilRefused(on: Pick<TestServer, "visit">, headers: Record<string, string>): Promise<void> {
  const look = async () => expect((await on.visit("GET", SESSION, undefined, headers)).status).toBe(401);
  await eventuallyPasses(look);
}

test("a session ends when its owner signs out: at once in this process, within a second in others", async () => {
  const { hooks } = await database.open();
  const [here, there] = [await startServer({ hooks }), await startServer({ hooks })];
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
  const server = await startServer({ hooks });
  const { key, text } = await hooks.keys.create({ name: "x", scopes: ["admin"] });
  const { answer, headers } = await signIn(server, { key: text });
  expect(answer.status).toBe(201);
  await hooks.keys.revoke(key.id);
  await untilRefused(server, headers);
});

test("a session ends with its tenant, and stays ended if the tenant is restored", async () => {
  const { hooks } = await database.open();
  const server = await startServer({ hooks });
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

test("a session of the admin key and an operator's link end when the key is changed", async () => {
  const { hooks } = await database.open();
  const before = await startServer({ hooks });
  const after = await startServer({ hooks, adminKey: `${adminKey}-changed` });
  const { headers } = await signIn(before, { key: adminKey });
  expect((await before.visit("GET", "/api/v1/tenants", undefined, headers)).status).toBe(200);
  expect((await after.visit("GET", "/api/v1/tenants", undefined, headers)).status).toBe(401);
  const { code } = await hooks.sessions.createOperatorLink(adminKeyDigest(adminKey));
  expect((await signIn(after, { code }, visitor)).answer.status).toBe(401);
  expect((await signIn(before, { code }, visitor)).answer.json).toMatchObject({ kind: "operator" });
  expect((await signIn(before, { code }, visitor)).answer.status).toBe(401);
});

test("a session of an operator expires after 12 hours, of a tenant after one, and never later than its key", async () => {
  const { hooks, advance } = await database.open();
  const own = await startServer({ hooks });
  const { text } = await hooks.keys.create({ name: "x", tenant: "acme", scopes: ["admin"] });
  const soon = new Date(Date.now() + 10 * minute);
  const { text: expiring } = await hooks.keys.create({ name: "x", scopes: ["admin"], expiresAt: soon });
  const operator = await signIn(own, { key: adminKey });
  const tenant = await signIn(own, { key: text });
  const short = await signIn(own, { key: expiring });
  const status = async (headers: Record<string, string>) =>
    (await own.visit("GET", SESSION, undefined, headers)).status;
  // a minute before and after: the clock also runs by itself
  await advance(9 * minute);
  expect(await status(short.headers)).toBe(200);
  await advance(2 * minute);
  await untilRefused(own, short.headers);
  await advance((59 - 11) * minute);
  expect([await status(operator.headers), await status(tenant.headers)]).toEqual([200, 200]);
  await advance(2 * minute);
  await untilRefused(own, tenant.headers);
  await advance((12 * 60 - 1 - 61) * minute);
  expect(await status(operator.headers)).toBe(200);
  await advance(2 * minute);
  await untilRefused(own, operator.headers);
});
