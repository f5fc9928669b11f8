// Reads a table by polling. A row is read when every transaction that was open when it was written has ended: a
// transaction that commits late has an earlier `updated_at` than rows that were read before, and would be skipped.
import { performance } from "node:perf_hooks";
import { maxPayloadBytes } from "../event/limits.ts";
import { connectForeign, type ForeignConnection } from "../storage/foreign/connection.ts";
import {
  type Cursor,
  inPoll,
  type OpenTransactions,
  type PolledRow,
  type PolledTable,
  readOpenTransactions,
  readRows,
  refuseUnordered,
} from "../storage/foreign/poll-table.ts";
import { mapRow } from "./map-row.ts";
import type { SourceConfig, SourceTable } from "./options.ts";
import { BATCH, type Batch, MAX_TEXT_LENGTH, type Reader, type SourceItem } from "./reader.ts";

export class PollingReader implements Reader {
  readonly #connection: ForeignConnection;
  readonly #config: SourceConfig;
  readonly #table: SourceTable;
  readonly #polled: PolledTable;
  #cursor: Cursor | null;
  /** Transactions that were open at a time that becomes the horizon when they have ended. */
  #candidate: (OpenTransactions & { readonly readAt: number }) | undefined;
  /** Every transaction that began before it has ended. */
  #horizon: { readonly at: string; readonly readAt: number } | undefined;

  private constructor(connection: ForeignConnection, config: SourceConfig, position: string | null) {
    const table = config.table as SourceTable;
    this.#connection = connection;
    this.#config = config;
    this.#table = table;
    this.#cursor = position === null ? null : JSON.parse(position);
    this.#polled = table as PolledTable;
  }

  static async open(
    config: SourceConfig,
    database: Parameters<typeof connectForeign>[0],
    position: string | null,
  ): Promise<PollingReader> {
    return new PollingReader(await connectForeign(database), config, position);
  }

  async read(): Promise<Batch> {
    return await inPoll(this.#connection, async () => {
      await this.#moveHorizon();
      const horizon = this.#horizon;
      const { delayMs } = this.#config;
      await refuseUnordered(this.#connection, this.#polled, this.#cursor);
      const { rows, hasMore: readAgain } = await readRows(this.#connection, this.#polled, {
        after: this.#cursor,
        // nothing is read before there is a horizon, but a table or column that is missing is reported
        before: horizon?.at ?? "-infinity",
        delayMs,
        limit: { rows: BATCH.items, characters: BATCH.characters },
        maxDataBytes: maxPayloadBytes,
        maxTextLength: MAX_TEXT_LENGTH,
      });
      const items = rows.map((row) => this.#item(row));
      const last = rows.at(-1);
      if (last !== undefined) this.#cursor = cursorOf(last);
      const behindMs =
        readAgain || horizon === undefined ? null : performance.now() - horizon.readAt + delayMs;
      return { items, readAgain, behindMs, isUrgent: false };
    });
  }

  confirm(): void {}

  /** Ends a statement, which may take a minute. */
  interrupt(): void {
    void this.#connection.close();
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  async #moveHorizon(): Promise<void> {
    const now = { ...(await readOpenTransactions(this.#connection)), readAt: performance.now() };
    this.#candidate ??= now;
    if (this.#candidate.open.some((id) => now.open.includes(id))) return;
    this.#horizon = this.#candidate;
    this.#candidate = now;
  }

  #item(row: PolledRow): SourceItem {
    const { columns } = this.#polled;
    return {
      reference: row.id ?? `${columns.updatedAt} ${row.updatedAt}`,
      ...(row.isIncluded ? mapRow(this.#config.name, this.#table, row) : { input: null }),
      position: JSON.stringify(cursorOf(row)),
    };
  }
}

function cursorOf({ updatedAt, id }: PolledRow): Cursor {
  return { updatedAt, id };
}
