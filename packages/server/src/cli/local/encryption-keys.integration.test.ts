// Replacing an encryption key with `reencrypt` and `doctor`.
import { randomBytes } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createPosthorn, type Posthorn } from "posthorn";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type OwnPostgres, openOwnPostgres } from "../../../../../tests/support/database/own-postgres.ts";
import { createDatabase } from "../../../../../tests/support/database/postgres.ts";
import { commandsIn, posthorn } from "../../../../../tests/support/servers/run-command.ts";
import { makeTemporaryFolder } from "../../../../../tests/support/temporary-folder.ts";
import { checkEncryptionKeys } from "./encryption-keys.ts";

const makeKey = (id: string): string => `${id}:${randomBytes(32).toString("base64")}`;
const k1 = makeKey("k1");
const k2 = makeKey("k2");

/** With fsync on; `doctor` reports a problem for the server of all tests. */
let durable: OwnPostgres;
beforeAll(async () => {
  durable = await openOwnPostgres();
});
afterAll(() => durable.close());

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
  const addEndpoint = (...keys: string[]) =>
    open(...keys).endpoints.create("acme", { url: "https://example.com/in", events: ["*"] });
  /** As at the start of a server. */
  const check = async (...keys: string[]): Promise<void> => {
    const starting = open(...keys);
    await checkEncryptionKeys(starting, { keys, path: null, isNew: false });
    await starting.encryptionKeys.check();
  };
  const hooks = open(k1);
  await hooks.migrate();
  await check(k1);
  await hooks.tenants.upsert("acme");
  for (const _ of [1, 2]) await addEndpoint(k1);
  const dataDir = makeTemporaryFolder();
  /** Without keys, those of the data directory are used. */
  const commandsWith = (...keys: string[]) =>
    commandsIn(() => ({
      DATABASE_URL: connectionString,
      POSTHORN_DATA_DIR: dataDir,
      PORT: "0",
      ...(keys.length > 0 && { POSTHORN_ENCRYPTION_KEYS: keys.join(",") }),
    }));
  const judged = async (...keys: string[]) => {
    const { code, json } = await commandsWith(...keys)`doctor --json`;
    const found = json.checks.find(({ name }: { name: string }) => name === "encryption keys");
    return { code, level: found.level as string, message: found.message as string };
  };
  return { addEndpoint, commandsWith, dataDir, judged, check };
}

test("a key is retired by listing the new one first, re-encrypting, and removing it", async () => {
  const { addEndpoint, commandsWith, judged, check } = await setUp();
  await check(k2, k1);
  await expect(check(k2)).rejects.toThrow(/key "k1", which is not available here/);
  const posthorn = commandsWith(k2, k1);
  expect(await posthorn`reencrypt`).toMatchObject({
    code: 0,
    out:
      'Re-encrypted with the key "k2": 2.\nSecrets encrypted with the key "k2": 2.\n' +
      '"k1" can be removed when every process lists "k2" first.\n',
  });
  // a process that still encrypts with the old key
  await addEndpoint(k1, k2);
  await expect(check(k2)).rejects.toMatchObject({ code: "encryption_key_missing" });
  expect((await posthorn`reencrypt --json`).json).toMatchObject({ reencrypted: 1, unreadable: 0 });
  await check(k2);
  expect(await judged(k2)).toEqual({ code: 0, level: "ok", message: "match the secrets in the database" });
  await expect(check(k1)).rejects.toThrow(/key "k2", which is not available here/);
});

test("secrets that no key can decrypt are an error, and their key stays required", async () => {
  const { addEndpoint, commandsWith, judged, check } = await setUp();
  const k3 = makeKey("k3");
  await addEndpoint(k3, k1);
  // the first key matches
  expect(await judged(k1)).toMatchObject({ code: 1, message: expect.stringContaining('"k3"') });
  expect(await commandsWith(k2, k1)`reencrypt`).toMatchObject({
    code: 1,
    out: expect.stringContaining('Secrets encrypted with the key "k3": 1.'),
    err: expect.stringContaining("1 secret(s) cannot be decrypted with the available keys"),
  });
  await expect(check(k2)).rejects.toThrow(/"k1"/);
  expect((await commandsWith(k2, k1, k3)`reencrypt`).code).toBe(0);
  await check(k2);
});

test("doctor reports the same key errors as a start, and creates no key", async () => {
  const { dataDir, judged, check } = await setUp();
  expect(await judged(k1)).toMatchObject({ code: 0, level: "ok" });
  for (const [keys, says] of [
    [[makeKey("k9")], /the key "k1", which is not available here/],
    [[], /the key "k1", which is not available here/],
    [[makeKey("k1")], /The encryption key "k1" differs .* has the same id/],
  ] as const) {
    const message = expect.stringMatching(says);
    expect(await judged(...keys)).toEqual({ code: 1, level: "problem", message });
    if (keys.length > 0) await expect(check(...keys)).rejects.toThrow(says);
  }
  writeFileSync(join(dataDir, "encryption-keys"), `${k2},${k1}\n`, { mode: 0o600, flag: "wx" });
  expect(await judged()).toMatchObject({ code: 0, level: "ok" });
});

test("an empty data directory stays empty", async () => {
  const folder = join(makeTemporaryFolder(), "data");
  const err = expect.stringContaining("There is no database in");
  expect(await posthorn`reencrypt --data-dir ${folder}`).toMatchObject({ code: 1, err });
  expect(existsSync(folder)).toBe(false);
});
