// Keeps the embedded server running while this process uses it. An idle connection detects that the server has ended.
// Then the server is restarted at the same address, so that pools reconnect by themselves.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type pg from "pg";
import { EmbeddedPostgresError } from "./error.ts";
import { type EmbeddedPostgres, type EmbeddedPostgresOptions, openEmbeddedPostgres } from "./open.ts";

/** The used part of Posthorn's logger. */
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

const minPauseMs = 100;
const maxPauseMs = 10_000;
const reconnectMs = 500;

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

  /** Watches the server until it is closed. */
  async run(): Promise<void> {
    while (!this.#isClosed) {
      const isRunning = await this.#watchUntilLost();
      if (this.#isClosed) return;
      this.#reopening = isRunning ? this.#pause(reconnectMs) : this.#reopen();
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

  /** Returns true if the server still runs and only rejected the connection. */
  async #watchUntilLost(): Promise<boolean> {
    // loaded late, so that it does not delay the start of the server
    const { default: pg } = await import("pg");
    if (this.#isClosed) return false;
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
    logger.warn("the embedded PostgreSQL has stopped, restarting it");
    let logged = "";
    for (let pauseMs = minPauseMs; !this.#isClosed; pauseMs = Math.min(maxPauseMs, 2 * pauseMs)) {
      try {
        if (!existsSync(join(dataDir, "postgres/data"))) throw dataDeleted(dataDir);
        await this.#openAgain();
        logger.info("the embedded PostgreSQL is running again", {
          afterMs: Math.round(performance.now() - startedAt),
        });
        return;
      } catch (error) {
        const { message } = error as Error;
        if (message !== logged) logger.error("the embedded PostgreSQL failed to start", { error: message });
        logged = message;
        await this.#pause(pauseMs);
      }
    }
  }

  async #openAgain(): Promise<void> {
    const previous = this.#postgres;
    this.#postgres = await openEmbeddedPostgres(this.#options);
    await previous.close(); // the new handle keeps the server running
    if (this.#postgres.connectionString !== this.connectionString) throw socketMoved();
  }

  async #pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#end.signal }).catch(() => {});
  }
}

const SQLSTATE = /^[0-9A-Z]{5}$/;

/** The data must not be replaced by an empty database without notice. */
function dataDeleted(dataDir: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    "data_directory_unusable",
    `The database in ${resolve(dataDir)} was deleted. Restore it, or restart this process to begin with an empty one.`,
  );
}

function socketMoved(): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    "start_failed",
    "The socket folder was removed, so the server uses another one. Restart this process.",
  );
}
