// The metrics page. What the database has to be asked is asked at most every few seconds, however many ask at once, and
// the page does not wait long for it.
import { performance } from "node:perf_hooks";
import type { Logger } from "../../observe/log.ts";
import type { InstallationGauges, Metrics } from "../../observe/metrics.ts";
import { withTimeout } from "../../service/with-timeout.ts";
import type { Queryable } from "../../storage/database.ts";
import { installationGauges } from "../../storage/queries/installation/gauges.ts";

export interface MetricsTextOptions {
  readonly db: Queryable & { readonly waitingForConnection: number };
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly inFlight: () => number;
}

const sampleMs = 5_000;
/** Prometheus gives up after 10 s by default. */
const patienceMs = 2_000;

export function createMetricsText({
  db,
  metrics,
  logger,
  inFlight,
}: MetricsTextOptions): () => Promise<string> {
  let sample: { readonly gauges: InstallationGauges; readonly at: number } | null = null;
  let sampling: Promise<void> | undefined;

  async function takeSample(): Promise<void> {
    const at = performance.now();
    try {
      sample = { gauges: await installationGauges(db), at };
    } catch (error) {
      // left out from here on, for old ones would be lies
      logger.warn("the gauges of the installation could not be read", { error: (error as Error).message });
    } finally {
      sampling = undefined;
    }
  }

  const fresh = () => (sample !== null && performance.now() - sample.at < sampleMs ? sample : null);

  return async () => {
    if (fresh() === null) {
      sampling ??= takeSample();
      await withTimeout(patienceMs, sampling);
    }
    const now = { inFlight: inFlight(), poolWaiting: db.waitingForConnection };
    return metrics.text(now, fresh()?.gauges ?? null);
  };
}
