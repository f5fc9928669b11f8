// Checks whether a worker is running. Pure.
import type { InstallationFacts } from "posthorn/internal";
import { type Check, ok, problem, warning } from "./check.ts";

const ADVICE =
  "Start one: posthorn serve, or posthorn serve --role worker, without POSTHORN_ENABLED=false. If one runs, its log says why it does not work.";

export function checkWorkers({ workers, isWorkWaiting }: InstallationFacts): Check {
  if (workers > 0) return ok("workers", `${workers} deliver${workers === 1 ? "s" : ""}`);
  return isWorkWaiting
    ? problem("workers", "None delivers, and events wait to be sent.", ADVICE)
    : warning("workers", "None delivers: what is published waits.", ADVICE);
}
