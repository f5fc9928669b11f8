// Follows a source: reads rows, publishes them as events, and stores both the events and the position in one
// transaction of Posthorn's database. One process follows a source at a time.
//
//   starting ──► running ──a row cannot be an event──► held ──row skipped, or its cause removed──► running
//                  │  ▲
//                  │  └──retried──┐
//                  ├──an error──► failing
//                  └──the slot or the publication lacks rows──► lost ──reset──► starting
import { PosthornError } from "../errors.ts";
import { Leader } from "../maintenance/leader.ts";
import type { Uuid } from "../model.ts";
import type { Logger } from "../observe/log.ts";
import type { Observer } from "../observe/observer.ts";
import type { Admission } from "../publish/admission.ts";
import { Loop } from "../service/loop.ts";
import type { Database } from "../storage/database.ts";
import { rejectEvents } from "../storage/queries/events/rejected.ts";
import { publishFromSource } from "../storage/queries/sources/publish.ts";
import {
  beginSource,
  moveSource,
  noteSourceLag,
  readSource,
  registerSource,
  type SourceRow,
  stopSource,
} from "../storage/queries/sources/sources.ts";
import { type AdmittedItem, admitItem } from "./admit-item.ts";
import type { SourceConfig } from "./options.ts";
import { PollingReader } from "./polling-reader.ts";
import type { Reader, SourceItem } from "./reader.ts";
import { missingRows, ReplicationReader, SourceLostError } from "./replication-reader.ts";
import { SlotGuard } from "./slot-guard.ts";

export interface SourceDependencies {
  readonly db: Database;
  readonly logger: Logger;
  readonly config: SourceConfig;
  readonly workerId: () => number;
  readonly admission: Pick<Admission, "admit" | "admitUnchecked">;
  readonly observer: Pick<Observer, "rejected">;
  /** Called after events were stored; they wait for their fan-out. */
  readonly onStored: () => void;
}

/** How often a held or lost source looks whether it may continue. */
const RECHECK_MS = 5_000;
/** How often it looks whether a person has decided to skip the row, or to reset the source. */
const DECISION_MS = 500;
/** How often a position without events is stored. */
const TOUCH_MS = 5_000;

export class Source extends Loop {
  readonly #options: SourceDependencies;
  readonly #leader: Leader;
  readonly #guard: SlotGuard;
  #open: { readonly reader: Reader; readonly row: SourceRow } | undefined;
  /** The stored position. */
  #position: string | null = null;
  /** Progress without events is stored less often. */
  #nextPosition: string | null = null;
  #movedAt = Number.NEGATIVE_INFINITY;
  #pauseMs = RECHECK_MS;
  /** When a held source reads its row again, because the cause may be gone. */
  #rereadAt = Number.NEGATIVE_INFINITY;
  #isStopping = false;

  constructor(options: SourceDependencies) {
    const { db, logger, config, workerId } = options;
    const step = (): Promise<boolean> => this.#advanceIfLeader();
    super({ name: `source ${config.name}`, intervalMs: () => this.#pauseMs, logger, step });
    this.#options = options;
    this.#guard = new SlotGuard(config, config.database ?? db.connectionOptions);
    const work = roleOf(config);
    this.#leader = new Leader({ work, db, logger, workerId, onElected: () => this.wake() });
  }

  override async start(): Promise<void> {
    await this.#register();
    await this.#leader.start();
    await super.start();
  }

  override async stop(): Promise<void> {
    this.#isStopping = true;
    this.#open?.reader.interrupt();
    await super.stop();
    await this.#close();
    await this.#guard.close();
    await this.#leader.stop();
  }

  async #register(): Promise<void> {
    const { db, config } = this.#options;
    await registerSource(db, config.name, config.kind, roleOf(config));
  }

  async #advanceIfLeader(): Promise<boolean> {
    this.#pauseMs = RECHECK_MS;
    if (!this.#leader.leads) {
      await this.#close();
      return false;
    }
    try {
      await this.#guardSlot();
      return await this.#advance();
    } catch (error) {
      await this.#close();
      await this.#guard.close();
      // `stop` interrupted it
      if (this.#isStopping) return false;
      if (error instanceof SourceLostError) return await this.#lose(error.message);
      const { db, config } = this.#options;
      const reason = (error as Error).message || String(error);
      // the loop logs the error itself, and this database may be the cause
      await stopSource(db, config.name, "failing", reason, null).catch(() => {});
      throw error;
    }
  }

  /** Throws if the slot was dropped, or if rows are no longer published. */
  async #guardSlot(): Promise<void> {
    const { db, config } = this.#options;
    const measured = config.kind === "replication" ? await this.#guard.measure() : null;
    if (measured === null) return;
    await noteSourceLag(db, config.name, measured.lagBytes);
    if (measured.problem !== null && this.#open !== undefined) throw missingRows(measured.problem);
    if (!measured.mustDrop) return;
    await this.#close();
    await this.#guard.drop();
    throw new SourceLostError(
      `The replication slot "${config.slot}" retained ${measured.lagBytes} bytes, more than its limit of ${config.maxLagBytes}, and was dropped to protect the disk of its server. Rows may be missing.`,
    );
  }

  async #advance(): Promise<boolean> {
    const { db, config } = this.#options;
    if (this.#open === undefined) {
      const row = await readSource(db, config.name);
      if (row === null) {
        // it was deleted
        await this.#register();
        return true;
      }
      if (row.state === "lost" || (isUndecided(row) && performance.now() < this.#rereadAt)) {
        this.#pauseMs = DECISION_MS;
        return false;
      }
      this.#position = row.position;
      const reader = await this.#openReader(row);
      this.#nextPosition = this.#position;
      this.#movedAt = Number.NEGATIVE_INFINITY;
      this.#open = { row, reader };
    }
    const { reader, row } = this.#open;
    const batch = await reader.read();
    const { events, position, invalid } = await this.#admit(batch.items, row);
    if (invalid === null || events.length > 0) {
      const behindMs = invalid === null ? batch.behindMs : null;
      const hasStored = await this.#store(events, position ?? this.#nextPosition, behindMs, batch.isUrgent);
      // false: another process follows it now
      if (!hasStored) {
        await this.#close();
        return false;
      }
    }
    if (invalid !== null) {
      await this.#hold(invalid, row);
      return false;
    }
    if (this.#position !== null) reader.confirm(this.#position);
    this.#pauseMs = config.intervalMs;
    return batch.readAgain;
  }

  async #openReader(row: SourceRow): Promise<Reader> {
    const { db, logger, config } = this.#options;
    const database = config.database ?? db.connectionOptions;
    const { position, cluster } = row;
    if (config.kind === "polling") return await PollingReader.open(config, database, position);
    const begin = async (from: string, clusterOfSlot: string) => {
      await beginSource(db, config.name, from, clusterOfSlot);
      this.#position = from;
    };
    const readPosition = async () => (await readSource(db, config.name))?.position ?? null;
    return await ReplicationReader.open({
      config,
      database,
      logger,
      position,
      cluster,
      readPosition,
      begin,
    });
  }

  /** Returns the events up to the first that cannot be published, and the position after them. */
  async #admit(items: readonly SourceItem[], row: SourceRow): Promise<Admitted> {
    const events = new Map<string, AdmittedItem>();
    let position: string | null = null;
    for (const item of items) {
      const { input, tooLarge } = item;
      const admitted = input === null ? null : await admitItem(this.#options.admission, { input, tooLarge });
      if (admitted instanceof PosthornError) {
        if (!row.skippedRows.includes(item.reference))
          return { events: [...events.values()], position, invalid: { item, error: admitted } };
        this.#options.logger.warn("skipped a row that cannot be published", {
          source: this.#options.config.name,
          row: item.reference,
          error: admitted.message,
        });
      } else if (admitted !== null) {
        // the first of two rows with one id is the event of that id
        const key = `${admitted.event.tenant}\n${admitted.event.key}`;
        if (!events.has(key)) events.set(key, admitted);
      }
      position = item.position ?? position;
    }
    return { events: [...events.values()], position, invalid: null };
  }

  /** Returns false if another process has moved the position. */
  async #store(
    admitted: readonly AdmittedItem[],
    to: string | null,
    behindMs: number | null,
    isUrgent: boolean,
  ): Promise<boolean> {
    const from = this.#position;
    const now = performance.now();
    this.#nextPosition = to;
    if (admitted.length === 0 && !isUrgent && now - this.#movedAt < TOUCH_MS) return true;
    const { db, config, observer, onStored } = this.#options;
    const events = admitted.map(({ event }) => event);
    const rejections = admitted.flatMap(({ rejection }) => rejection ?? []);
    let rejected: readonly Uuid[] = [];
    const hasMoved = await db.transaction(async (tx) => {
      // the row's lock fences this process before anything is published
      if (!(await moveSource(tx, config.name, config.kind, from, to, behindMs))) return false;
      if (events.length > 0) await publishFromSource(tx, config.name, events);
      // those that are in the outbox: the others were stored before
      if (rejections.length > 0) rejected = await rejectEvents(tx, rejections, true);
      return true;
    });
    if (!hasMoved) return false;
    this.#position = to;
    this.#movedAt = now;
    for (const rejection of rejections)
      if (rejected.includes(rejection.eventId)) observer.rejected(rejection);
    if (events.length > 0) onStored();
    return true;
  }

  /** A row that cannot be published is neither dropped nor overtaken: the source waits. */
  async #hold({ item, error }: Invalid, row: SourceRow): Promise<void> {
    const { db, logger, config } = this.#options;
    await this.#close();
    this.#rereadAt = performance.now() + RECHECK_MS;
    this.#pauseMs = DECISION_MS;
    await stopSource(db, config.name, "held", error.message, item.reference);
    if (row.heldRow === item.reference && row.error === error.message) return;
    logger.error(
      `source ${config.name} is held by a row that cannot be published: correct the cause, or skip the row with "posthorn sources skip ${config.name}"`,
      { source: config.name, row: item.reference, error: error.message },
    );
  }

  /** Starting again at the current position would hide that rows are missing, so a person decides. */
  async #lose(reason: string): Promise<boolean> {
    const { db, logger, config } = this.#options;
    this.#pauseMs = DECISION_MS;
    await stopSource(db, config.name, "lost", reason, null);
    logger.error(
      `source ${config.name} is lost. Publish the missing rows if necessary, then continue with "posthorn sources reset ${config.name}"`,
      { source: config.name, error: reason },
    );
    return false;
  }

  async #close(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    await open?.reader.close();
  }
}

interface Invalid {
  readonly item: SourceItem;
  readonly error: PosthornError;
}

interface Admitted {
  readonly events: readonly AdmittedItem[];
  /** Null: that of the last batch. */
  readonly position: string | null;
  readonly invalid: Invalid | null;
}

function isUndecided({ state, heldRow, skippedRows }: SourceRow): boolean {
  return state === "held" && heldRow !== null && !skippedRows.includes(heldRow);
}

function roleOf({ name }: SourceConfig): string {
  return `source ${name}`;
}
