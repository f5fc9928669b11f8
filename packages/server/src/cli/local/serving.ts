// The HTTP server of `dev` and `serve`, and the sign-in link that a start prints.
import type { Posthorn, Role } from "posthorn";
import { digestOf } from "../../api/middleware/admin-key.ts";
import { OPERATORS_ONLY } from "../../api/principal.ts";
import type { RoutePermission } from "../../api/router.ts";
import { Sink } from "../../api/sink.ts";
import { settingsBelow } from "../../config/library-options.ts";
import type { Config } from "../../config.ts";
import type { LevelledLogger } from "../../logger.ts";
import type { ProcessGroup } from "../../processes/process-group.ts";
import { createServer, type ServerOptions, type Service } from "../../server.ts";
import { startTelemetry } from "../../telemetry.ts";
import type { Lifetime } from "./lifetime.ts";

export interface Serving {
  readonly hooks: Posthorn;
  readonly config: Config;
  readonly logger: LevelledLogger;
  readonly lifetime: Lifetime;
  /** The processes that share the port. */
  readonly group?: ProcessGroup;
}

/** Starts the engine and the HTTP server of `serve`. */
export async function serveRole(role: Role, serving: Serving): Promise<{ readonly url: string }> {
  await exportTraces(serving);
  const { keyRateLimit } = serving.config;
  await serving.hooks.start({ role });
  return await startServing(serving, { keyRateLimit, routes: role === "worker" ? "health" : "all" });
}

/** Before the engine starts. Registered before the server, so that the last spans are exported after it has stopped. */
export async function exportTraces({
  logger,
  lifetime,
}: Pick<Serving, "logger" | "lifetime">): Promise<void> {
  const telemetry = await startTelemetry(process.env, logger);
  if (telemetry !== null) lifetime.onEnd((graceMs) => telemetry.stop(graceMs));
}

export interface ServingOptions extends Pick<ServerOptions, "keyRateLimit" | "routes"> {
  /** Who may read what the sink has recorded. Anyone who can reach the server may write to it. Default: operators. */
  readonly sinkReaders?: RoutePermission;
}

/** `sink` is null if it is disabled. */
export async function startServing(
  { hooks, config, logger, lifetime, group }: Serving,
  { sinkReaders: readers = OPERATORS_ONLY, ...options }: ServingOptions,
): Promise<{ readonly url: string; readonly sink: Sink | null }> {
  const sink = config.sink ? new Sink() : null;
  const { host, port, adminKey, metricsPublic, publicUrl, allowedHosts } = config;
  const server = createServer({
    ...{ hooks, logger, host, port, adminKey, metricsPublic, publicUrl, allowedHosts, group },
    portal: settingsBelow(config, "portal"),
    ...(sink && { sink: { sink, readers } }),
    ...options,
  });
  lifetime.onEnd((graceMs) => stopServing(server, hooks, graceMs));
  return { ...(await server.start()), sink };
}

/** Minimum time for open requests after the engine has used up the grace period. */
const LAST_RESPONSES_MS = 500;

/**
 * The process reports not ready, then the engine drains, and the listener closes last, so that load balancers never see
 * refused connections.
 */
async function stopServing(server: Service, hooks: Posthorn, graceMs: number): Promise<void> {
  const deadline = performance.now() + graceMs;
  const leftMs = (): number => Math.max(0, deadline - performance.now());
  await server.drain({ graceMs });
  try {
    await hooks.stop({ graceMs: leftMs() });
  } finally {
    await server.stop({ graceMs: Math.max(LAST_RESPONSES_MS, leftMs()) });
  }
}

/** A one-time link, which leads to the first steps until an event was published. Null if there is no admin key. */
export async function operatorLink(
  hooks: Posthorn,
  url: string,
  adminKey: string | undefined,
): Promise<string | null> {
  const digest = await digestOf(hooks, adminKey)();
  if (digest === null) return null;
  const { code } = await hooks.sessions.createOperatorLink(digest);
  return `${url}/${(await hasPublished(hooks)) ? "" : "first-run"}#code=${code}`;
}

/** Enough to skip the test events that every start of a development server sends. */
const NEWEST = 50;

async function hasPublished({ events }: Posthorn): Promise<boolean> {
  const { data } = await events.list({ limit: NEWEST, outcomes: false });
  return data.some(({ type }) => !type.startsWith("webhook."));
}
