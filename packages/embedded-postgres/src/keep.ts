// Keeps the embedded server running for as long as this process uses it. A connection of its own, which does nothing,
// ends the moment the server does: then it is started again, at the same address, so that pools find it by themselves.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { EmbeddedPostgresError } from "./error.ts";
import { type EmbeddedPostgres, type EmbeddedPostgresOptions, openEmbeddedPostgres } from "./open.ts";

/** The part of Posthorn's logger that is used here. */
interface Logger {
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
}

export interface KeepOptions extends EmbeddedPostgresOptions {
  readonly logger: Logger;
}

export async function keepEmbeddedPostgres(options: KeepOptions): Promise<EmbeddedPostgres> {
  const keeper = new Keeper(options, await openEmbeddedPostgres(options));
  void keeper.run();
  return keeper;
}

const firstPauseMs = 100;
const longestPauseMs = 10_000;
const lookAgainMs = 500;

class Keeper implements EmbeddedPostgres {
  readonly connection: EmbeddedPostgres["connection"];
  readonly connectionString: string;
  readonly #options: KeepOptions;
  readonly #end = new AbortController();
  #postgres: EmbeddedPostgres;
  #watch: pg.Client | undefined;
  #reopening: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: KeepOptions, postgres: EmbeddedPostgres) {
    this.#options = options;
    this.#postgres = postgres;
    this.connection = postgres.connection;
    this.connectionString = postgres.connectionString;
  }

  /** Resolves when it is closed. */
  async run(): Promise<void> {
    while (!this.#isClosed) {
      const isThere = await this.#watchUntilLost();
      if (this.#isClosed) return;
      this.#reopening = isThere ? this.#pause(lookAgainMs) : this.#reopen();
      await this.#reopening;
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#end.abort();
    await this.#watch?.end().catch(() => {});
    await this.#reopening;
    await this.#postgres.close();
  }

  get #isClosed(): boolean {
    return this.#end.signal.aborted;
  }

  /** True when it is there all the same: it answered, but had no connection for us just then. */
  async #watchUntilLost(): Promise<boolean> {
    const client = new pg.Client({ ...this.connection, application_name: "posthorn watch" });
    const lost = new Promise<void>((resolve) => client.on("error", () => {}).once("end", () => resolve()));
    this.#watch = client;
    try {
      await client.connect();
      await lost;
      return false;
    } catch (error) {
      return SQLSTATE.test((error as { code?: string }).code ?? "");
    } finally {
      this.#watch = undefined;
    }
  }

  async #reopen(): Promise<void> {
    const { logger, dataDir } = this.#options;
    const startedAt = performance.now();
    logger.warn("the embedded PostgreSQL has gone away, starting it again");
    let said = "";
    for (let pauseMs = firstPauseMs; !this.#isClosed; pauseMs = Math.min(longestPauseMs, 2 * pauseMs)) {
      try {
        if (!existsSync(join(dataDir, "postgres/data"))) throw dataGone(dataDir);
        await this.#openAgain();
        logger.info("the embedded PostgreSQL runs again", {
          afterMs: Math.round(performance.now() - startedAt),
        });
        return;
      } catch (error) {
        const { message } = error as Error;
        if (message !== said) logger.error("the embedded PostgreSQL does not start", { error: message });
        said = message;
        await this.#pause(pauseMs);
      }
    }
  }

  async #openAgain(): Promise<void> {
    const before = this.#postgres;
    this.#postgres = await openEmbeddedPostgres(this.#options);
    await before.close(); // one of two users now, so the server stays
    if (this.#postgres.connectionString !== this.connectionString) throw movedAway();
  }

  async #pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#end.signal }).catch(() => {});
  }
}

const SQLSTATE = /^[0-9A-Z]{5}$/;

/** An empty database in its place would look like one that lost everything. */
function dataGone(dataDir: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    "data_directory_unusable",
    `The database in ${resolve(dataDir)} is gone. Bring it back, or stop this process and start with an empty one.`,
  );
}

function movedAway(): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    "start_failed",
    "The folder of its socket was removed, so it listens elsewhere now. Start this process again.",
  );
}
