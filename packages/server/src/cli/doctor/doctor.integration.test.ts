import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type OwnPostgres, openOwnPostgres } from "../../../../../tests/support/own-postgres.ts";
import { createDatabase } from "../../../../../tests/support/postgres.ts";
import { runCommand } from "../../../../../tests/support/run-command.ts";
import { startServer } from "../../../../../tests/support/start-server.ts";

/** With fsync on, which the server of all tests lacks. */
let durable: OwnPostgres;
beforeAll(async () => {
  durable = await openOwnPostgres();
});
afterAll(() => durable.close());

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "posthorn-doctor-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

interface Found {
  readonly name: string;
  readonly level: string;
  readonly message: string;
  readonly advice: string | null;
}

async function doctor(
  env: Record<string, string>,
): Promise<{ code: number; ok: boolean; checks: Found[]; find(name: string): Found | undefined }> {
  const { code, json } = await runCommand(["doctor", "--json"], {
    env: { POSTHORN_DATA_DIR: makeFolder(), PORT: "0", ...env },
  });
  return { code, ...json, find: (name) => (json.checks as Found[]).find((check) => check.name === name) };
}

test("reports no problem for a running server, as text and as JSON", async () => {
  const database = await createDatabase(durable.connectionString);
  const { connectionString, url } = await startServer({ database });
  const env = { DATABASE_URL: connectionString, PORT: new URL(url).port };
  const { code, ok, find } = await doctor(env);
  expect([code, ok]).toEqual([0, true]);
  expect(find("server")).toMatchObject({ level: "ok", message: `running at ${url} and ready` });
  expect(find("schema")).toMatchObject({
    level: "ok",
    message: expect.stringMatching(/"posthorn" is at version \d+/),
  });
  expect(find("clock")?.level).toBe("ok");
  expect(find("workers")).toMatchObject({ level: "ok", message: "1 is running" });
  const words = await runCommand(["doctor"], { env: { ...env, POSTHORN_DATA_DIR: makeFolder() } });
  expect(words).toMatchObject({ code: 0, err: "" });
  expect(words.out).toMatch(/^ok +Node: v\d+/);
});

test("reports pending migrations without applying them", async () => {
  const database = await createDatabase(durable.connectionString);
  onTestFinished(() => database.drop());
  const env = { DATABASE_URL: database.connectionString };
  expect((await doctor(env)).find("schema")).toMatchObject({ level: "note" });
  const strict = await doctor({ ...env, POSTHORN_MIGRATE: "check" });
  expect([strict.code, strict.find("schema")?.advice]).toEqual([1, "Run: posthorn migrate"]);
  const client = new pg.Client(database.connectionString);
  await client.connect();
  onTestFinished(() => client.end());
  expect((await client.query("select from pg_namespace where nspname = 'posthorn'")).rowCount).toBe(0);
  await client.query(`alter database ${client.database} set synchronous_commit = off`);
  expect((await doctor(env)).find("durability")).toMatchObject({
    level: "problem",
    message: expect.stringContaining("synchronous_commit is off"),
  });
});

test("warns about settings of PostgreSQL that can lose acknowledged events", async () => {
  const database = await createDatabase();
  onTestFinished(() => database.drop());
  const { code, find } = await doctor({ DATABASE_URL: database.connectionString });
  expect([code, find("durability")?.message]).toEqual([1, expect.stringContaining("fsync is off")]);
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
  const folder = makeFolder();
  for (const name of ["encryption-keys", "admin-key"])
    writeFileSync(join(folder, name), "x", { mode: 0o600 });
  const env = { POSTHORN_DATA_DIR: folder, POSTHORN_URL: "http://127.0.0.1:1", POSTHORN_API_KEY: "k" };
  const { code, find } = await doctor(env);
  expect([code, find("database")?.message]).toEqual([
    0,
    "The embedded PostgreSQL is created on the first start.",
  ]);
  chmodSync(join(folder, "admin-key"), 0o644);
  expect((await doctor(env)).find("admin-key")).toMatchObject({
    level: "problem",
    advice: expect.stringContaining("chmod 600"),
  });
});

test("distinguishes a free port from one used by another program", async () => {
  const http = createServer((_request, response) => void response.end("hello"));
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const { port } = http.address() as AddressInfo;
  const taken = await doctor({ PORT: String(port) });
  expect([taken.code, taken.find("port")?.message]).toEqual([1, `Another program uses port ${port}.`]);
  await new Promise((resolve) => http.close(resolve));
  expect((await doctor({ PORT: String(port) })).find("port")).toMatchObject({
    level: "ok",
    message: `${port} is free`,
  });
});

test("reports missing workers as a problem only if deliveries are due", async () => {
  const { connectionString, hooks } = await startServer({ posthorn: { enabled: false } });
  const env = { DATABASE_URL: connectionString };
  expect((await doctor(env)).find("workers")).toMatchObject({
    level: "warning",
    advice: expect.stringContaining("posthorn serve"),
  });
  await hooks.tenants.upsert("acme");
  const { endpoint } = await hooks.endpoints.create("acme", { url: "http://127.0.0.1:8499/", events: ["*"] });
  await hooks.publish({ tenant: "acme", type: "order.paid", data: {} });
  const { code, find } = await doctor(env);
  expect([code, find("workers")?.message]).toEqual([1, "No worker is running, and deliveries are due."]);
  await hooks.endpoints.disable("acme", endpoint.id);
  expect((await doctor(env)).find("workers")?.level).toBe("warning");
});
