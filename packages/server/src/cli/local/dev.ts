// `posthorn dev`: everything in one process, with a demo delivery. Starting again keeps existing data; each start sends one
// event.
import { withProgress } from "@posthorn/embedded-postgres";
import { readConfig } from "../../config.ts";
import { checkPort } from "../../listen.ts";
import { createLogger } from "../../logger.ts";
import { warnOfMissingPackages } from "../../telemetry.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { resolveAdminKey } from "./admin-key.ts";
import { banner } from "./dev-banner.ts";
import { deliverFirstEvent, SINK_ID } from "./dev-demo.ts";
import { openInstallation } from "./installation.ts";
import { Lifetime } from "./lifetime.ts";

export interface DevFlags {
  readonly port?: string;
  readonly host?: string;
  readonly dataDir?: string;
  readonly config?: string;
}

const WAIT_TIMEOUT_MS = 10_000;
const LOOPBACK = ["127.0.0.0/8", "::1/128"];

export async function dev(flags: DevFlags, { print, printError }: Terminal): Promise<void> {
  const config = await readConfig({
    env: process.env,
    flags,
    defaults: { allowHttp: true, sink: true },
    additions: { allowCidrs: LOOPBACK, websubAllowCidrs: LOOPBACK },
  });
  const logger = createLogger({ level: config.logLevel, format: process.stderr.isTTY ? "pretty" : "json" });
  const lifetime = new Lifetime({ graceMs: config.shutdownTimeoutMs, logger });
  lifetime.listenForSignals();
  warnOfMissingPackages(process.env, logger);
  try {
    await checkPort(config.host, config.port);
    // the API is loaded while the database is opened
    const [{ hooks, isEmbedded }, { exportTraces, operatorLink, startServing }] = await Promise.all([
      openInstallation({ config, logger, lifetime, onProgress: printError }),
      import("./serving.ts"),
    ]);
    const { key } = await resolveAdminKey({
      hooks,
      configured: config.adminKey,
      keepIn: isEmbedded ? config.dataDir : null,
    });
    await exportTraces({ logger, lifetime });
    await hooks.start({ role: "all" });
    const { url, sink } = await startServing({ hooks, config, logger, lifetime }, { sinkReaders: "public" });
    const delivered =
      sink &&
      (await withProgress("Waiting for the first delivery", printError, () =>
        deliverFirstEvent(
          hooks,
          sink,
          `${url}/sink/${SINK_ID}`,
          config.enabled === "on" ? WAIT_TIMEOUT_MS : 0,
        ),
      ));
    const shownUrl = config.publicUrl ?? url;
    const link = await operatorLink(hooks, shownUrl, config.adminKey);
    print(banner({ url: shownUrl, link, key, config, isEmbedded, delivered }));
  } catch (error) {
    if (lifetime.isEnding) return;
    await lifetime.end();
    throw error;
  }
}
