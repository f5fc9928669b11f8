import { expect, test } from "vitest";
import { ProcessMetrics } from "./process-metrics.ts";

/** A page with a counter, a histogram and a gauge; the gauge of the installation only on request. */
function page(count: number, { inFlight = 0, queue }: { inFlight?: number; queue?: number } = {}): string {
  return [
    "# HELP sent_total Requests sent, by outcome.",
    "# TYPE sent_total counter",
    `sent_total{outcome="success"} ${count}`,
    "# HELP took_seconds Duration.",
    "# TYPE took_seconds histogram",
    `took_seconds_bucket{le="1"} ${count}`,
    `took_seconds_bucket{le="+Inf"} ${count}`,
    `took_seconds_sum ${count / 4}`,
    `took_seconds_count ${count}`,
    "# HELP in_flight Requests in flight.",
    "# TYPE in_flight gauge",
    `in_flight ${inFlight}`,
    ...(queue === undefined ? [] : ["# HELP queue Depth.", "# TYPE queue gauge", `queue ${queue}`]),
    "",
  ].join("\n");
}

/** Metrics of children 1 to `children`, which report as in the supervisor. */
function metricsOf(children: number) {
  const metrics = new ProcessMetrics();
  for (let child = 1; child <= children; child += 1) metrics.started(child);
  return {
    metrics,
    read(pages: Readonly<Record<number, string>>): string {
      for (const [child, text] of Object.entries(pages)) metrics.report(Number(child), text);
      return metrics.text(new Map(Object.entries(pages).map(([child, text]) => [Number(child), text])));
    },
  };
}

test("one child has the page that it reported", () => {
  const { read } = metricsOf(1);
  expect(read({ 1: page(3, { inFlight: 2, queue: 9 }) })).toBe(page(3, { inFlight: 2, queue: 9 }));
});

test("counters, histograms and gauges of processes are summed; gauges of the installation are not multiplied", () => {
  const { read } = metricsOf(3);
  const pages = { 2: page(1, { inFlight: 5, queue: 9 }), 1: page(2, { inFlight: 1 }), 3: page(4) };
  expect(read(pages)).toBe(page(7, { inFlight: 6, queue: 9 }));
});

test("series that only one process has are kept, next to the others of their metric", () => {
  const { read } = metricsOf(2);
  const other = page(1).replaceAll('outcome="success"', 'outcome="a \\"b\\" {c} 1"');
  const [, rest = ""] = page(3).split('sent_total{outcome="success"} 3\n');
  expect(read({ 1: page(2), 2: other })).toBe(
    `# HELP sent_total Requests sent, by outcome.\n# TYPE sent_total counter\nsent_total{outcome="success"} 2\nsent_total{outcome="a \\"b\\" {c} 1"} 1\n${rest}`,
  );
});

test("a child that does not respond counts with its last counters, without its gauges", () => {
  const { read } = metricsOf(2);
  read({ 1: page(10, { queue: 1 }), 2: page(5, { inFlight: 3 }) });
  expect(read({ 1: page(11, { queue: 1 }) })).toBe(page(16, { queue: 1 }));
  expect(read({ 1: page(12, { queue: 1 }), 2: page(6) })).toBe(page(18, { queue: 1 }));
});

test("the counters of a child that ended stay in the sums, and its successor starts at zero", () => {
  const { metrics, read } = metricsOf(2);
  read({ 1: page(10), 2: page(5, { inFlight: 3 }) });
  metrics.ended(2);
  metrics.ended(2);
  metrics.started(3);
  expect(read({ 1: page(10), 3: page(0) })).toBe(page(15));
  metrics.report(3, page(2));
  metrics.ended(3);
  expect(read({ 1: page(10) })).toBe(page(17));
});

test("a child that ends while its response is being added is counted once", () => {
  const { metrics } = metricsOf(2);
  metrics.report(1, page(1));
  metrics.report(2, page(5));
  metrics.ended(2);
  metrics.report(2, page(6));
  const answers = new Map([
    [1, page(1)],
    [2, page(5, { inFlight: 3 })],
  ]);
  expect(metrics.text(answers)).toBe(page(6));
});
