import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeTemporaryFolder } from "../../../../../tests/support/temporary-folder.ts";
import { CliError } from "../failure.ts";
import { readOrCreateKeyFile } from "./key-file.ts";

test("a key file is created once, readable only by its owner, without temporary files", () => {
  const folder = join(makeTemporaryFolder(), "data");
  const path = join(folder, "key");
  expect(readOrCreateKeyFile(path, () => "one")).toEqual({ content: "one", isNew: true });
  expect(readOrCreateKeyFile(path, () => "two")).toEqual({ content: "one", isNew: false });
  expect([readFileSync(path, "utf8"), statSync(path).mode & 0o777]).toEqual(["one\n", 0o600]);
  expect(readdirSync(folder)).toEqual(["key"]);
});

test("an unreadable file or folder gives an error with its path and advice", () => {
  const folder = makeTemporaryFolder();
  mkdirSync(join(folder, "key"));
  writeFileSync(join(folder, "file"), "");
  for (const path of [join(folder, "key"), join(folder, "file", "key")]) {
    const reading = (): unknown => readOrCreateKeyFile(path, () => "one");
    expect(reading).toThrow(CliError);
    expect(reading).toThrow(path);
    expect(reading).toThrow("POSTHORN_DATA_DIR");
  }
});
