// How a key comes into use and goes again, by the commands that an operator has.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPosthorn, type Posthorn } from "posthorn";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type OwnPostgres, openOwnPostgres } from "../../../../../tests/support/own-postgres.ts";
import { createDatabase } from "../../../../../tests/support/postgres.ts";
import { type CommandResult, runCommand } from "../../../../../tests/support/run-command.ts";
import { checkEncryptionKeys } from "./encryption-keys.ts";

const makeKey = (id: string): string => `${id}:${randomBytes(32).toString("base64")}`;
const k1 = makeKey("k1");
const k2 = makeKey("k2");

/** Doctor minds a server without fsync, such as that of all tests. */
let durable: OwnPostgres;
beforeAll(async () => {
  durable = await openOwnPostgres();
});
afterAll(() => durable.close());

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "posthorn-keys-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** A database that a server with k1 was started on, with two secrets in it. */
async function setUp() {
  const database = await createDatabase(durable.connectionString);
  onTestFinished(() => database.drop());
  const { connectionString } = database;
  const open = (...encryptionKeys: string[]): Posthorn => {
    const hooks = createPosthorn({ database: connectionString, encryptionKeys });
    onTestFinished(() => hooks.stop());
    return hooks;
  };
  const hooks = open(k1);
  await hooks.migrate();
  await checkEncryptionKeys(hooks, { keys: [k1], path: null, isNew: false });
  await hooks.tenants.upsert("acme");
  for (const url of ["https://example.com/a", "https://example.com/b"])
    await hooks.endpoints.create("acme", { url, events: ["*"] });
  const run = (command: string, keys: readonly string[], ...args: string[]): Promise<CommandResult> =>
    runCommand([command, ...args], {
      env: {
        DATABASE_URL: connectionString,
        POSTHORN_DATA_DIR: makeFolder(),
        PORT: "0",
        ...(keys.length > 0 && { POSTHORN_ENCRYPTION_KEYS: keys.join(",") }),
      },
    });
  const judged = async (...keys: string[]) => {
    const { code, json } = await run("doctor", keys, "--json");
    const found = json.checks.find(({ name }: { name: string }) => name === "encryption keys");
    return { code, level: found.level as string, message: found.message as string };
  };
  /** As at the start of a server. */
  const check = async (...keys: string[]): Promise<void> => {
    const starting = open(...keys);
    await checkEncryptionKeys(starting, { keys, path: null, isNew: false });
    await starting.encryptionKeys.check();
  };
  return { open, run, judged, check };
}

test("a key is retired by listing the new one first, re-encrypting, and removing it", async () => {
  const { run, judged, check } = await setUp();
  await check(k2, k1);
  await expect(check(k2)).rejects.toThrow(/key "k1", which is not available here/);
  const { code, out } = await run("reencrypt", [k2, k1]);
  expect([code, out]).toEqual([
    0,
    'Re-encrypted with the key "k2": 2.\nSecrets encrypted with the key "k2": 2.\n' +
      '"k1" can be removed when every process lists "k2" first.\n',
  ]);
  await check(k2);
  expect(await judged(k2)).toEqual({ code: 0, level: "ok", message: "match the secrets in the database" });
  await expect(check(k1)).rejects.toThrow(/key "k2", which is not available here/);
});

test("a process that still encrypts with the old key is detected, and the old key stays required", async () => {
  const { open, run, check } = await setUp();
  await run("reencrypt", [k2, k1]);
  await open(k1, k2).endpoints.create("acme", { url: "https://example.com/late", events: ["*"] });
  await expect(check(k2)).rejects.toMatchObject({ code: "encryption_key_missing" });
  expect((await run("reencrypt", [k2, k1], "--json")).json).toEqual({
    keyId: "k2",
    reencrypted: 1,
    unreadable: 0,
    inUse: [{ keyId: "k2", count: 3 }],
  });
  await check(k2);
});

test("secrets that no key can decrypt are an error, and their key stays required", async () => {
  const { open, run, check } = await setUp();
  const k3 = makeKey("k3");
  await open(k3, k1).endpoints.create("acme", { url: "https://example.com/c", events: ["*"] });
  const { code, out, err } = await run("reencrypt", [k2, k1]);
  expect([code, out]).toEqual([1, expect.stringContaining('Secrets encrypted with the key "k3": 1.')]);
  expect(err).toContain("1 secret(s) cannot be decrypted with the available keys");
  await expect(check(k2)).rejects.toThrow(/"k1"/);
  expect((await run("reencrypt", [k2, k1, k3])).code).toBe(0);
  await check(k2);
});

test("doctor reports the same key errors as a start", async () => {
  const { judged, check } = await setUp();
  const changed = makeKey("k1");
  expect(await judged(k1)).toMatchObject({ code: 0, level: "ok" });
  for (const [keys, says] of [
    [[makeKey("k9")], /the key "k1", which is not available here/],
    [[], /the key "k1", which is not available here/],
    [[changed], /The encryption key "k1" differs .* has the same id/],
  ] as const) {
    expect(await judged(...keys)).toEqual({
      code: 1,
      level: "problem",
      message: expect.stringMatching(says),
    });
    if (keys.length > 0) await expect(check(...keys)).rejects.toThrow(says);
  }
});

test("doctor finds a secret that the keys cannot decrypt, even if the first key matches", async () => {
  const { open, judged } = await setUp();
  await open(makeKey("k7"), k1).endpoints.create("acme", { url: "https://example.com/x", events: ["*"] });
  expect(await judged(k1)).toMatchObject({ code: 1, message: expect.stringContaining('"k7"') });
});

test("doctor reads the keys of the data directory and creates none", async () => {
  const database = await createDatabase(durable.connectionString);
  onTestFinished(() => database.drop());
  const hooks = createPosthorn({ database: database.connectionString });
  onTestFinished(() => hooks.stop());
  await hooks.migrate();
  await checkEncryptionKeys(hooks, { keys: [k1], path: null, isNew: false });
  const folder = makeFolder();
  const env = { DATABASE_URL: database.connectionString, POSTHORN_DATA_DIR: folder, PORT: "0" };
  expect((await runCommand(["doctor"], { env })).code).toBe(1);
  writeFileSync(join(folder, "encryption-keys"), `${k2},${k1}\n`, { mode: 0o600 });
  expect((await runCommand(["doctor"], { env })).code).toBe(0);
});

test("an empty data directory stays empty", async () => {
  const folder = join(makeFolder(), "data");
  const { code, err } = await runCommand(["reencrypt", "--data-dir", folder]);
  expect([code, err]).toEqual([1, expect.stringContaining("There is no database in")]);
});
