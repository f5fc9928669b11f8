import { lstatSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeTemporaryFolder, startUser } from "../../../tests/support/database/embedded-postgres-process.ts";
import { withLock } from "./lock.ts";

test("processes hold the lock one after another", async () => {
  const file = join(makeTemporaryFolder(), "count");
  writeFileSync(file, "0");
  const users = [startUser(), startUser(), startUser()];
  await Promise.all(
    users.map(async (user) => {
      for (let turn = 0; turn < 10; turn++) await user.run("countUnderLock", file);
    }),
  );
  expect(readFileSync(file, "utf8")).toBe("30");
});

test("the lock of a killed process goes to one waiting process at a time", async () => {
  const file = join(makeTemporaryFolder(), "count");
  writeFileSync(file, "0");
  const [holder, ...waiting] = [startUser(), startUser(), startUser(), startUser()];
  await holder.run("holdLock", `${file}.lock`);
  const counted = Promise.all(waiting.map((user) => user.run("countUnderLock", file)));
  await holder.kill();
  await counted;
  expect(readFileSync(file, "utf8")).toBe("3");
});

test("a lock is broken if its owner's pid belongs to a later process", async () => {
  const path = join(makeTemporaryFolder(), "lock");
  symlinkSync(`${process.pid}@00000000-1`, path);
  await expect(withLock(path, async () => "mine")).resolves.toBe("mine");
});

test("the lock is released if the work fails", async () => {
  const path = join(makeTemporaryFolder(), "lock");
  await expect(withLock(path, () => Promise.reject(new Error("no luck")))).rejects.toThrow("no luck");
  expect(lstatSync(path, { throwIfNoEntry: false })).toBeUndefined();
});
