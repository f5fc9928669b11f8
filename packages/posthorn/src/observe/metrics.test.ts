import { describe, expect, test } from "vitest";
import type { AttemptOutcome, Decision, Settlement } from "../model.ts";
import { Metrics, maxEndpointLabels } from "./metrics.ts";
import { Metric } from "./registry.ts";

const idle = { inFlight: 0, poolWaiting: 0, mode: "on" } as const;

function settlement(endpointId: string, outcome: Partial<AttemptOutcome>, decision: Decision): Settlement {
  return {
    delivery: { endpointId, scheduleStartedMs: 1_000 },
    outcome: { kind: "responded", statusCode: 200, durationMs: 30, ...outcome },
    decision,
  } as unknown as Settlement;
}

const delivered: Decision = { kind: "delivered" };

function lines(text: string, name: string): string[] {
  return text.split("\n").filter((line) => line.startsWith(name));
}

describe("the text", () => {
  test("has help, type and a line for each series", () => {
    const metric = new Metric("jobs_total", { type: "counter", help: "Jobs done", labels: ["kind"] });
    metric.series("a").add(1);
    metric.series("b").add(2);
    metric.series("a").add(3);
    expect(metric.text()).toBe(
      '# HELP jobs_total Jobs done.\n# TYPE jobs_total counter\njobs_total{kind="a"} 4\njobs_total{kind="b"} 2\n',
    );
  });

  test("escapes label values and cuts long ones", () => {
    const metric = new Metric("jobs_total", { type: "counter", help: "Jobs", labels: ["kind"] });
    metric.series('a"b\\c\nd').add(1);
    metric.series("x".repeat(129)).add(1);
    expect(metric.text()).toContain('{kind="a\\"b\\\\c\\nd"}');
    expect(metric.text()).toContain(`{kind="${"x".repeat(128)}"}`);
  });

  test("counts an observation in its bucket and in all above it, the bound included", () => {
    const metric = new Metric("took_seconds", { type: "histogram", help: "T", labels: [], buckets: [1, 5] });
    for (const seconds of [0.5, 1, 3, 7]) metric.series().observe(seconds);
    expect(lines(metric.text(), "took_seconds")).toEqual([
      'took_seconds_bucket{le="1"} 2',
      'took_seconds_bucket{le="5"} 3',
      'took_seconds_bucket{le="+Inf"} 4',
      "took_seconds_sum 11.5",
      "took_seconds_count 4",
    ]);
  });

  test("shows a counter without labels at zero, and omits unknown gauges", () => {
    const counter = new Metric("seen_total", { type: "counter", help: "Seen", labels: [] });
    const gauge = new Metric("depth", { type: "gauge", help: "Depth", labels: [] });
    expect(lines(counter.text(), "seen_total")).toEqual(["seen_total 0"]);
    gauge.set(7);
    gauge.set(null);
    expect(gauge.text()).toBe("");
  });
});

describe("endpoints", () => {
  test("create no more series than the bound allows", () => {
    const metrics = new Metrics({ labelsEndpoints: true });
    for (let index = 0; index < maxEndpointLabels + 50; index += 1) {
      metrics.attempted(settlement(`endpoint-${index}`, {}, delivered));
    }
    const series = lines(metrics.text(idle, null), "webhook_delivery_attempts_total");
    expect(series).toHaveLength(maxEndpointLabels + 1);
    expect(series.at(-1)).toBe('webhook_delivery_attempts_total{endpoint="other",outcome="success"} 50');
  });

  test("are counted together if the label is disabled", () => {
    const metrics = new Metrics({ labelsEndpoints: false });
    metrics.attempted(settlement("a", {}, delivered));
    metrics.attempted(settlement("b", {}, delivered));
    metrics.settled(settlement("a", {}, { kind: "dead", reason: "gone", disableEndpoint: true }), 2_000);
    metrics.settled(settlement("b", {}, delivered), 2_000);
    const text = metrics.text(idle, null);
    expect(text).toContain('\nwebhook_delivery_attempts_total{outcome="success"} 2\n');
    expect(text).toContain('\nwebhook_dead_lettered_total{reason="gone"} 1\n');
    expect(text).toContain("\nwebhook_delivery_latency_seconds_sum 1\n");
    expect(text).not.toContain("endpoint=");
  });
});

test.each<[outcome: Partial<AttemptOutcome>, label: string]>([
  [{ statusCode: 204 }, "success"],
  [{ statusCode: 302 }, "http_3xx"],
  [{ statusCode: 410 }, "http_4xx"],
  [{ statusCode: 503 }, "http_5xx"],
  [{ kind: "failed", error: "timeout" }, "timeout"],
])("an attempt with the outcome %o is counted as %s", (outcome, label) => {
  const metrics = new Metrics({ labelsEndpoints: true });
  metrics.attempted(settlement("a", outcome, delivered));
  expect(metrics.text(idle, null)).toContain(`{endpoint="ep_a",outcome="${label}"} 1`);
});
