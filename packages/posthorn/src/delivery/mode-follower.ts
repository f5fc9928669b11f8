// The mode of delivery that this process applies. The poller sees a change within half a second; nothing is read per event
// or delivery.
import type { DeliveryMode } from "../model.ts";
import type { Logger } from "../observe/log.ts";
import { Loop, POLLED_MS } from "../service/loop.ts";
import type { Database } from "../storage/database.ts";
import { addDropped, currentDeliveryMode, keepDeliveryMode } from "../storage/queries/delivery-modes.ts";

export interface ModeFollowerOptions {
  readonly db: Database;
  readonly logger: Logger;
  /** The start-up setting. */
  readonly setting: DeliveryMode;
  readonly onChanged: (mode: DeliveryMode) => Promise<void>;
}

export class ModeFollower {
  readonly #options: ModeFollowerOptions;
  readonly #loop: Loop;
  #mode: DeliveryMode;
  #version = 0;
  /** Events that were dropped and are not counted in the database yet. */
  #dropped = 0;

  constructor(options: ModeFollowerOptions) {
    const { logger, setting } = options;
    this.#options = options;
    this.#mode = setting;
    this.#loop = new Loop({
      name: "following the mode of delivery",
      intervalMs: POLLED_MS,
      logger,
      step: () => this.#follow().then(() => false),
    });
  }

  get mode(): DeliveryMode {
    return this.#mode;
  }

  /** Reads the mode before anything is sent. */
  async start(): Promise<void> {
    await this.#read();
    await this.#loop.start();
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
    await this.#count().catch((error: Error) => {
      this.#options.logger.warn("dropped events could not be counted", { error: error.message });
    });
  }

  /** Returns whether there is anything to read or to count. */
  isBehind(storedVersion: number): boolean {
    return storedVersion !== this.#version || this.#dropped > 0;
  }

  wake(): void {
    this.#loop.wake();
  }

  async runNow(): Promise<void> {
    await this.#loop.runNow();
  }

  /**
   * Stores events. While this process drops, the mode is read again and kept until they are stored: a change waits for
   * them, so that nothing is dropped after it.
   */
  async storing<Stored>(store: (isDropping: boolean) => Promise<Stored>): Promise<Stored> {
    if (this.#mode !== "drop") return await store(false);
    const { db, setting } = this.#options;
    let dropped: { readonly stored: Stored } | null = null as { readonly stored: Stored } | null;
    try {
      await db.transaction(async (tx) => {
        const mode = (await keepDeliveryMode(tx))?.mode ?? setting;
        if (mode === "drop") dropped = { stored: await store(true) };
      });
    } catch (error) {
      // they are stored by another connection, also if this one is lost now
      if (dropped === null) throw error;
    }
    if (dropped !== null) return dropped.stored;
    this.wake();
    return await store(false);
  }

  noteDropped(events: number): void {
    this.#dropped += events;
  }

  async #follow(): Promise<void> {
    await this.#count();
    const before = this.#mode;
    await this.#read();
    if (this.#mode === before) return;
    this.#options.logger.info("the mode of delivery changed", { mode: this.#mode, before });
    await this.#options.onChanged(this.#mode);
  }

  async #read(): Promise<void> {
    const { db, setting } = this.#options;
    const row = await currentDeliveryMode(db);
    this.#version = row?.version ?? 0;
    this.#mode = row?.mode ?? setting;
  }

  async #count(): Promise<void> {
    const dropped = this.#dropped;
    if (dropped === 0) return;
    await addDropped(this.#options.db, this.#version, dropped);
    this.#dropped -= dropped;
  }
}
