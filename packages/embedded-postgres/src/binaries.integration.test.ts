import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import {
  canStartOthers,
  isRoot,
  makeTemporaryFolder,
  nobody,
  startUser,
} from "../../../tests/support/database/embedded-postgres-process.ts";
import { type Binaries, findInstalledBinaries } from "./binaries.ts";

test("a platform without binaries is reported with what to do", () => {
  expect(() => findInstalledBinaries("sunos", "sparc")).toThrow(
    expect.objectContaining({
      code: "platform_unsupported",
      message: expect.stringMatching(/sunos-sparc.*DATABASE_URL.*PostgreSQL 14/),
    }),
  );
  expect(() => findInstalledBinaries("win32", "x64")).toThrow("win32-x64");
});

test("after an install without scripts the missing library links are created, also by two processes at once", async () => {
  const packageDir = installWithoutScripts();
  const users = [startUser(), startUser()];
  const found = await Promise.all(users.map((user) => prepare(user, packageDir, makeTemporaryFolder())));
  for (const { postgres } of found) {
    expect(postgres).toBe(join(packageDir, "native/bin/postgres"));
    expect(runs(postgres)).toBe(true);
  }
});

test.runIf(canStartOthers || !isRoot)(
  "binaries that need links in a read-only folder are copied into the home once",
  async () => {
    const packageDir = installWithoutScripts();
    const lib = join(packageDir, "native/lib");
    chmodSync(lib, 0o555);
    onTestFinished(() => chmodSync(lib, 0o755)); // else it could not be removed
    const folder = makeTemporaryFolder();
    if (isRoot) chownSync(folder, nobody.uid, nobody.gid);
    const user = startUser(isRoot ? nobody : undefined);

    const { postgres } = await prepare(user, packageDir, folder);
    expect(postgres).toBe(join(folder, "postgres/binaries-test/native/bin/postgres"));
    expect(runs(postgres)).toBe(true);
    expect(await prepare(user, packageDir, folder)).toMatchObject({ postgres });
  },
);

test.runIf(isRoot)(
  "binaries in a folder that only root may enter are copied to one that the server's account can",
  async () => {
    const packageDir = installWithoutScripts(0o700);
    const folder = makeTemporaryFolder();
    const { postgres } = await prepare(startUser(), packageDir, folder);
    expect(postgres.startsWith(folder)).toBe(true);
    expect(String(execFileSync(postgres, ["--version"], nobody))).toContain("PostgreSQL");
  },
);

function prepare(user: ReturnType<typeof startUser>, packageDir: string, dataDir: string): Promise<Binaries> {
  return user.run("prepareBinaries", `${packageDir}\n${dataDir}`) as Promise<Binaries>;
}

/** A copy of the installed package as npm leaves it under --ignore-scripts. */
function installWithoutScripts(mode = 0o755): string {
  const packageDir = join(makeTemporaryFolder(mode), "package");
  copyTree(findInstalledBinaries().packageDir, packageDir);
  const lib = join(packageDir, "native/lib");
  for (const entry of readdirSync(lib, { withFileTypes: true })) {
    if (entry.isSymbolicLink()) rmSync(join(lib, entry.name));
  }
  expect(existsSync(join(lib, "libpq.so"))).toBe(false);
  return packageDir;
}

/** As hard links where the file system can: 60 MB four times is most of this file's time. */
function copyTree(from: string, to: string): void {
  try {
    execFileSync("cp", ["-al", from, to], { stdio: "ignore" });
  } catch {
    rmSync(to, { recursive: true, force: true });
    execFileSync("cp", ["-a", from, to]);
  }
}

function runs(postgres: string): boolean {
  const initdb = postgres.replace(/postgres$/, "initdb"); // needs libpq, one of the links
  return String(execFileSync(initdb, ["--version"])).includes("PostgreSQL");
}
