// Adds up metrics of several processes in the Prometheus text format.

interface Family {
  /** The lines # HELP and # TYPE. */
  readonly header: string;
  readonly isGauge: boolean;
  /** By name and labels, in the order of the text. */
  readonly values: Map<string, number>;
}

/** By the name of the metric. */
export type Families = ReadonlyMap<string, Family>;

/** Reads the text of our own metrics: every metric begins with # HELP and # TYPE, and no line has a timestamp. */
export function parseMetrics(text: string): Families {
  const families = new Map<string, Family>();
  let help = "";
  let family: Family | undefined;
  for (const line of text.split("\n")) {
    const [, name, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    if (name !== undefined) {
      family = { header: `${help}\n${line}`, isGauge: type === "gauge", values: new Map() };
      families.set(name, family);
    } else if (line.startsWith("# HELP ")) {
      help = line;
    } else if (line !== "") {
      const end = line.lastIndexOf(" ");
      family?.values.set(line.slice(0, end), Number(line.slice(end + 1)));
    }
  }
  return families;
}

/** Every series is summed; buckets, sums and counts of histograms too, because all processes have the same bounds. */
export function sumMetrics(all: readonly Families[]): Families {
  const sum = new Map<string, Family>();
  for (const [name, { header, isGauge, values }] of all.flatMap((families) => [...families])) {
    const known = sum.get(name) ?? { header, isGauge, values: new Map<string, number>() };
    sum.set(name, known);
    for (const [series, value] of values) known.values.set(series, (known.values.get(series) ?? 0) + value);
  }
  return sum;
}

export function withoutGauges(families: Families): Families {
  return new Map([...families].filter(([, { isGauge }]) => !isGauge));
}

export function metricsText(families: Families): string {
  return [...families.values()]
    .map(({ header, values }) => {
      const lines = [...values].map(([series, value]) => `${series} ${value}\n`);
      return `${header}\n${lines.join("")}`;
    })
    .join("");
}
