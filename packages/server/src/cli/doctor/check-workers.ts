// Checks whether a worker is running. Pure.
import type { InstallationFacts } from "posthorn/internal";
import { type Check, ok, problem, warning } from "./check.ts";

const ADVICE =
  "Start one with posthorn serve or posthorn serve --role worker, without POSTHORN_ENABLED=false. If one is running, see its log.";

export function checkWorkers({ workers, isWorkWaiting }: InstallationFacts): Check {
  if (workers > 0) return ok("workers", `${workers} ${workers === 1 ? "is" : "are"} running`);
  return isWorkWaiting
    ? problem("workers", "No worker is running, and deliveries are due.", ADVICE)
    : warning("workers", "No worker is running: published events wait.", ADVICE);
}
