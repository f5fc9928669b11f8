import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEPLOYMENT_OPTIONS } from "@posthorn/wire";
import { expect, onTestFinished, test } from "vitest";
import { settings } from "./config/settings.ts";
import { type Config, ConfigError, type ConfigSources, type Environment, loadConfig } from "./config.ts";

function problemsOf(sources: ConfigSources): readonly string[] {
  try {
    loadConfig(sources);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

function fileWith(content: string): string {
  const folder = mkdtempSync(join(tmpdir(), "posthorn-config-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "value");
  writeFileSync(path, content);
  return path;
}

test("an empty environment gives the documented defaults", () => {
  const config = loadConfig({ env: {} });
  expect(config).toMatchObject({
    port: 8400,
    host: "127.0.0.1",
    databaseUrl: undefined,
    logLevel: "info",
    dataDir: ".posthorn",
    migrate: "auto",
    allowHttp: false,
    allowCidrs: [],
    allowNat64: false,
    allowedHosts: [],
    portalOrigins: [],
    portalAppearance: "auto",
    sink: false,
    enabled: "on",
    shutdownTimeoutMs: 25_000,
  });
});

test("an empty variable or file counts as unset", () => {
  const env = { PORT: "", POSTHORN_ADMIN_KEY: "", DATABASE_URL_FILE: fileWith("\n") };
  expect(loadConfig({ env })).toMatchObject({ port: 8400, adminKey: undefined, databaseUrl: undefined });
});

test("every setting has a unique name and a description", () => {
  const all = Object.values(settings);
  expect(new Set(all.map(({ env }) => env)).size).toBe(all.length);
  for (const { env, description } of all) {
    expect(env).toMatch(/^(POSTHORN_[A-Z0-9_]+|PORT|HOST|DATABASE_URL|LOG_LEVEL|SMTP_URL)$/);
    expect(description).toMatch(/^[A-Z].{10,}\.$/);
  }
});

const HUB = { POSTHORN_WEBSUB: "true", POSTHORN_PUBLIC_URL: "https://hub.example.com" };
const MAIL = {
  SMTP_URL: "smtp://mail.example.com",
  POSTHORN_MAIL_FROM: "posthorn@example.com",
  POSTHORN_PUBLIC_URL: "https://hooks.example.com",
};
const encryptionKey = Buffer.alloc(32).toString("base64");

test.each<[name: string, text: string, setting: keyof Config, value: unknown]>([
  ["PORT", "0", "port", 0],
  ["POSTHORN_ALLOW_HTTP", "yes", "allowHttp", true],
  ["POSTHORN_ALLOW_CIDRS", "10.0.0.0/8, fd00::/8", "allowCidrs", ["10.0.0.0/8", "fd00::/8"]],
  ["POSTHORN_SIGNATURE_SCHEMES", "sha256, rfc9421", "signatureSchemes", ["sha256", "rfc9421"]],
  ["POSTHORN_FORMAT", "thin", "format", "thin"],
  ["POSTHORN_RETRY_POLICY", "200ms,1s", "retryPolicy", "200ms,1s"],
  [
    "POSTHORN_RETRY_POLICY",
    '{"exponential":{"base":"30s","cap":"1h","max_attempts":5},"max_age":"72h"}',
    "retryPolicy",
    { exponential: { base: "30s", cap: "1h", maxAttempts: 5 }, maxAge: "72h" },
  ],
  ["POSTHORN_HEADERS", '{"X-Team":"billing"}', "headers", { "X-Team": "billing" }],
  ["POSTHORN_BATCH_MAX_EVENTS", "1000", "batchMaxEvents", 1_000],
  ["POSTHORN_PUBLIC_URL", "https://hooks.example.com/", "publicUrl", "https://hooks.example.com"],
  ["LOG_LEVEL", "WARN", "logLevel", "warn"],
  ["POSTHORN_PROCESSES", "4", "processes", 4],
  ["POSTHORN_PROCESSES", "Auto", "processes", "auto"],
  ["POSTHORN_ENCRYPTION_KEYS", `a:${encryptionKey}, b:${encryptionKey}`, "encryptionKeys", { length: 2 }],
  [
    "SMTP_URL",
    "smtp://mail.example.com",
    "smtpUrl",
    { port: 587, isSecure: false, user: null, password: null },
  ],
  ["SMTP_URL", "smtps://mail.example.com/", "smtpUrl", { port: 465, isSecure: true }],
  ["SMTP_URL", "smtp://u%40x:p%3A%2F@[::1]:25", "smtpUrl", { port: 25, user: "u@x", password: "p:/" }],
])("%s=%s is read", (name, text, setting, value) => {
  const needed = name === "SMTP_URL" ? MAIL : {};
  expect(loadConfig({ env: { ...needed, [name]: text } })).toMatchObject({ [setting]: value });
});

test.each([
  ["posthorn@example.com", "posthorn@example.com"],
  ["Web Hooks <a@example.com>", '"Web Hooks" <a@example.com>'],
  ['"Web Hooks" <a@example.com>', '"Web Hooks" <a@example.com>'],
])("the mail sender %s is read as %s", (text, mailFrom) => {
  expect(loadConfig({ env: { ...MAIL, POSTHORN_MAIL_FROM: text } })).toMatchObject({ mailFrom });
});

test("a flag takes precedence over the environment, and the environment over a command's default", () => {
  const env = { PORT: "9000", HOST: "0.0.0.0" };
  const config = loadConfig({ env, flags: { port: "9001" }, defaults: { port: 1, host: "x", sink: true } });
  expect(config).toMatchObject({ port: 9001, host: "0.0.0.0", sink: true });
});

test.each([
  ["PORT", "eighty"],
  ["PORT", "65536"],
  ["PORT", "-1"],
  ["LOG_LEVEL", "loud"],
  ["POSTHORN_PROCESSES", "0"],
  ["POSTHORN_PROCESSES", "129"],
  ["POSTHORN_PROCESSES", "1.5"],
  ["DATABASE_URL", "mysql://localhost"],
  ["POSTHORN_FORMAT", "xml"],
  ["POSTHORN_HEADERS", "X-Team: billing"],
  ["POSTHORN_HEADERS", '{"X-Team":1}'],
  ["POSTHORN_BATCH_MAX_EVENTS", "1001"],
  ["POSTHORN_ALLOW_HTTP", "maybe"],
  ["POSTHORN_ALLOW_CIDRS", "10.0.0.0"],
  ["POSTHORN_ALLOW_CIDRS", "10.0.0.0/33"],
  ["POSTHORN_PUBLIC_URL", "hooks.example.com"],
  ["POSTHORN_MIGRATE", "never"],
  ["POSTHORN_ADMIN_KEY", "f3a9c0b7d2e64815f3a9c0b7d2e6481"],
  ["POSTHORN_ADMIN_KEY", "a".repeat(64)],
  ["POSTHORN_ADMIN_KEY", "change-me-".repeat(4)],
  ["POSTHORN_ADMIN_KEY", "1112223334445556661112223334445556"],
  ["POSTHORN_ENCRYPTION_KEYS", "k1:c2hvcnQ="],
  ["POSTHORN_ENCRYPTION_KEYS", `a:${encryptionKey},a:${encryptionKey}`],
  ["SMTP_URL", "mail.example.com"],
  ["SMTP_URL", "http://mail.example.com"],
  ["SMTP_URL", "smtp://"],
  ["SMTP_URL", "smtp://user:100%@mail.example.com"],
  ["SMTP_URL", "smtps://mail.example.com?tls.rejectUnauthorized=false"],
  ["POSTHORN_MAIL_FROM", "posthorn"],
  ["POSTHORN_MAIL_FROM", "a@example.com, b@example.com"],
  ["POSTHORN_MAIL_FROM", "Webhooks <posthorn@example.com"],
  ["POSTHORN_MAIL_FROM", "A\r\nBcc: b@example.com <posthorn@example.com>"],
])("%s=%s is rejected by name", (name, value) => {
  expect(problemsOf({ env: { [name]: value } })).toEqual([
    expect.stringMatching(new RegExp(`^${name} (must|has)`)),
  ]);
});

test("every deployment default of endpoint settings is a setting, and invalid JSON of a policy is explained", () => {
  expect(Object.keys(settings)).toEqual(expect.arrayContaining(DEPLOYMENT_OPTIONS.map(({ name }) => name)));
  expect(problemsOf({ env: { POSTHORN_RETRY_POLICY: '{"gaps"' } })).toEqual([
    expect.stringMatching(/^POSTHORN_RETRY_POLICY is not valid JSON\. Write a preset/),
  ]);
});

test.each<[env: Environment, says: RegExp]>([
  [
    { SMTP_URL: "smtp://u:s3cret@mail.example.com" },
    /^SMTP_URL is set, but POSTHORN_MAIL_FROM is not\. Set it/,
  ],
  [
    { SMTP_URL: "smtp://u:s3cret@mail.example.com", POSTHORN_MAIL_FROM: "a@example.com" },
    /^SMTP_URL needs POSTHORN_PUBLIC_URL or POSTHORN_CUSTOMER_PORTAL_URL, because every mail/,
  ],
  [{ POSTHORN_MAIL_FROM: "a@example.com" }, /^POSTHORN_MAIL_FROM is set, but SMTP_URL is not\. Set the mail/],
  [
    { POSTHORN_ALERT_WEBHOOK_URL: "https://10.0.0.1/s3cret" },
    /^POSTHORN_ALERT_WEBHOOK_URL: This address is not/,
  ],
  [{ POSTHORN_OPERATOR_TENANT: "a b" }, /^POSTHORN_OPERATOR_TENANT must be a tenant's id/],
  [{ POSTHORN_SCHEMA: "1st" }, /^POSTHORN_SCHEMA must be 1 to 63 letters, digits, _ and -/],
  [{ POSTHORN_RETRY_POLICY: "bogus" }, /^POSTHORN_RETRY_POLICY: "bogus" is neither a preset nor a gap/],
  [
    { POSTHORN_RETRY_POLICY: '{"exponential":{"base":"1m","cap":"1h","max_attempt":3}}' },
    /^POSTHORN_RETRY_POLICY: An exponential policy has no "max_attempt"/,
  ],
  [{ POSTHORN_ENCRYPTION_KEYS: `${"k".repeat(33)}:${encryptionKey}` }, /^POSTHORN_ENCRYPTION_KEYS must be/],
  [{ POSTHORN_WEBSUB: "true" }, /^POSTHORN_WEBSUB needs public_url \(POSTHORN_PUBLIC_URL\)/],
  [
    { ...HUB, POSTHORN_WEBSUB_EXTERNAL_TOPICS: "blog" },
    /^POSTHORN_WEBSUB_EXTERNAL_TOPICS lists URL prefixes/,
  ],
  [
    { POSTHORN_SOURCES: '[{"name":"shop","kind":"polling","delay_mss":1}]' },
    /^POSTHORN_SOURCES: A source of kind polling has no option "delay_mss"\. Did you mean delay_ms\?/,
  ],
])("%j is rejected with the names of the settings and without secrets", (env, says) => {
  expect(problemsOf({ env })).toEqual([expect.stringMatching(says)]);
  expect(problemsOf({ env }).join()).not.toContain("s3cret");
});

test("values that only the library checks are reported together with all others", () => {
  const env = { PORT: "x", POSTHORN_RETRY_POLICY: "bogus", POSTHORN_HEADER_PREFIX: "X-" };
  const hub = { POSTHORN_WEBSUB: "true", POSTHORN_PUBLIC_URL: "hooks", POSTHORN_WEBSUB_LEASE_SECONDS: "1" };
  const mail = { SMTP_URL: "smtp", POSTHORN_MAIL_FROM: "a@example.com" };
  const problems = problemsOf({ env: { ...env, ...hub, ...mail } });
  expect(problems.map((problem) => /^\w+/.exec(problem)?.[0])).toEqual([
    "PORT",
    "POSTHORN_PUBLIC_URL",
    "SMTP_URL",
    "POSTHORN_WEBSUB_LEASE_SECONDS",
    "POSTHORN_HEADER_PREFIX",
    "POSTHORN_RETRY_POLICY",
  ]);
});

test("messages never contain the value of a secret", () => {
  const secret = "hunter2-hunter2";
  const env = {
    POSTHORN_ADMIN_KEY: secret,
    POSTHORN_ENCRYPTION_KEYS: secret,
    DATABASE_URL: secret,
    SMTP_URL: `smtp://user:${secret}@`,
  };
  expect(problemsOf({ env })).toHaveLength(4);
  expect(problemsOf({ env }).join()).not.toContain(secret);
});

test.each([
  ["POSTHORN_ALOW_HTTP", "POSTHORN_ALLOW_HTTP"],
  ["POSTHORN_CONCURENCY", "POSTHORN_CONCURRENCY"],
  ["POSTHORN_ADMIN_KEY_FIL", "POSTHORN_ADMIN_KEY_FILE"],
  ["POSTHORN_DATABASE_URL", "DATABASE_URL"],
  ["POSTHORN_PORT", "PORT"],
  ["POSTHORN_PROCESS", "POSTHORN_PROCESSES"],
])("%s stops the start and suggests %s", (name, suggestion) => {
  expect(problemsOf({ env: { [name]: "1" } })).toEqual([
    `${name} is not a setting. Did you mean ${suggestion}?`,
  ]);
});

test("variables that Kubernetes injects for a service called posthorn are ignored", () => {
  const env = {
    POSTHORN_PORT: "tcp://10.0.0.1:8400",
    POSTHORN_PORT_8400_TCP: "tcp://10.0.0.1:8400",
    POSTHORN_PORT_8400_TCP_ADDR: "10.0.0.1",
    POSTHORN_SERVICE_HOST: "10.0.0.1",
    POSTHORN_API_SERVICE_PORT_HTTP: "8400",
  };
  expect(problemsOf({ env })).toEqual([]);
});

test("a setting can come from a file, without the newline at its end", () => {
  const adminKey = "f3a9c0b7d2e648150b7d2e64815f3a9c";
  const POSTHORN_ADMIN_KEY_FILE = fileWith(`${adminKey}\n`);
  expect(loadConfig({ env: { POSTHORN_ADMIN_KEY_FILE } }).adminKey).toBe(adminKey);
});

test("a variable and its file together are rejected", () => {
  const env = { PORT: "1", PORT_FILE: fileWith("2") };
  expect(problemsOf({ env })).toEqual(["PORT and PORT_FILE are both set. Keep one of them."]);
});

test("an unreadable file is rejected with its path", () => {
  expect(problemsOf({ env: { PORT_FILE: "/nowhere/port" } })).toEqual([
    expect.stringContaining("/nowhere/port, which cannot be read (ENOENT)"),
  ]);
});
