// Command lines of `serve` and `migrate`, before a database is opened.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { posthorn } from "../../../../../tests/support/servers/run-command.ts";
import { makeTemporaryFolder } from "../../../../../tests/support/temporary-folder.ts";

test("an invalid environment variable is not a usage error", async () => {
  expect((await posthorn({ env: { PORT: "99999" } })`serve`).code).toBe(1);
});

test.each([
  ["--status", /at version 0\. Run `posthorn migrate`.*pending {2}0001/s],
  ["--dry-run", /create schema "posthorn".*-- 1 /s],
])("migrate %s reports that the database does not exist, and creates none", async (flag, says) => {
  const dataDir = join(makeTemporaryFolder(), "data");
  expect(await posthorn`migrate ${flag} --data-dir ${dataDir}`).toMatchObject({
    code: 0,
    out: expect.stringMatching(says),
    err: expect.stringContaining("There is no database yet"),
  });
  expect(existsSync(dataDir)).toBe(false);
});
