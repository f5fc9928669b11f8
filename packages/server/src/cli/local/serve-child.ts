// A child of `posthorn serve` with several processes. The primary has validated the settings, migrated the database and
// printed the keys; a child only serves.
import type { Posthorn } from "posthorn";
import { createLogger } from "../../logger.ts";
import { ChildChannel } from "../../processes/process-group.ts";
import { describeFailure } from "../failure.ts";
import { openDatabase } from "./installation.ts";
import { Lifetime } from "./lifetime.ts";
import { serveRole } from "./serving.ts";

export async function serveAsChild(): Promise<void> {
  const channel = new ChildChannel();
  const { number, role, config, graceMs } = await channel.started;
  const logger = createLogger({ level: config.logLevel, format: "json", fields: { process: number } });
  const lifetime = new Lifetime({ graceMs, logger });
  lifetime.listenForSignals();
  const stop = (signal: string): void => {
    // a signal to the process group has reached this process already
    if (!lifetime.isEnding) lifetime.signal(signal);
  };
  channel.onStop(() => stop("SIGTERM"));
  channel.onPrimaryEnded(() => {
    logger.warn("the primary process has ended");
    stop("disconnect");
  });
  try {
    let hooks: Posthorn | undefined;
    // registered first, so that it runs after the listener has closed and the engine has counted its last delivery
    lifetime.onEnd(async () => {
      if (hooks !== undefined) await channel.detach(await hooks.metrics({ installation: false }));
    });
    const onProgress = (message: string): void => logger.info(message);
    ({ hooks } = await openDatabase({ config, logger, lifetime, onProgress }, config.encryptionKeys));
    const { url } = await serveRole(role, { hooks, config, logger, lifetime, group: channel });
    channel.ready(url);
  } catch (error) {
    if (lifetime.isEnding) return;
    await channel.failed(describeFailure(error).message);
    await lifetime.end();
    // an open channel would keep the process running
    process.channel?.unref();
    throw error;
  }
}
