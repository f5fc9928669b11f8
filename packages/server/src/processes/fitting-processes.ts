// The number of processes that the database has connections for. In a file of its own, because it loads the database
// driver, which one process does not need before its database is open.
import { inspectDatabase } from "posthorn/internal";
import type { Config } from "../config.ts";
import type { LevelledLogger } from "../logger.ts";
import { CONNECTIONS_PER_PROCESS, processesThatFit } from "./process-count.ts";

/** `auto` starts only as many as fit. A given number is used in any case: a pooler may have more connections. */
export async function fittingProcesses(
  wanted: number,
  setting: Config["processes"],
  databaseUrl: string,
  logger: LevelledLogger,
): Promise<number> {
  const { maxConnections, usedConnections } = await inspectDatabase(databaseUrl);
  const fitting = processesThatFit({ maxConnections, usedConnections });
  if (wanted <= fitting) return wanted;
  const started = setting === "auto" ? fitting : wanted;
  logger.warn(
    "the database has too few connections for the processes; raise max_connections or set POSTHORN_PROCESSES",
    {
      processes: wanted,
      connections: wanted * CONNECTIONS_PER_PROCESS,
      maxConnections,
      usedConnections,
      started,
    },
  );
  return started;
}
