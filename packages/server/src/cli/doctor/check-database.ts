// Checks whether the database can keep Posthorn's guarantees. Pure.
import type { DatabaseFacts } from "posthorn/internal";
import { type Check, ok, problem, warning } from "./check.ts";

const OLDEST_VERSION = 140_000;
const CLOCK_TOLERANCE_MS = 2_000;
const SPARE_CONNECTIONS = 20;

export function checkDatabase(facts: DatabaseFacts): Check[] {
  return [
    checkVersion(facts.versionNumber),
    checkDurability(facts),
    ...(facts.isReadOnly
      ? [problem("database", "The database is read-only.", "Set DATABASE_URL to the primary server.")]
      : []),
    checkClock(facts.clockAheadMs),
    checkConnections(facts),
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
  if (Math.abs(aheadMs) <= CLOCK_TOLERANCE_MS) return ok("clock", `${aheadMs} ms difference to the database`);
  const side = aheadMs > 0 ? "behind" : "ahead of";
  return warning(
    "clock",
    `The clock of this machine is ${Math.abs(aheadMs)} ms ${side} the database.`,
    "Synchronise both clocks (chrony, systemd-timesyncd): receivers reject signatures that are minutes off.",
  );
}

function checkConnections({ maxConnections, usedConnections }: DatabaseFacts): Check {
  const message = `${usedConnections} of ${maxConnections} connections are in use`;
  if (maxConnections - usedConnections >= SPARE_CONNECTIONS) return ok("connections", message);
  return warning(
    "connections",
    message,
    "Increase max_connections, or use pgbouncer: a process needs about ten connections.",
  );
}
