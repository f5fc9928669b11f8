// `posthorn serve`: the production server. One process serves, or a primary supervises several that share the port.
import cluster from "node:cluster";
import type { Posthorn, Role } from "posthorn";
import { type Config, readConfig } from "../../config.ts";
import { checkPort } from "../../listen.ts";
import { createLogger, type LevelledLogger } from "../../logger.ts";
import { connectionsFor, processCount } from "../../processes/process-count.ts";
import { CHILD_VARIABLE, Supervisor } from "../../processes/supervisor.ts";
import { warnOfMissingPackages } from "../../telemetry.ts";
import { usage } from "../failure.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { resolveAdminKey } from "./admin-key.ts";
import { openInstallation } from "./installation.ts";
import { Lifetime, withoutReserve } from "./lifetime.ts";

export interface ServeFlags {
  readonly role: Role;
  readonly processes?: string;
  readonly port?: string;
  readonly host?: string;
  readonly dataDir?: string;
  readonly config?: string;
}

export async function serve({ role, ...flags }: ServeFlags, { env, print }: Terminal): Promise<void> {
  if (cluster.isWorker && process.env[CHILD_VARIABLE])
    return await (await import("./serve-child.ts")).serveAsChild();
  // Workers serve only health checks; several on one machine must not compete for the default port.
  const config = await readConfig({
    env,
    flags,
    defaults: role === "worker" ? { port: 0 } : {},
  });
  const wanted = wantedProcesses(config.processes);
  const logger = createLogger({ level: config.logLevel, format: "json" });
  const lifetime = new Lifetime({ graceMs: config.shutdownTimeoutMs, logger });
  lifetime.listenForSignals();
  warnOfMissingPackages(env, logger);
  try {
    // checked first, because a generated key is printed only once
    const port = await checkPort(config.host, config.port);
    const onProgress = (message: string): void => logger.info(message);
    const maxConnections = connectionsFor(wanted);
    // the API is loaded while the database is opened
    const [opened, { operatorLink, serveRole }] = await Promise.all([
      openInstallation({ config, logger, lifetime, onProgress, maxConnections }),
      import("./serving.ts"),
    ]);
    const { hooks, isEmbedded, databaseUrl, keys } = opened;
    const isNewKey = role !== "worker" && (await printNewKey(opened, config, print));
    const processes = await fitting(wanted, config.processes, databaseUrl, logger);
    const forChildren = { ...config, port, databaseUrl, encryptionKeys: keys.keys };
    const supervisor =
      processes === 1 ? null : createSupervisor(processes, role, forChildren, { logger, lifetime });
    const { url } = await (supervisor?.start() ?? serveRole(role, { hooks, config, logger, lifetime }));
    if (isNewKey) {
      const link = await operatorLink(hooks, config.publicUrl ?? url, config.adminKey);
      print(`Dashboard (one-time link, valid for one hour): ${link}`);
    }
    // a primary needs no connections from now on
    if (supervisor !== null) await hooks.stop();
    logger.info("ready", { url, role, isEmbedded, ...(supervisor !== null && { processes }) });
    await supervisor?.failure;
  } catch (error) {
    if (lifetime.isEnding) return;
    await lifetime.end();
    throw error;
  }
}

function createSupervisor(
  processes: number,
  role: Role,
  config: Config,
  { logger, lifetime }: { readonly logger: LevelledLogger; readonly lifetime: Lifetime },
): Supervisor {
  const graceMs = withoutReserve(config.shutdownTimeoutMs);
  const supervisor = new Supervisor({ processes, startOptions: { role, config, graceMs }, logger });
  lifetime.onEnd((leftMs) => supervisor.stop(leftMs), { alsoWhenForced: true });
  return supervisor;
}

/** A process manager such as PM2 may have started this one as its own cluster worker, which cannot have children. */
function wantedProcesses(setting: Config["processes"]): number {
  if (!cluster.isWorker) return processCount(setting);
  if (setting === "auto" || setting === 1) return 1;
  throw usage(
    `${setting} processes are not possible, because this one was started by a process manager in cluster mode. Start it in fork mode, or set POSTHORN_PROCESSES=1.`,
  );
}

async function printNewKey(
  { hooks, isEmbedded }: { readonly hooks: Posthorn; readonly isEmbedded: boolean },
  config: Config,
  print: (text: string) => void,
): Promise<boolean> {
  const keepIn = isEmbedded ? config.dataDir : null;
  const { key, isNew } = await resolveAdminKey({ hooks, configured: config.adminKey, keepIn });
  if (isNew) print(`Admin key (shown only once): ${key}`);
  return isNew;
}

async function fitting(wanted: number, ...rest: FittingFacts): Promise<number> {
  if (wanted === 1) return 1;
  const { fittingProcesses } = await import("../../processes/fitting-processes.ts");
  return await fittingProcesses(wanted, ...rest);
}

type FittingFacts = [setting: Config["processes"], databaseUrl: string, logger: LevelledLogger];
