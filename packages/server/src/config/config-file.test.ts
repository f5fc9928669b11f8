import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type CommandSources, ConfigError, readConfig, resolveSettings, withFile } from "../config.ts";
import { fileKeyOf, settings } from "./settings.ts";

/** Writes a settings file and returns its path. */
function fileWith(content: string, name = "posthorn.yaml"): string {
  const folder = mkdtempSync(join(tmpdir(), "posthorn-settings-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

function configOf(content: string, sources: Partial<CommandSources> = {}) {
  return readConfig({ env: {}, ...sources, flags: { ...sources.flags, config: fileWith(content) } });
}

async function problemsOf(content: string, sources?: Partial<CommandSources>): Promise<readonly string[]> {
  const error = await configOf(content, sources).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(ConfigError);
  return (error as ConfigError).problems;
}

const everyKind = {
  port: 9000,
  host: "0.0.0.0",
  allowHttp: true,
  allowCidrs: ["10.0.0.0/8", "fd00::/8"],
  portalName: "Acme: hooks # 1",
  retentionDays: 30,
};

test.each([
  [
    "YAML",
    `# our settings
port: 9000
host: 0.0.0.0
allow_http: yes
allow_cidrs:
  - 10.0.0.0/8
  - fd00::/8
portal_name: "Acme: hooks # 1"
retention_days: 30
`,
  ],
  [
    "JSON",
    JSON.stringify({
      port: 9000,
      host: "0.0.0.0",
      allow_http: true,
      allow_cidrs: ["10.0.0.0/8", "fd00::/8"],
      portal_name: "Acme: hooks # 1",
      retention_days: "30",
    }),
  ],
])("settings are read from %s", async (_format, content) => {
  expect(await configOf(content)).toMatchObject(everyKind);
});

test("POSTHORN_CONFIG names the file, and --config takes precedence over it", async () => {
  const env = { POSTHORN_CONFIG: fileWith("port: 1\nhost: a") };
  expect(await readConfig({ env })).toMatchObject({ port: 1, host: "a" });
  const flags = { config: fileWith("port: 2") };
  expect(await readConfig({ env, flags })).toMatchObject({ port: 2, host: "127.0.0.1" });
});

test("a flag takes precedence over the environment, that over the file, and the file over a default", async () => {
  const path = fileWith("port: 1\nhost: file\nsink: false\nschema: file");
  const sources = await withFile({
    env: { PORT: "2", HOST: "environment" },
    flags: { config: path, port: "3" },
    defaults: { sink: true, allowHttp: true },
  });
  const resolved = Object.fromEntries(resolveSettings(sources).map(({ name, ...rest }) => [name, rest]));
  expect(resolved).toMatchObject({
    port: { value: 3, origin: { kind: "flag", label: "--port" } },
    host: { value: "environment", origin: { kind: "environment", label: "HOST" } },
    schema: { value: "file", origin: { kind: "file", label: "schema (posthorn.yaml:4)" } },
    sink: { value: false, origin: { kind: "file", label: "sink (posthorn.yaml:3)" } },
    allowHttp: { value: true, origin: { kind: "default", label: null } },
    logLevel: { value: "info", origin: { kind: "default", label: null } },
  });
});

test("every setting has its own name in the file, which is that of its variable", () => {
  const keys = Object.values(settings).map(({ env }) => fileKeyOf(env));
  expect(new Set(keys).size).toBe(keys.length);
  expect(keys).toEqual(expect.arrayContaining(["port", "database_url", "smtp_url", "cloudevents_source"]));
});

test("a retry policy and headers may be written as maps, or as JSON", async () => {
  const content = `retry_policy:
  exponential: { base: 30s, cap: 1h, max_attempts: 5 }
  max_age: 72h
headers:
  X-Team: billing
circuit_failures: 3
`;
  expect(await configOf("retry_policy: [1m, 5m]\n")).toMatchObject({ retryPolicy: "1m,5m" });
  expect(await configOf("retry_policy: short\n")).toMatchObject({ retryPolicy: "short" });
  expect(await configOf('retry_policy: \'{"gaps":["1m"],"max_age":"2d"}\'')).toMatchObject({
    retryPolicy: { gaps: ["1m"], maxAge: "2d" },
  });
  expect(await configOf('{"retry_policy":{"gaps":["1m"],"max_attempts":3}}')).toMatchObject({
    retryPolicy: { gaps: ["1m"], maxAttempts: 3 },
  });
  expect(await configOf(`headers: '{"X-Team":"billing"}'`)).toMatchObject({
    headers: { "X-Team": "billing" },
  });
  expect(await configOf(content)).toMatchObject({
    retryPolicy: { exponential: { base: "30s", cap: "1h", maxAttempts: 5 }, maxAge: "72h" },
    headers: { "X-Team": "billing" },
    circuitFailures: 3,
  });
});

test("an empty file, an empty value and null count as unset", async () => {
  for (const content of ["", "# nothing\n", "port:\nhost: null\nportal_name: ''\nallow_cidrs: []"]) {
    expect(await configOf(content)).toMatchObject({ port: 8400, host: "127.0.0.1", allowCidrs: [] });
  }
});

test("sources are a list of maps in the file, and JSON in the environment, with the same names", async () => {
  const columns = { id: "id", data: "body", tenant: "customer", type: "kind", updated_at: "changed" };
  const source = {
    name: "shop",
    kind: "polling",
    table: "outbox",
    delay_ms: 5,
    columns,
    filter: { is_live: true },
  };
  const expected = [
    {
      ...source,
      delay_ms: undefined,
      delayMs: 5,
      columns: { id: "id", data: "body", tenant: "customer", type: "kind", updatedAt: "changed" },
    },
  ];
  const content = `
sources:
  - name: shop
    kind: polling
    table: outbox
    delay_ms: 5
    columns: { id: id, data: body, tenant: customer, type: kind, updated_at: changed }
    filter:
      is_live: true
`;
  for (const sources of [
    (await configOf(content)).sources,
    (await configOf(`sources: '${JSON.stringify([source])}'`)).sources,
    (await readConfig({ env: { POSTHORN_SOURCES: JSON.stringify([source]) } })).sources,
  ])
    expect(sources).toEqual(expected);
  await expect(readConfig({ env: { POSTHORN_SOURCES: "[{" } })).rejects.toThrow(
    "POSTHORN_SOURCES must be valid JSON",
  );
  expect(await problemsOf("sources: { name: hunter2 }")).toEqual([
    "sources (posthorn.yaml:1) must be a JSON list of sources.",
  ]);
});

test("a secret of digits only is not read as a number", async () => {
  const adminKey = "40718352960471628395017283940516";
  expect(await configOf(`admin_key: ${adminKey}`)).toMatchObject({ adminKey });
});

test("a secret can be in a file of its own, named in the settings file", async () => {
  const key = "f3a9c0b7d2e648150b7d2e64815f3a9c";
  expect(await configOf(`admin_key_file: ${fileWith(`${key}\n`, "key")}`)).toMatchObject({ adminKey: key });
  expect(await problemsOf(`admin_key: ${key}\nadmin_key_file: /run/key`)).toEqual([
    "admin_key (posthorn.yaml:1) and admin_key_file (posthorn.yaml:2) are both set. Keep one of them.",
  ]);
});

test("all problems of file, environment and flags are reported together, with their places", async () => {
  const content = "prot: 1\ntimeout_ms: soon\nPOSTHORN_ALLOW_HTTP: true\nretentionDays: 3\nsink: {a: 1}";
  const problems = await problemsOf(content, { env: { POSTHORN_SINKS: "1" }, flags: { port: "x" } });
  expect(problems).toEqual([
    "POSTHORN_SINKS is not a setting. Did you mean POSTHORN_SINK?",
    "prot (posthorn.yaml:1) is not a setting. Did you mean port?",
    "POSTHORN_ALLOW_HTTP (posthorn.yaml:3) is not a setting. Did you mean allow_http?",
    "retentionDays (posthorn.yaml:4) is not a setting. Did you mean retention_days?",
    '--port must be a whole number from 0 to 65535. It is "x".',
    "sink (posthorn.yaml:5) must be text, a number, true, false, or a list of these.",
    expect.stringMatching(/^timeout_ms \(posthorn\.yaml:2\) must be a whole number .* It is "soon"\.$/),
  ]);
});

test.each([
  ["port: 1\nport: 2", /: Map keys must be unique at line 2/],
  ["port: [1", /at line 1/],
  ["- port", /must contain settings by name/],
  ["8400", /must contain settings by name/],
  ["port: 1\n---\nport: 2", /has several documents, separated by ---\. Keep one of them/],
])("the file %j is rejected with its path", async (content, message) => {
  const [problem] = await problemsOf(content);
  expect(problem).toMatch(message);
  expect(problem).toMatch(/^\/.*posthorn\.yaml/);
});

test("a file of 256 KB is read, and a larger or deeper one is refused", async () => {
  const content = "port: 1\n#".padEnd(262_144, "x");
  expect(await configOf(content)).toMatchObject({ port: 1 });
  expect(await problemsOf(`${content}x`)).toEqual([
    expect.stringMatching(/^The settings file .*posthorn\.yaml has more than 256 KB\.$/),
  ]);
  expect(await problemsOf(`headers: ${"[".repeat(20_000)}${"]".repeat(20_000)}`)).toEqual([
    expect.stringMatching(/posthorn\.yaml: is nested too deeply\.$/),
  ]);
  await expect(readConfig({ env: { POSTHORN_CONFIG: "/dev/zero" } })).rejects.toThrow("more than 256 KB");
});

test("an unreadable file is rejected, and no message contains a secret of the file", async () => {
  await expect(readConfig({ env: { POSTHORN_CONFIG: "/nowhere.yaml" } })).rejects.toThrow(
    "/nowhere.yaml cannot be read (ENOENT). Check --config or POSTHORN_CONFIG",
  );
  for (const content of ["admin_key: 'hunter2", "admin_key: hunter2", "admin_key: [hunter2"])
    expect((await problemsOf(content)).join()).not.toContain("hunter2");
});

test.each([
  ["a list that contains itself", "allow_cidrs: &a [*a]"],
  ["an object that contains itself", "endpoint_defaults: &a { headers: *a }"],
  [
    "aliases that multiply",
    `a: &a [1,1,1,1,1,1,1,1,1,1]
b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]
c: &c [*b,*b,*b,*b,*b,*b,*b,*b]
d: &d [*c,*c,*c,*c,*c,*c,*c]
e: [*d,*d,*d,*d,*d]`,
  ],
])("%s is refused with what to do", async (_, content) => {
  expect(await problemsOf(content)).toEqual([
    expect.stringMatching(/posthorn\.yaml:\d\) has YAML aliases .* Write the values out\.$/),
  ]);
});
