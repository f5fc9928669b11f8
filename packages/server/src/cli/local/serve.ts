// `posthorn serve`: the production server. One process has all roles, or several share them.
import type { Posthorn } from "posthorn";
import { OPERATORS_ONLY } from "../../api/principal.ts";
import { Sink } from "../../api/sink.ts";
import { type Config, loadConfig } from "../../config.ts";
import { createLogger, type LevelledLogger } from "../../logger.ts";
import { checkPort, createServer } from "../../server.ts";
import { print } from "../output.ts";
import { resolveAdminKey } from "./admin-key.ts";
import { openInstallation } from "./installation.ts";
import { Lifetime } from "./lifetime.ts";
import { operatorLink } from "./operator-link.ts";
import { siteOptions } from "./site-options.ts";
import { stopServing } from "./stop-serving.ts";

export type Role = "all" | "api" | "worker";

export interface ServeFlags {
  readonly role: Role;
  readonly port?: string;
  readonly host?: string;
  readonly dataDir?: string;
}

export async function serve({ role, ...flags }: ServeFlags): Promise<void> {
  // Workers serve only health checks; several on one machine must not compete for the default port.
  const config = loadConfig({ env: process.env, flags, defaults: role === "worker" ? { port: 0 } : {} });
  const logger = createLogger({ level: config.logLevel, format: "json" });
  const lifetime = new Lifetime({ graceMs: config.shutdownTimeoutMs, logger });
  lifetime.listenForSignals();
  try {
    // checked first, because a generated key is printed only once
    await checkPort(config.host, config.port);
    const onProgress = (message: string): void => logger.info(message);
    const { hooks, isEmbedded } = await openInstallation({ config, logger, lifetime, onProgress });
    const isFirst = role !== "worker" && (await announceAdminKey(hooks, config, isEmbedded));
    await hooks.start({ role });
    const { url } = await listen(hooks, config, role, logger, lifetime);
    if (isFirst) {
      const link = await operatorLink(hooks, config.publicUrl ?? url, config.adminKey);
      print(`Dashboard (one-time link, valid for one hour): ${link}`);
    }
    logger.info("ready", { url, role, isEmbedded });
  } catch (error) {
    if (lifetime.isEnding) return;
    await lifetime.end();
    throw error;
  }
}

/** Returns true if this start generated the key. */
async function announceAdminKey(hooks: Posthorn, config: Config, isEmbedded: boolean): Promise<boolean> {
  const { key, isNew } = await resolveAdminKey({
    hooks,
    configured: config.adminKey,
    keepIn: isEmbedded ? config.dataDir : null,
  });
  if (isNew) print(`Admin key (shown only once): ${key}`);
  return isNew;
}

async function listen(
  hooks: Posthorn,
  config: Config,
  role: Role,
  logger: LevelledLogger,
  lifetime: Lifetime,
): Promise<{ url: string }> {
  const server = createServer({
    hooks,
    logger,
    host: config.host,
    port: config.port,
    adminKey: config.adminKey,
    keyRateLimit: config.keyRateLimit,
    metricsPublic: config.metricsPublic,
    ...siteOptions(config),
    routes: role === "worker" ? "health" : "all",
    // Anyone who can reach the server may write to the sink; reading payloads needs a key.
    sink: config.sink ? { sink: new Sink(), readers: OPERATORS_ONLY } : undefined,
  });
  lifetime.onEnd((graceMs) => stopServing(server, hooks, graceMs));
  return server.start();
}
