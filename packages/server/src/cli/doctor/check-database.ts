// Checks whether the database can keep Posthorn's guarantees, and whether a worker is running. Pure.
import type { DatabaseFacts, InstallationFacts } from "posthorn/internal";
import { CONNECTIONS_PER_PROCESS } from "../../processes/process-count.ts";
import { type Check, ok, problem, warning } from "./check.ts";

const OLDEST_VERSION = 140_000;
const CLOCK_TOLERANCE_MS = 2_000;
const SPARE_CONNECTIONS = 20;

/** `processes` are those that `posthorn serve` would start on this machine. */
export function checkDatabase(facts: DatabaseFacts, processes = 1): Check[] {
  return [
    checkVersion(facts.versionNumber),
    checkDurability(facts),
    ...(facts.isReadOnly
      ? [problem("database", "The database is read-only.", "Set DATABASE_URL to the primary server.")]
      : []),
    checkClock(facts.clockAheadMs),
    checkConnections(facts, processes),
  ];
}

function checkVersion(number: number): Check {
  const shown = `PostgreSQL ${Math.floor(number / 10_000)}.${number % 10_000}`;
  if (number >= OLDEST_VERSION) return ok("database", shown);
  return problem("database", shown, "Use PostgreSQL 14 or newer.");
}

function checkDurability({ fsync, synchronousCommit }: DatabaseFacts): Check {
  if (!fsync) {
    return problem(
      "durability",
      "fsync is off: a power failure can destroy the database.",
      "Set fsync = on in postgresql.conf and restart PostgreSQL.",
    );
  }
  if (synchronousCommit === "off") {
    return problem(
      "durability",
      "synchronous_commit is off: acknowledged events can be lost.",
      "Set synchronous_commit = on for this database or user.",
    );
  }
  return ok("durability", `fsync on, synchronous_commit ${synchronousCommit}`);
}

function checkClock(aheadMs: number): Check {
  if (Math.abs(aheadMs) <= CLOCK_TOLERANCE_MS)
    return ok("clock", `differs from the database by ${Math.abs(aheadMs)} ms`);
  const side = aheadMs > 0 ? "behind" : "ahead of";
  return warning(
    "clock",
    `The clock of this machine is ${Math.abs(aheadMs)} ms ${side} the database.`,
    "Synchronise both clocks (chrony, systemd-timesyncd): receivers reject signatures that are minutes off.",
  );
}

function checkConnections({ maxConnections, usedConnections }: DatabaseFacts, processes: number): Check {
  const inUse = `${usedConnections} of ${maxConnections} connections are in use`;
  const needed = processes * CONNECTIONS_PER_PROCESS;
  // connections in use may be those of a running server
  const isEnough = maxConnections >= needed && maxConnections - usedConnections >= SPARE_CONNECTIONS;
  const each = `${CONNECTIONS_PER_PROCESS} connections per process`;
  const message = processes === 1 ? inUse : `${inUse}; ${processes} processes need ${needed}`;
  if (isEnough) return ok("connections", message);
  return warning(
    "connections",
    message,
    `Increase max_connections, use pgbouncer, or set POSTHORN_PROCESSES: there should be ${each}.`,
  );
}

const ADVICE =
  "Start one with posthorn serve or posthorn serve --role worker, without POSTHORN_ENABLED=false. If one is running, see its log.";

export function checkWorkers({ workers, isWorkWaiting }: InstallationFacts): Check {
  if (workers > 0) return ok("workers", `${workers} ${workers === 1 ? "is" : "are"} running`);
  return isWorkWaiting
    ? problem("workers", "No worker is running, and deliveries are due.", ADVICE)
    : warning("workers", "No worker is running: published events wait.", ADVICE);
}
