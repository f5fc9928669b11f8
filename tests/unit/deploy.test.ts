// The files in deploy/ use names that exist: a dashboard or an alert on a renamed metric shows nothing and never
// fires, without an error.
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { metricDefinitions } from "../../packages/posthorn/src/observe/metrics.ts";
import type { MetricDefinition } from "../../packages/posthorn/src/observe/registry.ts";
import { receiverMetrics } from "../../packages/receiver/src/metrics.ts";
import { defaultText, settings } from "../../packages/server/src/config/settings.ts";

const pathOf = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const read = (name: string): string => readFileSync(pathOf(name), "utf8");
const definitions: Readonly<Record<string, MetricDefinition>> = metricDefinitions;

/** Every name that a registry of these definitions writes, and its labels. */
const exported = new Map(
  Object.entries(definitions).flatMap(([name, { type, labels }]): [string, readonly string[]][] =>
    type === "histogram"
      ? [
          [`${name}_bucket`, [...labels, "le"]],
          [`${name}_sum`, labels],
          [`${name}_count`, labels],
        ]
      : [[name, labels]],
  ),
);

const settingNames = Object.values(settings).map(({ env }) => env);
const metricsIn = (text: string): string[] => [...new Set(text.match(/\bwebhook_\w+/g) ?? [])];

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly expr: string }[];
  }[];
}

const dashboard = JSON.parse(read("deploy/grafana/dashboard.json")) as Dashboard;
const expressions = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
const rules = read("deploy/prometheus/rules.yaml");

describe("the dashboard", () => {
  test("shows every metric, and no other", () => {
    const shown = metricsIn(expressions.join(" "));
    expect(shown.filter((name) => !exported.has(name))).toEqual([]);
    const bases = new Set(shown.map((name) => name.replace(/_bucket$/, "")));
    expect(Object.keys(definitions).filter((name) => !bases.has(name))).toEqual([]);
  });

  test("groups by labels that its metrics have", () => {
    for (const expr of expressions) {
      const [name = ""] = metricsIn(expr);
      const labels = [...expr.matchAll(/by \((\w+)\)|\{(\w+)[=!]/g)].map((match) => match[1] ?? match[2]);
      // Prometheus itself adds the instance
      expect([...(exported.get(name) ?? []), "instance"]).toEqual(expect.arrayContaining(labels));
    }
  });
});

describe("the alerts", () => {
  const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map((match) => match[1] as string);

  test("use existing metrics", () => {
    const exists = (name: string) => exported.has(name) || Object.hasOwn(receiverMetrics, name);
    expect(metricsIn(rules).filter((name) => !exists(name))).toEqual([]);
  });

  test("have a section in the runbook each, and link to it", () => {
    const runbook = read("docs/guides/runbook.md");
    expect(alerts.length).toBeGreaterThan(6);
    expect([...runbook.matchAll(/^## (\w+)$/gm)].map((match) => match[1])).toEqual(alerts);
    for (const alert of alerts) {
      expect(rules).toContain(`runbook_url: docs/guides/runbook.md#${alert.toLowerCase()}\n`);
    }
  });

  test("fire only on problems, according to promtool", ({ skip }) => {
    skip(
      spawnSync("promtool", ["--version"]).error !== undefined,
      "promtool (Debian: prometheus) is not there",
    );
    execFileSync("promtool", ["check", "rules", pathOf("deploy/prometheus/rules.yaml")], { stdio: "pipe" });
    execFileSync("promtool", ["test", "rules", pathOf("deploy/prometheus/rules.test.yaml")], {
      stdio: "pipe",
    });
  });
});

describe("the workers of Kubernetes", () => {
  const worker = read("deploy/worker.yaml");

  test("are those that keda.yaml scales", () => {
    const [, scaled] = /scaleTargetRef:\n {4}name: (\S+)/.exec(read("deploy/keda.yaml")) ?? [];
    expect(worker).toContain(`kind: Deployment\nmetadata:\n  name: ${scaled}\n`);
  });

  test("have only existing settings, and listen where they are probed and scraped", () => {
    const set = [...worker.matchAll(/- name: ([A-Z_]+)$/gm)].map((match) => match[1] as string);
    expect(set).toEqual(expect.arrayContaining(["HOST", "PORT", "DATABASE_URL", "POSTHORN_ENCRYPTION_KEYS"]));
    expect(set.filter((name) => !settingNames.includes(name))).toEqual([]);
    const [, port] = /name: PORT\n\s+value: "(\d+)"/.exec(worker) ?? [];
    expect(worker).toContain(`containerPort: ${port}\n`);
    expect(read("deploy/prometheus/scrape.yaml")).toContain(`"posthorn-worker:${port}"`);
  });

  test("have a longer grace period than a stop takes", () => {
    const [, graceSeconds] = /terminationGracePeriodSeconds: (\d+)/.exec(worker) ?? [];
    const longestMs = Number(defaultText(settings.shutdownTimeoutMs));
    expect(Number(graceSeconds) * 1_000).toBeGreaterThan(longestMs);
  });
});

test("the image contains the packages that export traces", () => {
  const { dependencies } = JSON.parse(read("package.json"));
  const { peerDependencies } = JSON.parse(read("packages/server/package.json"));
  expect(read("deploy/Dockerfile")).toContain("npm prune --omit=dev");
  expect(Object.keys(dependencies)).toEqual(Object.keys(peerDependencies));
});

test("the compose file sets only existing settings", () => {
  const [, environment = ""] = /environment:\n((?: {6}\w+: .*\n)+)/.exec(read("deploy/compose.yaml")) ?? [];
  const set = [...environment.matchAll(/^ {6}(\w+):/gm)].map((match) => match[1] as string);
  expect(set.length).toBeGreaterThan(3);
  expect(set.filter((name) => !settingNames.includes(name))).toEqual([]);
});
