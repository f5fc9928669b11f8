// Measures the write-ahead log that a slot retains, and drops the slot before it fills the other database's disk. That
// works while a process runs; max_slot_wal_keep_size of that server also works while none does. It also checks the
// publication, because the server omits rows that are not published without an error.
import { performance } from "node:perf_hooks";
import { connectForeign, type ForeignConnection } from "../storage/foreign/connection.ts";
import { lsnNumber } from "../storage/foreign/pgoutput.ts";
import { dropSlot, readServer, type Slot } from "../storage/foreign/slots.ts";
import type { SourceConfig } from "./options.ts";
import { publicationProblem } from "./publication.ts";

/** How often the slot is measured. */
const CHECK_MS = 2_500;
/** How long a slot beyond its limit may make no progress. */
export const STALLED_MS = 10_000;
/** Beyond this multiple of the limit, progress does not help. */
const FACTOR = 2;

export class SlotGuard {
  readonly #config: SourceConfig;
  readonly #database: Parameters<typeof connectForeign>[0];
  #connection: ForeignConnection | undefined;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #last: Measured | undefined;

  constructor(config: SourceConfig, database: Parameters<typeof connectForeign>[0]) {
    this.#config = config;
    this.#database = database;
  }

  /** Returns null if there is no slot, or it was measured a moment ago. `problem` is that of the publication. */
  async measure(): Promise<{
    readonly lagBytes: number;
    readonly mustDrop: boolean;
    readonly problem: string | null;
  } | null> {
    const now = performance.now();
    if (now - this.#checkedAt < CHECK_MS) return null;
    this.#connection ??= await connectForeign(this.#database);
    const { slot } = await readServer(this.#connection, this.#config.slot);
    this.#checkedAt = now;
    const { maxLagBytes } = this.#config;
    const last = slot && { slot, progressAt: progressAt(slot, this.#last, { maxLagBytes, now }) };
    this.#last = last ?? undefined;
    if (last === null) return null;
    // messages are sent whatever the publication has
    const problem =
      this.#config.table === null ? null : await publicationProblem(this.#connection, this.#config);
    const { lagBytes } = last.slot;
    return { lagBytes, problem, mustDrop: isBeyond(lagBytes, maxLagBytes, now - last.progressAt) };
  }

  /** Fails while the slot is in use. */
  async drop(): Promise<void> {
    // the next attempt measures first
    this.#checkedAt = Number.NEGATIVE_INFINITY;
    if (this.#connection !== undefined) await dropSlot(this.#connection, this.#config.slot);
  }

  async close(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    await connection?.close();
  }
}

export function isBeyond(lagBytes: number, maxLagBytes: number, stalledMs: number): boolean {
  return lagBytes > FACTOR * maxLagBytes || (lagBytes > maxLagBytes && stalledMs >= STALLED_MS);
}

interface Measured {
  readonly slot: Pick<Slot, "lagBytes" | "confirmed">;
  readonly progressAt: number;
}

/** An idle slot confirms nothing, so a slot within its limit counts as one that makes progress. */
export function progressAt(
  slot: Measured["slot"],
  last: Measured | undefined,
  { maxLagBytes, now }: { readonly maxLagBytes: number; readonly now: number },
): number {
  const hasProgress =
    last === undefined ||
    slot.lagBytes <= maxLagBytes ||
    slot.lagBytes < last.slot.lagBytes ||
    lsnNumber(slot.confirmed) > lsnNumber(last.slot.confirmed);
  return hasProgress ? now : last.progressAt;
}
