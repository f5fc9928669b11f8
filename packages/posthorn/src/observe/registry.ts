// Metrics in memory and their Prometheus text format. Frequent callers keep their series, so that counting is one
// addition.

export interface MetricDefinition {
  readonly type: "counter" | "gauge" | "histogram";
  /** One sentence without a period. */
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds in ascending order; +Inf is added. */
  readonly buckets?: readonly number[];
}

/** The values of one set of label values. */
export class Series {
  readonly labelValues: readonly string[];
  /** Counts per bucket; accumulated when they are written. */
  readonly bucketCounts: number[];
  readonly #buckets: readonly number[];
  value = 0;

  constructor(labelValues: readonly string[], { type, buckets = [] }: MetricDefinition) {
    this.labelValues = labelValues;
    this.#buckets = buckets;
    this.bucketCounts = new Array<number>(type === "histogram" ? buckets.length + 1 : 0).fill(0);
  }

  add(amount: number): void {
    this.value += amount;
  }

  observe(value: number): void {
    this.value += value;
    let bucket = 0;
    while (bucket < this.#buckets.length && value > (this.#buckets[bucket] as number)) bucket += 1;
    this.bucketCounts[bucket] = (this.bucketCounts[bucket] as number) + 1;
  }
}

export class Metric {
  readonly name: string;
  readonly #definition: MetricDefinition;
  readonly #series = new Map<string, Series>();

  constructor(name: string, definition: MetricDefinition) {
    this.name = name;
    this.#definition = definition;
    // a counter that is missing until the first error looks like a metric that is not collected
    if (definition.labels.length === 0 && definition.type !== "gauge") this.series();
  }

  series(...labelValues: readonly string[]): Series {
    const key = labelValues.join("\n");
    let series = this.#series.get(key);
    if (series === undefined) {
      series = new Series(labelValues, this.#definition);
      this.#series.set(key, series);
    }
    return series;
  }

  /** Sets a gauge; null omits it. */
  set(value: number | null): void {
    if (value === null) this.#series.clear();
    else this.series().value = value;
  }

  text(): string {
    if (this.#series.size === 0) return "";
    const { type, help } = this.#definition;
    const lines = [`# HELP ${this.name} ${help}.`, `# TYPE ${this.name} ${type}`];
    for (const series of this.#series.values()) {
      const labels = this.#definition.labels.map((label, index) =>
        labelText(label, series.labelValues[index] as string),
      );
      if (type === "histogram") lines.push(...this.#histogramLines(series, labels));
      else lines.push(line(this.name, labels, series.value));
    }
    return `${lines.join("\n")}\n`;
  }

  #histogramLines(series: Series, labels: readonly string[]): string[] {
    let count = 0;
    const lines = series.bucketCounts.map((inBucket, index) => {
      count += inBucket;
      const bound = this.#definition.buckets?.[index] ?? "+Inf";
      return line(`${this.name}_bucket`, [...labels, `le="${bound}"`], count);
    });
    return [
      ...lines,
      line(`${this.name}_sum`, labels, series.value),
      line(`${this.name}_count`, labels, count),
    ];
  }
}

const maxLabelLength = 128;

function labelText(name: string, value: string): string {
  const escaped = value
    .slice(0, maxLabelLength)
    .replace(/\\/g, "\\\\")
    .replace(/"/g, '\\"')
    .replace(/\n/g, "\\n");
  return `${name}="${escaped}"`;
}

function line(name: string, labels: readonly string[], value: number): string {
  return labels.length === 0 ? `${name} ${value}` : `${name}{${labels.join(",")}} ${value}`;
}
