import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeTemporaryFolder } from "../../../../../tests/support/temporary-folder.ts";
import { connect } from "./connection.ts";

test("without a key, a command uses the admin key of this machine's settings, for a server on this machine only", async () => {
  const folder = makeTemporaryFolder();
  const config = join(folder, "posthorn.yaml");
  writeFileSync(config, `data_dir: ${folder}\n`);
  const env = { POSTHORN_CONFIG: config };
  await expect(connect({}, env)).rejects.toThrow("No key is set.");
  writeFileSync(join(folder, "admin-key"), "of-the-data-directory\n");
  expect((await connect({}, env)).key).toBe("of-the-data-directory");
  writeFileSync(config, "admin_key: of-the-settings-file\n");
  expect((await connect({}, env)).key).toBe("of-the-settings-file");
  expect((await connect({}, { ...env, POSTHORN_ADMIN_KEY: "of-the-environment" })).key).toBe(
    "of-the-environment",
  );
  await expect(connect({ url: "https://hooks.example.com" }, env)).rejects.toThrow("No key is set.");
});
