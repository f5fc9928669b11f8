import { expect, test } from "vitest";
import { ConfigError, type Environment, loadConfig } from "../../config.ts";
import { createLogger } from "../../logger.ts";
import { openDatabase } from "./installation.ts";
import { Lifetime } from "./lifetime.ts";

function open(env: Environment): Promise<unknown> {
  const logger = createLogger({ level: "silent", format: "json" });
  const config = loadConfig({ env: { DATABASE_URL: "postgres://127.0.0.1:1/x", ...env } });
  const lifetime = new Lifetime({ graceMs: 0, logger });
  return openDatabase({ config, logger, lifetime, onProgress: () => {} });
}

test.each<[env: Environment, says: RegExp]>([
  [
    { SMTP_URL: "smtp://u:s3cret@mail.example.com" },
    /: SMTP_URL is set, but POSTHORN_MAIL_FROM is not\. Set it/,
  ],
  [
    { POSTHORN_ALERT_WEBHOOK_URL: "https://10.0.0.1/s3cret" },
    /: POSTHORN_ALERT_WEBHOOK_URL: This address is not/,
  ],
  [{ POSTHORN_OPERATOR_TENANT: "a b" }, /: POSTHORN_OPERATOR_TENANT must be a tenant's id/],
  [
    {
      POSTHORN_WEBSUB: "true",
      POSTHORN_PUBLIC_URL: "https://hub.example.com",
      POSTHORN_WEBSUB_EXTERNAL_TOPICS: "blog",
    },
    /: POSTHORN_WEBSUB_EXTERNAL_TOPICS lists URL prefixes/,
  ],
])("%j stops the start with the names of the variables and without secrets", async (env, says) => {
  const error = await open(env).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ConfigError);
  expect((error as Error).message).toMatch(says);
  expect((error as Error).message).not.toContain("s3cret");
});

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
