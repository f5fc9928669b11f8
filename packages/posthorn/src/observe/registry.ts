// Numbers in memory, and the text in which Prometheus reads them. Adding to one is a look-up in a map and nothing else.

export interface MetricDefinition {
  readonly type: "counter" | "gauge" | "histogram";
  /** One sentence without its full stop. */
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds of a histogram, ascending; +Inf is added. */
  readonly buckets?: readonly number[];
}

/** A histogram's counts are per bucket here, and summed up when they are written. */
interface Series {
  readonly labelValues: readonly string[];
  value: number;
  readonly bucketCounts: number[];
}

export class Metric {
  readonly name: string;
  readonly #definition: MetricDefinition;
  readonly #buckets: readonly number[];
  readonly #series = new Map<string, Series>();

  constructor(name: string, definition: MetricDefinition) {
    this.name = name;
    this.#definition = definition;
    this.#buckets = definition.buckets ?? [];
    // a counter that is missing until the first error looks like a process that was never asked
    if (definition.labels.length === 0 && definition.type !== "gauge") this.#seriesOf([]);
  }

  /** A counter goes up. */
  add(amount: number, ...labelValues: readonly string[]): void {
    this.#seriesOf(labelValues).value += amount;
  }

  /** A gauge is what it is; null: not known now, and left out. */
  set(value: number | null): void {
    if (value === null) this.#series.clear();
    else this.#seriesOf([]).value = value;
  }

  /** A histogram gets one observation more. */
  observe(value: number, ...labelValues: readonly string[]): void {
    const series = this.#seriesOf(labelValues);
    series.value += value;
    let bucket = 0;
    while (bucket < this.#buckets.length && value > (this.#buckets[bucket] as number)) bucket += 1;
    series.bucketCounts[bucket] = (series.bucketCounts[bucket] as number) + 1;
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
      const bound = this.#buckets[index] ?? "+Inf";
      return line(`${this.name}_bucket`, [...labels, `le="${bound}"`], count);
    });
    return [
      ...lines,
      line(`${this.name}_sum`, labels, series.value),
      line(`${this.name}_count`, labels, count),
    ];
  }

  #seriesOf(labelValues: readonly string[]): Series {
    const key = labelValues.length === 1 ? (labelValues[0] as string) : labelValues.join("\n");
    let series = this.#series.get(key);
    if (series === undefined) {
      const isHistogram = this.#definition.type === "histogram";
      const bucketCounts = new Array<number>(isHistogram ? this.#buckets.length + 1 : 0).fill(0);
      series = { labelValues, value: 0, bucketCounts };
      this.#series.set(key, series);
    }
    return series;
  }
}

/**
 * The first so many values are told apart, all others are `other`: whoever may make endpoints must not be able to make
 * series without end.
 */
export class BoundedLabel {
  readonly #most: number;
  readonly #known = new Map<string, string>();

  constructor(most: number) {
    this.#most = most;
  }

  of(value: string, present: (value: string) => string): string {
    const known = this.#known.get(value);
    if (known !== undefined) return known;
    if (this.#known.size >= this.#most) return "other";
    const shown = present(value);
    this.#known.set(value, shown);
    return shown;
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
