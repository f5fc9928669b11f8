// The metrics page. Gauges from the database are read at most every five seconds, shared by all requests, and left out if
// the database takes too long.
import { performance } from "node:perf_hooks";
import { refuseUnknown } from "../../did-you-mean.ts";
import type { DeliveryMode } from "../../model.ts";
import type { Logger } from "../../observe/log.ts";
import type { InstallationGauges, Metrics } from "../../observe/metrics.ts";
import { yesOrNo } from "../../option-checks.ts";
import { withTimeout } from "../../service/with-timeout.ts";
import type { Queryable } from "../../storage/database.ts";
import { installationGauges } from "../../storage/queries/installation/gauges.ts";
import { type Backlog, readBacklog } from "./backlog.ts";

export interface MetricsTextOptions {
  readonly db: Queryable & { readonly waitingForConnection: number };
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly inFlight: () => number;
  readonly deliveryMode: () => DeliveryMode;
}

const SAMPLE_MS = 5_000;
/** Well below the default scrape timeout of Prometheus, 10 s. */
const SAMPLE_TIMEOUT_MS = 2_000;

export interface MetricsSelection {
  /** False leaves out the gauges of the installation and reads nothing from the database. Default true. */
  readonly installation?: boolean;
}

export function createMetricsText({
  db,
  metrics,
  logger,
  inFlight,
  deliveryMode,
}: MetricsTextOptions): (selection?: MetricsSelection) => Promise<string> {
  let sample: { readonly gauges: InstallationGauges; readonly backlog: Backlog; readonly at: number } | null =
    null;
  let sampling: Promise<void> | undefined;

  async function takeSample(): Promise<void> {
    const at = performance.now();
    try {
      const gauges = await installationGauges(db);
      sample = { gauges, backlog: await readBacklog(db, gauges, deliveryMode() === "on"), at };
    } catch (error) {
      // the page leaves them out rather than show old values
      logger.warn("the gauges of the installation could not be read", { error: (error as Error).message });
    } finally {
      sampling = undefined;
    }
  }

  const fresh = () => (sample !== null && performance.now() - sample.at < SAMPLE_MS ? sample : null);

  return async (selection = {}) => {
    refuseUnknown("metrics has no option", selection, ["installation"]);
    const installation = yesOrNo("installation", selection.installation ?? true);
    if (installation && fresh() === null) {
      sampling ??= takeSample();
      await withTimeout(SAMPLE_TIMEOUT_MS, sampling);
    }
    const now = { inFlight: inFlight(), poolWaiting: db.waitingForConnection, mode: deliveryMode() };
    const known = installation ? fresh() : null;
    return metrics.text(now, known?.gauges ?? null, known?.backlog ?? null);
  };
}
