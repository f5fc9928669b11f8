// Links and sessions by the database's clock, and how many of them are kept.
import { expect, test } from "vitest";
import { databasePerTest } from "../../../../../tests/support/database/database-per-test.ts";
import { prune } from "../../maintenance/prune.ts";

const database = databasePerTest({ started: false });
const secondMs = 1_000;

test("a link can be used until it expires, and the session starts when it is used", async () => {
  const { hooks, advance } = await database.open();
  const { sessions } = hooks;
  const input = { expiresInSeconds: 60, sessionSeconds: 120 };
  const links = await Promise.all([1, 2].map(() => sessions.createPortalLink("acme", input)));
  const [first, second] = links.map(({ code }) => code) as [string, string];
  await advance(30 * secondMs);
  const opened = await sessions.useLink(first, null);
  expect(opened?.endsInMs).toBe(120 * secondMs);
  await advance(31 * secondMs);
  expect(await sessions.findLink(second, null)).toBeNull();
  expect(await sessions.useLink(second, null)).toBeNull();
  const isKnown = async () => (await sessions.known([opened?.id as string])).length === 1;
  await advance(59 * secondMs);
  expect(await isKnown()).toBe(true);
  await advance(31 * secondMs);
  expect(await isKnown()).toBe(false);
});

test("only one of many concurrent uses of a link opens a session", async () => {
  const { hooks } = await database.open();
  for (let round = 0; round < 5; round += 1) {
    const { code } = await hooks.sessions.createPortalLink("acme");
    const tries = Array.from({ length: 8 }, () => hooks.sessions.useLink(code, null));
    expect((await Promise.all(tries)).filter((opened) => opened !== null)).toHaveLength(1);
  }
});

test("expired sessions are deleted, others are kept", async () => {
  const { hooks, advance } = await database.open();
  await hooks.sessions.createPortalLink("acme", { expiresInSeconds: 60 });
  const kept = await hooks.sessions.openWithAdminKey("00".repeat(32));
  await advance(61 * secondMs);
  const logger = { debug() {}, info() {}, warn() {}, error() {} };
  const retention = { retentionDays: 90, deadRetentionDays: null, idempotencyDays: 30, auditDays: 365 };
  await prune({ db: hooks.db, logger, mayContinue: () => true, ...retention });
  const { rows } = await database.pool.query("select id from posthorn.sessions");
  expect(rows).toEqual([{ id: kept.id }]);
});

test("the newest thousand links and sessions of a tenant are kept, independently of other tenants", async () => {
  const { hooks } = await database.open();
  const admin = await hooks.sessions.openWithAdminKey("00".repeat(32));
  await database.pool.query(
    `insert into posthorn.sessions (id, digest, is_open, tenant, scopes, open_seconds, created_at, expires_at)
     select 'old' || n, '', true, 'acme', '{}', 60, now() - n * interval '1 minute', now() + interval '1 hour'
     from generate_series(1, 1000) n`,
  );
  const { id } = await hooks.sessions.createPortalLink("acme");
  const { rows } = await database.pool.query(
    "select count(*)::integer as count, bool_or(id = 'old1000') as oldest, bool_or(id = 'old999') as next from posthorn.sessions where tenant = 'acme'",
  );
  expect(rows).toEqual([{ count: 1_000, oldest: false, next: true }]);
  expect(await hooks.sessions.known([id, admin.id])).toHaveLength(2);
});

test("no session is opened with a revoked key", async () => {
  const { hooks } = await database.open();
  const { key } = await hooks.keys.create({ name: "x", scopes: ["admin"] });
  await hooks.keys.revoke(key.id);
  expect(await hooks.sessions.openWithKey(key.id, 60)).toBeNull();
});
