import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import {
  type OwnPostgres,
  openOwnPostgres,
  queryOnce,
} from "../../../../../tests/support/database/own-postgres.ts";
import { createDatabase } from "../../../../../tests/support/database/postgres.ts";
import { serve } from "../../../../../tests/support/servers/http.ts";
import { commandsIn } from "../../../../../tests/support/servers/run-command.ts";
import { startServer } from "../../../../../tests/support/servers/start-server.ts";
import { makeTemporaryFolder } from "../../../../../tests/support/temporary-folder.ts";
import type { Check } from "./check.ts";

/** With fsync on, which the server of all tests lacks. */
let durable: OwnPostgres;
beforeAll(async () => {
  durable = await openOwnPostgres();
});
afterAll(() => durable.close());

const posthorn = commandsIn(() => ({ POSTHORN_DATA_DIR: makeTemporaryFolder(), PORT: "0" }));

async function doctor(env: Record<string, string>) {
  const { code, json } = await posthorn({ env })`doctor --json`;
  const checks: Check[] = json.checks;
  return { code, ok: json.ok, checks, find: (name: string) => checks.find((check) => check.name === name) };
}

test("reports no problem for a running server, as text and as JSON", async () => {
  const database = await createDatabase(durable.connectionString);
  const { connectionString, url } = await startServer({ database });
  const env = { DATABASE_URL: connectionString, PORT: new URL(url).port };
  const { code, ok, find } = await doctor(env);
  expect([code, ok]).toEqual([0, true]);
  expect(find("server")).toMatchObject({ level: "ok", message: `running at ${url} and ready` });
  const message = expect.stringMatching(/"posthorn" is at version \d+/);
  expect(find("schema")).toMatchObject({ level: "ok", message });
  expect(find("clock")?.level).toBe("ok");
  expect(find("workers")).toMatchObject({ level: "ok", message: "1 is running" });
  const out = expect.stringMatching(/^ok +Node: v\d+/);
  expect(await posthorn({ env })`doctor`).toMatchObject({ code: 0, err: "", out });
});

test("reports pending migrations without applying them", async () => {
  const database = await createDatabase(durable.connectionString);
  onTestFinished(() => database.drop());
  const { connectionString } = database;
  const env = { DATABASE_URL: connectionString };
  expect((await doctor(env)).find("schema")).toMatchObject({ level: "note" });
  const strict = await doctor({ ...env, POSTHORN_MIGRATE: "check" });
  expect([strict.code, strict.find("schema")?.advice]).toEqual([1, "Run: posthorn migrate"]);
  const query = (sql: string) => queryOnce(connectionString, sql);
  expect(await query("select from pg_namespace where nspname = 'posthorn'")).toEqual([]);
  const [{ name } = { name: "" }] = await query("select current_database() as name");
  await query(`alter database ${name} set synchronous_commit = off`);
  const message = expect.stringContaining("synchronous_commit is off");
  expect((await doctor(env)).find("durability")).toMatchObject({ level: "problem", message });
});

test("advises what to check if the database cannot be reached", async () => {
  const { code, find } = await doctor({ DATABASE_URL: "postgres://someone:hidden@127.0.0.1:1/x" });
  expect(code).toBe(1);
  expect(find("database")?.message).toMatch(/^The database cannot be reached: .*ECONNREFUSED/);
  expect(JSON.stringify(find("database"))).not.toContain("hidden");
});

test("reports all invalid settings at once", async () => {
  const { code, checks } = await doctor({ PORT: "many", POSTHORN_CONCURENCY: "5", SMTP_URL: "mail" });
  expect(code).toBe(1);
  expect(checks.filter(({ level }) => level === "problem").map(({ message }) => message)).toEqual([
    expect.stringContaining("Did you mean POSTHORN_CONCURRENCY?"),
    expect.stringContaining("PORT must be a whole number"),
    expect.stringContaining("SMTP_URL must be a URL"),
  ]);
  const noSender = await doctor({ SMTP_URL: "smtp://mail.example.com" });
  expect(noSender.find("settings")?.message).toContain("POSTHORN_MAIL_FROM");
});

test("reports readable key files and accepts the variables of the commands", async () => {
  const folder = makeTemporaryFolder();
  for (const name of ["encryption-keys", "admin-key"])
    writeFileSync(join(folder, name), "x", { mode: 0o600 });
  const env = { POSTHORN_DATA_DIR: folder, POSTHORN_URL: "http://127.0.0.1:1", POSTHORN_API_KEY: "k" };
  const { code, find } = await doctor(env);
  expect(code).toBe(0);
  expect(find("database")?.message).toBe("The embedded PostgreSQL is created on the first start.");
  chmodSync(join(folder, "admin-key"), 0o644);
  const advice = expect.stringContaining("chmod 600");
  expect((await doctor(env)).find("admin-key")).toMatchObject({ level: "problem", advice });
});

test("distinguishes a free port from one used by another program", async () => {
  const { url, close } = await serve((_request, response) => void response.end("hello"));
  const { port } = new URL(url);
  const env = { PORT: port };
  const taken = await doctor(env);
  expect([taken.code, taken.find("port")?.message]).toEqual([1, `Another program uses port ${port}.`]);
  await close();
  expect((await doctor(env)).find("port")).toMatchObject({ level: "ok", message: `${port} is free` });
});

test("reports missing workers as a problem only if deliveries are due", async () => {
  const { connectionString, hooks } = await startServer({ started: false });
  await hooks.start({ role: "api" });
  const env = { DATABASE_URL: connectionString };
  const advice = expect.stringContaining("posthorn serve");
  expect((await doctor(env)).find("workers")).toMatchObject({ level: "warning", advice });
  await hooks.tenants.upsert("acme");
  const { endpoint } = await hooks.endpoints.create("acme", { url: "http://127.0.0.1:8499/", events: ["*"] });
  await hooks.publish({ tenant: "acme", type: "order.paid", data: {} });
  const { code, find } = await doctor(env);
  expect([code, find("workers")?.message]).toEqual([1, "No worker is running, and deliveries are due."]);
  await hooks.endpoints.disable("acme", endpoint.id);
  expect((await doctor(env)).find("workers")?.level).toBe("warning");
});
