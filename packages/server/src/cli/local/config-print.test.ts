import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { posthorn } from "../../../../../tests/support/servers/run-command.ts";
import { makeTemporaryFolder } from "../../../../../tests/support/temporary-folder.ts";

function fileWith(content: string): string {
  const path = join(makeTemporaryFolder(), "posthorn.yaml");
  writeFileSync(path, content);
  return path;
}

const password = "hunter2-kqzvbw-9174-hunter2-mxplt-60358";

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
      env: { SMTP_URL: `smtp://a:${password}@b` },
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

  test("lists every invalid setting instead", async () => {
    const config = fileWith("prot: 1\nhost: a");
    const { code, out, err } = await posthorn({ env: { PORT: "x" } })`config print --config ${config}`;
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain("prot (posthorn.yaml:1) is not a setting. Did you mean port?");
    expect(err).toContain('PORT must be a whole number from 0 to 65535. It is "x".');
  });
});
