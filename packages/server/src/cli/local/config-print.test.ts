import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { posthorn } from "../../../../../tests/support/servers/run-command.ts";
import { makeTemporaryFolder } from "../../../../../tests/support/temporary-folder.ts";
import { fileKeyOf, settings } from "../../config/settings.ts";

function fileWith(content: string): string {
  const path = join(makeTemporaryFolder(), "posthorn.yaml");
  writeFileSync(path, content);
  return path;
}

interface Shown {
  readonly setting: string;
  readonly value: unknown;
  readonly origin: string;
}

async function shownBy({
  env,
}: {
  readonly env: Readonly<Record<string, string>>;
}): Promise<readonly Shown[]> {
  const { code, err, json } = await posthorn({ env })`config print --json`;
  expect([code, err]).toEqual([0, ""]);
  return json.settings;
}

const password = "hunter2-kqzvbw-9174-hunter2-mxplt-60358";

/** A value for every setting; a boolean or a number if nothing else is listed. */
const SAMPLES: Readonly<Record<string, string>> = {
  HOST: "0.0.0.0",
  DATABASE_URL: `postgres://app:${password}@db/shop`,
  LOG_LEVEL: "warn",
  SMTP_URL: `smtp://app:${password}@mail.example.com`,
  POSTHORN_DATA_DIR: "/srv/post horn",
  POSTHORN_SCHEMA: "hooks",
  POSTHORN_MIGRATE: "check",
  POSTHORN_ADMIN_KEY: password,
  POSTHORN_ENCRYPTION_KEYS: `k1:${Buffer.alloc(32).toString("base64")}`,
  POSTHORN_PUBLIC_URL: "https://hooks.example.com/base/",
  POSTHORN_ALLOWED_HOSTS: "hooks.internal, hooks",
  POSTHORN_PORTAL_ORIGINS: "https://app.example.com",
  POSTHORN_PORTAL_NAME: "Acme: hooks # 1",
  POSTHORN_PORTAL_LOGO_URL: "/logo.svg",
  POSTHORN_PORTAL_ACCENT: "#0a7d55",
  POSTHORN_PORTAL_APPEARANCE: "dark",
  POSTHORN_ENABLED: "drop",
  POSTHORN_ALLOW_CIDRS: "10.0.0.0/8, fd00::/8",
  POSTHORN_FORMAT: "thin",
  POSTHORN_ENVELOPE_FIELDS: '{"tenant_id":"teamId"}',
  POSTHORN_SIGNATURE_SCHEMES: "sha256:v2, standard-webhooks",
  POSTHORN_HEADER_PREFIX: "X-Acme",
  POSTHORN_USER_AGENT: "Acme/1 (+https://example.com)",
  POSTHORN_HEADERS: `{"X-Key":"${password}"}`,
  POSTHORN_RETRY_POLICY: '{"exponential":{"base":"30s","cap":"1h","max_attempts":5},"max_age":"72h"}',
  POSTHORN_RETRY_ON: "every",
  POSTHORN_ORDERING: "fifo",
  POSTHORN_FIFO_ON_DEAD: "hold",
  POSTHORN_CATALOGUE: "strict",
  POSTHORN_CLOUDEVENTS_SOURCE: "https://shop.example/{tenant}",
  POSTHORN_API_VERSION: "2026-06-01",
  POSTHORN_OPERATOR_TENANT: "123",
  POSTHORN_CUSTOMER_PORTAL_URL: "https://app.example.com/hooks?tenant={tenant}",
  POSTHORN_ALERT_WEBHOOK_URL: `https://chat.example.com/${password}`,
  POSTHORN_WEBSUB: "true",
  POSTHORN_WEBSUB_EXTERNAL_TOPICS: "https://blog.example.com/,https://news.example.com/",
  POSTHORN_WEBSUB_SIGNATURE: "sha512",
  POSTHORN_WEBSUB_ALLOW_CIDRS: "10.0.0.0/8",
  POSTHORN_SOURCES: '[{"name":"shop","kind":"replication","message_prefix":"posthorn"}]',
  POSTHORN_MAIL_FROM: "Web Hooks <a@example.com>",
};

const samples = Object.fromEntries(
  Object.values(settings).map(({ env, parse }) => [
    env,
    SAMPLES[env] ?? ["true", "7", "700", "2000"].find((text) => accepts(parse, text)) ?? "",
  ]),
);

function accepts(parse: (text: string) => unknown, text: string): boolean {
  try {
    parse(text);
    return true;
  } catch {
    return false;
  }
}

describe("config print", () => {
  test("shows structured values as JSON", async () => {
    const env = { POSTHORN_RETRY_POLICY: '{"gaps":["1s"]}' };
    const { out } = await posthorn({ env })`config print`;
    expect(out).toMatch(/POSTHORN_RETRY_POLICY +\{"gaps":\["1s"\]\} +POSTHORN_RETRY_POLICY/);
  });

  test("shows each setting with its value and origin, and masks secrets", async () => {
    const config = fileWith(`timeout_ms: 5000\nadmin_key: ${password}\nallow_cidrs: [10.0.0.0/8, fd00::/8]`);
    const env = { POSTHORN_CONFIG: config, PORT: "9000", DATABASE_URL: `postgres://app:${password}@db/shop` };
    const { code, out, err } = await posthorn({ env })`config print --data-dir /srv/posthorn`;
    expect([code, err]).toEqual([0, ""]);
    const rows = Object.fromEntries(
      out.split("\n").map((line) => {
        const [setting = "", ...rest] = line.split(/ {2,}/);
        return [setting, rest];
      }),
    );
    expect(rows).toMatchObject({
      SETTING: ["VALUE", "ORIGIN"],
      PORT: ["9000", "PORT"],
      POSTHORN_DATA_DIR: ["/srv/posthorn", "--data-dir"],
      POSTHORN_TIMEOUT_MS: ["5000", "timeout_ms (posthorn.yaml:1)"],
      POSTHORN_ALLOW_CIDRS: ["10.0.0.0/8,fd00::/8", "allow_cidrs (posthorn.yaml:3)"],
      DATABASE_URL: ["********", "DATABASE_URL"],
      POSTHORN_ADMIN_KEY: ["********", "admin_key (posthorn.yaml:2)"],
      POSTHORN_RETRY_POLICY: ["courier", "default"],
      POSTHORN_ALLOWED_HOSTS: ["none", "default"],
      SMTP_URL: ["no e-mail", "default"],
    });
    expect(out).not.toContain("hunter2");
  });

  test("prints JSON with the values as they are used", async () => {
    const config = fileWith("allow_http: yes\nallow_cidrs: 10.0.0.0/8");
    const { code, json } = await posthorn({
      env: {
        SMTP_URL: `smtp://a:${password}@b`,
        POSTHORN_MAIL_FROM: "a@example.com",
        POSTHORN_PUBLIC_URL: "https://hooks.example.com",
      },
    })`config print --config ${config} --json`;
    expect(code).toBe(0);
    expect(json.file).toBe(config);
    const of = (name: string) => json.settings.find(({ setting }: { setting: string }) => setting === name);
    const source = "allow_http (posthorn.yaml:1)";
    expect(of("POSTHORN_ALLOW_HTTP")).toEqual({
      ...{ setting: "POSTHORN_ALLOW_HTTP", value: true, origin: "file", source, default: "false" },
    });
    expect(of("POSTHORN_ALLOW_CIDRS").value).toEqual(["10.0.0.0/8"]);
    expect(of("PORT")).toEqual({
      setting: "PORT",
      value: 8400,
      origin: "default",
      source: null,
      default: "8400",
    });
    expect(of("DATABASE_URL")).toMatchObject({ value: null, default: "embedded" });
    expect(of("SMTP_URL")).toMatchObject({ value: "********", origin: "environment", source: "SMTP_URL" });
  });

  test("prints values that are accepted as settings again, with the same effect", async () => {
    const before = await shownBy({ env: samples });
    expect(before.filter(({ origin }) => origin === "environment").length).toBe(Object.keys(settings).length);
    const visible = before.filter(({ value }) => value !== "********");
    const values = Object.fromEntries(visible.map(({ setting, value }) => [fileKeyOf(setting), value]));
    const { out } = await posthorn({ env: samples })`config print --yaml`;
    const smtp_url = "smtp://mail.example.com";
    for (const content of [`${out}smtp_url: ${smtp_url}`, JSON.stringify({ ...values, smtp_url })]) {
      const after = await shownBy({ env: { POSTHORN_CONFIG: fileWith(content) } });
      for (const { setting, value } of visible)
        expect(after.find((shown) => shown.setting === setting)).toMatchObject({ value, origin: "file" });
    }
    expect(out).toContain("\n# admin_key: ******** # POSTHORN_ADMIN_KEY\n");
    expect(out).not.toContain(password);
  });

  test("of the defaults, prints comments as a settings file", async () => {
    const { out } = await posthorn({ env: {} })`config print --yaml`;
    const lines = out.trimEnd().split("\n");
    expect(lines).toHaveLength(Object.keys(settings).length);
    for (const line of lines) expect(line).toMatch(/^# [a-z0-9_]+: .* # default$/);
    expect(lines).toContain('# host: "127.0.0.1" # default');
  });

  test("validates like serve, and lists every invalid setting instead", async () => {
    const config = fileWith("prot: 1\nhost: a\nretry_policy:\n  gap: [1s]\nheader_prefix: X-");
    const env = { PORT: "x", POSTHORN_TIMEOUT_MS: "1" };
    const printed = await posthorn({ env })`config print --config ${config}`;
    expect(await posthorn({ env })`serve --config ${config}`).toEqual(printed);
    const { code, out, err } = printed;
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain("POSTHORN_TIMEOUT_MS must be a whole number from 100 to 60000");
    expect(err).toContain('retry_policy (posthorn.yaml:3): A retry policy has no "gap".');
    expect(err).toContain("header_prefix (posthorn.yaml:5): ");
    expect(err).toContain("prot (posthorn.yaml:1) is not a setting. Did you mean port?");
    expect(err).toContain('PORT must be a whole number from 0 to 65535. It is "x".');
  });
});
