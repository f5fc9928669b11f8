import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { settings } from "./config/settings.ts";
import { ConfigError, type ConfigSources, loadConfig } from "./config.ts";

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
    enabled: true,
    shutdownTimeoutMs: 25_000,
  });
});

test("an empty variable counts as unset", () => {
  expect(loadConfig({ env: { PORT: "", POSTHORN_ADMIN_KEY: "" } })).toMatchObject({
    port: 8400,
    adminKey: undefined,
  });
});

test("every setting has a unique name and a description", () => {
  const all = Object.values(settings);
  expect(new Set(all.map(({ env }) => env)).size).toBe(all.length);
  for (const { env, description } of all) {
    expect(env).toMatch(/^(POSTHORN_[A-Z0-9_]+|PORT|HOST|DATABASE_URL|LOG_LEVEL|SMTP_URL)$/);
    expect(description).toMatch(/^[A-Z].{10,}\.$/);
  }
});

test("values are read into their types", () => {
  const env = {
    PORT: "0",
    POSTHORN_ALLOW_HTTP: "yes",
    POSTHORN_ALLOW_CIDRS: "10.0.0.0/8, fd00::/8",
    POSTHORN_ALLOW_NAT64: "true",
    POSTHORN_SIGNATURE_SCHEMES: "t-v1,sha256",
    POSTHORN_PUBLIC_URL: "https://hooks.example.com/",
    LOG_LEVEL: "WARN",
  };
  expect(loadConfig({ env })).toMatchObject({
    port: 0,
    allowHttp: true,
    allowCidrs: ["10.0.0.0/8", "fd00::/8"],
    allowNat64: true,
    signatureSchemes: ["t-v1", "sha256"],
    publicUrl: "https://hooks.example.com",
    logLevel: "warn",
  });
});

test.each([
  ["smtp://mail.example.com", { port: 587, isSecure: false, user: null, password: null }],
  ["smtps://mail.example.com/", { port: 465, isSecure: true }],
  ["smtp://u%40x:p%3A%2F@mail.example.com:25", { port: 25, user: "u@x", password: "p:/" }],
])("the mail server of %s is read", (SMTP_URL, expected) => {
  expect(loadConfig({ env: { SMTP_URL } }).smtpUrl).toMatchObject({ host: "mail.example.com", ...expected });
});

test.each([
  ["posthorn@example.com", "posthorn@example.com"],
  ["Web Hooks <posthorn@example.com>", '"Web Hooks" <posthorn@example.com>'],
])("mail from %s is read", (POSTHORN_MAIL_FROM, expected) => {
  expect(loadConfig({ env: { POSTHORN_MAIL_FROM } }).mailFrom).toBe(expected);
});

test("a flag wins over the environment, the environment over a command's default", () => {
  const env = { PORT: "9000", HOST: "0.0.0.0" };
  const config = loadConfig({ env, flags: { port: "9001" }, defaults: { port: 1, host: "x", sink: true } });
  expect(config).toMatchObject({ port: 9001, host: "0.0.0.0", sink: true });
});

test.each([
  ["PORT", "eighty"],
  ["PORT", "65536"],
  ["PORT", "-1"],
  ["LOG_LEVEL", "loud"],
  ["DATABASE_URL", "mysql://localhost"],
  ["POSTHORN_ALLOW_HTTP", "maybe"],
  ["POSTHORN_ALLOW_CIDRS", "10.0.0.0"],
  ["POSTHORN_ALLOW_CIDRS", "10.0.0.0/33"],
  ["POSTHORN_PUBLIC_URL", "hooks.example.com"],
  ["POSTHORN_MIGRATE", "never"],
  ["POSTHORN_ADMIN_KEY", "too short"],
  ["POSTHORN_ENCRYPTION_KEYS", "k1:c2hvcnQ="],
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

test("all errors are reported at once", () => {
  expect(problemsOf({ env: { PORT: "x", HOST: "h", LOG_LEVEL: "x", POSTHORN_PROT: "1" } })).toHaveLength(3);
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
  const POSTHORN_ADMIN_KEY_FILE = fileWith(`${"k".repeat(40)}\n`);
  expect(loadConfig({ env: { POSTHORN_ADMIN_KEY_FILE } }).adminKey).toBe("k".repeat(40));
});

test("an empty file counts as unset", () => {
  expect(loadConfig({ env: { DATABASE_URL_FILE: fileWith("\n") } }).databaseUrl).toBeUndefined();
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

test("two encryption keys with the same id are rejected", () => {
  const key = Buffer.alloc(32).toString("base64");
  expect(problemsOf({ env: { POSTHORN_ENCRYPTION_KEYS: `a:${key},a:${key}` } })).toHaveLength(1);
  expect(loadConfig({ env: { POSTHORN_ENCRYPTION_KEYS: `a:${key}, b:${key}` } }).encryptionKeys).toHaveLength(
    2,
  );
});
