// PostgreSQL refuses to run as root: what happens when root starts it, and that nothing changes for other users. Needs
// root to change accounts, and a repository the other account may read.
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
} from "../../../tests/support/embedded-postgres-process.ts";
import { clusterOf, postmasterPid } from "../../../tests/support/postmaster-pid.ts";

const daemon = { uid: 1, gid: 1 };

describe.runIf(isRoot)("started by root", () => {
  test("the server runs under an unprivileged account that owns the data", async () => {
    const dataDir = chooseDataDir();
    const user = startUser();
    await user.open(dataDir);
    expect(statSync(`/proc/${postmasterPid(dataDir)}`).uid).toBe(nobody.uid);
    expect(statSync(clusterOf(dataDir)).uid).toBe(nobody.uid);
    expect(statSync(dataDir).uid).toBe(0);
    await user.close();
  });

  test("below a folder only root may enter, data is kept elsewhere and lasts", async () => {
    const dataDir = chooseDataDir({ parent: makeTemporaryFolder(0o700) });
    const user = startUser();
    await user.open(dataDir);
    expect(readlinkSync(join(dataDir, "postgres"))).toMatch(/^\/var\/lib\/posthorn\/[0-9a-f]{16}$/);
    await user.query("create table kept as select 42 as answer");
    const second = startUser();
    await second.open(dataDir);
    await second.close();
    await user.close();
    expect(postmasterPid(dataDir)).toBeNull();

    await user.open(dataDir);
    expect(await user.query("select answer from kept")).toEqual([{ answer: 42 }]);
    await user.close();
  });

  test("processes that start at once below such a folder choose one place", async () => {
    const dataDir = chooseDataDir({ parent: makeTemporaryFolder(0o700) });
    const users = [startUser(), startUser(), startUser()];
    const opened = await Promise.all(users.map((user) => user.open(dataDir)));
    expect(new Set(opened.map(({ connection }) => connection.host)).size).toBe(1);
    await Promise.all(users.map((user) => user.close()));
  });

  test("a link to a folder that does not exist is reported", async () => {
    const dataDir = chooseDataDir({ parent: makeTemporaryFolder(0o700) });
    const user = startUser();
    await user.open(dataDir);
    await user.close();
    rmSync(readlinkSync(join(dataDir, "postgres")), { recursive: true });
    await expect(user.open(dataDir)).rejects.toThrow("is a link to a folder that does not exist");
  });

  test("in the folder of a user, the server runs as that user", async () => {
    const folder = makeTemporaryFolder();
    chownSync(folder, daemon.uid, daemon.gid);
    const dataDir = chooseDataDir({ parent: folder });
    const user = startUser();
    await user.open(dataDir);
    expect(statSync(`/proc/${postmasterPid(dataDir)}`).uid).toBe(daemon.uid);
    expect(statSync(dataDir).uid).toBe(daemon.uid);
    await user.close();
  });
});

describe.runIf(canStartOthers)("started by an ordinary user", () => {
  test("the server runs as that user", async () => {
    const folder = makeTemporaryFolder();
    chownSync(folder, nobody.uid, nobody.gid);
    const dataDir = chooseDataDir({ parent: folder });
    const user = startUser(nobody);
    await user.open(dataDir);
    expect(await user.query("select 1 as one")).toEqual([{ one: 1 }]);
    expect(statSync(`/proc/${postmasterPid(dataDir)}`).uid).toBe(nobody.uid);
    await user.close();
  });

  test("root and the user share the server of the user's folder, whoever comes first", async () => {
    const folder = makeTemporaryFolder();
    chownSync(folder, nobody.uid, nobody.gid);
    const dataDir = chooseDataDir({ parent: folder });
    const [root, user] = [startUser(), startUser(nobody)];
    await root.open(dataDir);
    await user.open(dataDir);
    await root.close();
    expect(await user.query("select 1 as one")).toEqual([{ one: 1 }]);
    await root.open(dataDir);
    await user.close();
    expect(await root.query("select 1 as one")).toEqual([{ one: 1 }]);
    await root.close();
    expect(postmasterPid(dataDir)).toBeNull();
  });

  test("a data directory that cannot be written is refused with the way out", async () => {
    const folder = makeTemporaryFolder();
    mkdirSync(join(folder, "data"));
    await expect(startUser(nobody).open(join(folder, "data"))).rejects.toMatchObject({
      code: "data_directory_unusable",
      message: expect.stringMatching(/permission denied.*POSTHORN_DATA_DIR.*DATABASE_URL/is),
    });
  });

  test("a data directory that root made is refused, not broken", async () => {
    const dataDir = chooseDataDir();
    chownSync(join(dataDir, ".."), daemon.uid, daemon.gid);
    const root = startUser();
    await root.open(dataDir);
    await root.close();
    await expect(startUser(nobody).open(dataDir)).rejects.toMatchObject({ code: "data_directory_unusable" });
    expect(lstatSync(join(dataDir, "postgres")).uid).toBe(daemon.uid);
  });
});
