import { expect, test } from "vitest";
import { loadConfig } from "../../config.ts";
import { createLogger } from "../../logger.ts";
import { openDatabase } from "./installation.ts";
import { Lifetime } from "./lifetime.ts";

test("while waiting for the database, its address and the error are shown without the password", async () => {
  const logger = createLogger({ level: "silent", format: "json" });
  const config = loadConfig({ env: { DATABASE_URL: "postgres://app:s3cret@127.0.0.1:1/shop" } });
  const lifetime = new Lifetime({ graceMs: 0, logger });
  const printed = await new Promise<string>((onProgress) => {
    openDatabase({ config, logger, lifetime, onProgress }).catch(() => {});
  });
  expect(printed).toBe("Waiting for the database at 127.0.0.1:1/shop: ECONNREFUSED");
  await lifetime.end();
});
