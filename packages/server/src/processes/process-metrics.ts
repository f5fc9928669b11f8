// The metrics of all children as those of one server.
//
// Counters of a child that has ended stay in the sums. Prometheus interprets any decrease of a counter as a restart from
// zero and counts the whole new value as an increase: without the share of the dead child, a sum of 1,000,000 that falls to
// 900,000 would add 900,000 deliveries to every rate. For the same reason a child that does not respond counts with its
// last known values. Only the counts of a killed child since its last report are lost. The sums start at zero again with
// the primary, which Prometheus correctly interprets as a restart.
//
// Gauges have no past: only children that respond count. Those of the installation are in the text of one child, the one
// that gathers, so they are not multiplied.
import { type Families, metricsText, parseMetrics, sumMetrics, withoutGauges } from "./merge-metrics.ts";

export class ProcessMetrics {
  /** Counters and histograms by the id of the child, which is never used again: a successor starts its own. */
  readonly #last = new Map<number, Families>();
  #ended: Families = new Map();

  started(child: number): void {
    this.#last.set(child, new Map());
  }

  /** Ignores a child that has ended. */
  report(child: number, text: string): void {
    if (this.#last.has(child)) this.#last.set(child, withoutGauges(parseMetrics(text)));
  }

  ended(child: number): void {
    const last = this.#last.get(child);
    if (last === undefined) return;
    this.#last.delete(child);
    this.#ended = sumMetrics([this.#ended, last]);
  }

  /** `texts` has the responses by child, in the order of the page; they must have been reported. */
  text(texts: ReadonlyMap<number, string>): string {
    const present = [...texts].filter(([child]) => this.#last.has(child));
    const silent = [...this.#last].filter(([child]) => !texts.has(child));
    return metricsText(
      sumMetrics([
        ...present.map(([, text]) => parseMetrics(text)),
        ...silent.map(([, families]) => families),
        this.#ended,
      ]),
    );
  }
}
