// What the commands of a server make of their command line and of a folder without a database, before anything is opened.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { runCommand } from "../../../../../tests/support/run-command.ts";

test.each(["serve", "dev"])("%s with a port that is none is a wrong command line", async (command) => {
  const { code, err } = await runCommand([command, "--port", "99999"]);
  expect([code, err]).toEqual([2, expect.stringContaining("--port must be a whole number")]);
});

test("an invalid environment variable is not a usage error", async () => {
  vi.stubEnv("PORT", "99999");
  onTestFinished(() => void vi.unstubAllEnvs());
  expect((await runCommand(["serve"])).code).toBe(1);
});

test.each([
  ["--status", /at version 0\. Run `posthorn migrate`.*pending {2}0001/s],
  ["--dry-run", /create schema "posthorn".*-- 1 /s],
])("migrate %s reports that the database does not exist, and creates none", async (flag, says) => {
  const folder = mkdtempSync(join(tmpdir(), "posthorn-migrate-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const dataDir = join(folder, "data");
  const written: string[] = [];
  const write = (text: string | Uint8Array): boolean => written.push(String(text)) > 0;
  const spies = [process.stdout, process.stderr].map((stream) =>
    vi.spyOn(stream, "write").mockImplementation(write),
  );
  const { code } = await runCommand(["migrate", flag, "--data-dir", dataDir]);
  for (const spy of spies) spy.mockRestore();
  expect([code, existsSync(dataDir)]).toEqual([0, false]);
  expect(written.join("")).toMatch(says);
  expect(written.join("")).toContain("There is no database yet");
});
