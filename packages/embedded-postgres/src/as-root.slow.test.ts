// PostgreSQL refuses to run as root, so root starts it under another account. Needs root to change accounts, and a
// repository that the other account can read.
import { chownSync, lstatSync, mkdirSync, readlinkSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  canStartOthers,
  chooseDataDir,
  isRoot,
  makeTemporaryFolder,
  nobody,
  startUser,
} from "../../../tests/support/database/embedded-postgres-process.ts";
import { clusterOf, postmasterPid } from "../../../tests/support/database/own-postgres.ts";

const daemon = { uid: 1, gid: 1 };

describe.runIf(isRoot)("started by root", () => {
  test.each([
    ["an unprivileged account that owns the data", { uid: 0, gid: 0 }, nobody],
    ["the owner of its folder", daemon, daemon],
  ])("the server runs under %s", async (_account, owner, account) => {
    const parent = makeTemporaryFolder();
    chownSync(parent, owner.uid, owner.gid);
    const dataDir = chooseDataDir({ parent });
    const user = startUser();
    await user.open(dataDir);
    expect(statSync(`/proc/${postmasterPid(dataDir)}`).uid).toBe(account.uid);
    expect(statSync(clusterOf(dataDir)).uid).toBe(account.uid);
    expect(statSync(dataDir).uid).toBe(owner.uid);
    await user.close();
  });

  test("below a folder that only root may enter, processes store the data in one place elsewhere, and report it missing", async () => {
    const dataDir = chooseDataDir({ parent: makeTemporaryFolder(0o700) });
    const users = [startUser(), startUser(), startUser()] as const;
    const opened = await Promise.all(users.map((user) => user.open(dataDir)));
    expect(new Set(opened.map(({ connection }) => connection.host)).size).toBe(1);
    expect(readlinkSync(join(dataDir, "postgres"))).toMatch(/^\/var\/lib\/posthorn\/[0-9a-f]{16}$/);
    await users[0].query("create table kept as select 42 as answer");
    await Promise.all(users.map((user) => user.close()));
    expect(postmasterPid(dataDir)).toBeNull();

    await users[0].open(dataDir);
    expect(await users[0].query("select answer from kept")).toEqual([{ answer: 42 }]);
    await users[0].close();
    rmSync(readlinkSync(join(dataDir, "postgres")), { recursive: true });
    await expect(users[0].open(dataDir)).rejects.toThrow("is a link to a folder that does not exist");
  });
});

describe.runIf(canStartOthers)("started by an ordinary user", () => {
  test("root and the user share the server of the user's folder", async () => {
    const folder = makeTemporaryFolder();
    chownSync(folder, nobody.uid, nobody.gid);
    const dataDir = chooseDataDir({ parent: folder });
    const [root, user] = [startUser(), startUser(nobody)];
    await user.open(dataDir);
    await root.open(dataDir);
    expect(statSync(`/proc/${postmasterPid(dataDir)}`).uid).toBe(nobody.uid);
    await root.close();
    expect(await user.query("select 1 as one")).toEqual([{ one: 1 }]);
    await root.open(dataDir);
    await user.close();
    expect(await root.query("select 1 as one")).toEqual([{ one: 1 }]);
    await root.close();
    expect(postmasterPid(dataDir)).toBeNull();
  });

  test("a data directory that cannot be written is refused with what to do", async () => {
    const folder = makeTemporaryFolder();
    mkdirSync(join(folder, "data"));
    await expect(startUser(nobody).open(join(folder, "data"))).rejects.toMatchObject({
      code: "data_directory_unusable",
      message: expect.stringMatching(/permission denied.*POSTHORN_DATA_DIR.*DATABASE_URL/is),
    });
  });

  test("a data directory that root created is refused and stays intact", async () => {
    const dataDir = chooseDataDir();
    chownSync(join(dataDir, ".."), daemon.uid, daemon.gid);
    const root = startUser();
    await root.open(dataDir);
    await root.close();
    await expect(startUser(nobody).open(dataDir)).rejects.toMatchObject({ code: "data_directory_unusable" });
    expect(lstatSync(join(dataDir, "postgres")).uid).toBe(daemon.uid);
  });
});
