import { describe, expect, test } from "vitest";
import { loadConfig } from "../../config.ts";
import { checkDatabase, checkWorkers } from "./check-database.ts";
import { checkNode, checkRanges, checkSettingValues } from "./check-settings.ts";

const fine = {
  versionNumber: 180_004,
  fsync: true,
  synchronousCommit: "on",
  isReadOnly: false,
  clockAheadMs: 3,
  maxConnections: 100,
  usedConnections: 10,
};

const levelsOf = (checks: readonly { name: string; level: string }[]): Record<string, string> =>
  Object.fromEntries(checks.map(({ name, level }) => [name, level]));

describe("a database", () => {
  test("with a correct configuration has no findings", () => {
    expect(new Set(checkDatabase(fine).map(({ level }) => level))).toEqual(new Set(["ok"]));
    const messages = checkDatabase({ ...fine, clockAheadMs: 5000 }).map(({ message }) => message);
    expect(messages).toContain("The clock of this machine is 5000 ms behind the database.");
  });

  test.each([
    ["is too old", { versionNumber: 130_015 }, "database", "problem"],
    ["is just new enough", { versionNumber: 140_000 }, "database", "ok"],
    ["does not write through", { fsync: false }, "durability", "problem"],
    ["acknowledges before it is durable", { synchronousCommit: "off" }, "durability", "problem"],
    ["waits for a standby", { synchronousCommit: "remote_apply" }, "durability", "ok"],
    ["is read-only", { isReadOnly: true }, "database", "problem"],
    ["has a clock at the limit", { clockAheadMs: -2000 }, "clock", "ok"],
    ["has a clock past it", { clockAheadMs: 2001 }, "clock", "warning"],
    ["has just enough connections", { usedConnections: 80 }, "connections", "ok"],
    ["has one too few", { usedConnections: 81 }, "connections", "warning"],
  ])("that %s", (_what, facts, name, level) => {
    expect(levelsOf(checkDatabase({ ...fine, ...facts }))[name]).toBe(level);
  });
});

test.each([
  [8, "ok"],
  [9, "warning"],
])("100 connections for %i processes: %s", (processes, level) => {
  expect(levelsOf(checkDatabase(fine, processes)).connections).toBe(level);
});

const MAIL = {
  SMTP_URL: "smtp://mail.example.com",
  POSTHORN_MAIL_FROM: "a@example.com",
  POSTHORN_PUBLIC_URL: "https://hooks.example.com",
};

describe("settings", () => {
  const judge = (env: Record<string, string>) => levelsOf(checkSettingValues(loadConfig({ env })));

  test.each<[env: Record<string, string>, name: string, level: string]>([
    [{ POSTHORN_ALLOW_HTTP: "1" }, "endpoints", "warning"],
    [{ POSTHORN_SINK: "1" }, "sink", "warning"],
    [{ POSTHORN_ENABLED: "0" }, "delivery", "warning"],
    [{}, "public URL", "note"],
    [{ POSTHORN_PUBLIC_URL: "https://hooks.example.com" }, "public URL", "ok"],
    [{ POSTHORN_PUBLIC_URL: "http://127.0.0.1:8400" }, "public URL", "ok"],
    [{ POSTHORN_PUBLIC_URL: "http://hooks.example.com" }, "public URL", "warning"],
    [{}, "mail", "note"],
    [MAIL, "mail", "ok"],
  ])("%j: %s is %s", (env, name, level) => {
    expect(judge(env)[name]).toBe(level);
  });

  test.each([
    ["0.0.0.0/0", 2],
    ["::/0", 1],
    ["169.254.0.0/16", 1],
    ["127.0.0.0/8", 1],
    ["::1/128", 1],
    ["10.0.0.0/8", 0],
    ["fd00::/8", 0],
    ["128.0.0.0/1", 1],
    ["169.254.169.254/32", 1],
    ["169.254.169.252/31", 0],
    ["::/127", 1],
    ["::2/127", 0],
  ])("allowing %s gives %i warnings", (range, count) => {
    expect(checkRanges([range]).filter(({ level }) => level === "warning")).toHaveLength(count);
  });
});

test.each([
  ["v20.18.9", "problem"],
  ["v20.19.0", "ok"],
  ["v18.20.0", "problem"],
  ["v24.1.0", "ok"],
])("Node %s: %s", (version, level) => {
  expect(checkNode(version).level).toBe(level);
});

test.each([
  [1, false, "ok"],
  [1, true, "ok"],
  [0, false, "warning"],
  [0, true, "problem"],
])("%i workers, with work waiting %s: %s", (workers, isWorkWaiting, level) => {
  expect(checkWorkers({ workers, isWorkWaiting }).level).toBe(level);
});
