// What a source reads from the other database, whether by polling or by replication.
import type { PosthornError } from "../errors.ts";
import type { PublishInput } from "../event/validate.ts";

/** What a source reads at once, whatever rows and transactions it follows. */
export const BATCH = { items: 500, characters: 4 * 1024 * 1024 };
/** Longer texts than an event may have are cut to this, and so remain too long. */
export const MAX_TEXT_LENGTH = 1_000;

/** The mapped columns of a row as PostgreSQL's text; null for NULL. */
export interface Row {
  readonly id: string | null;
  readonly tenant?: string | null;
  readonly type?: string | null;
  readonly subject?: string | null;
  readonly apiVersion?: string | null;
  /** Null also if it is larger than an event may be. */
  readonly data: string | null;
  readonly dataBytes: number;
}

export interface SourceItem {
  /** Identifies the row or message for people. */
  readonly reference: string;
  /**
   * An error if it cannot be mapped. Null if it only moves the position: the filter excludes it, or it is the end of a
   * transaction.
   */
  readonly input: PublishInput | PosthornError | null;
  /** Set if the data was too large to be read: the event is stored as rejected, without its data. */
  readonly tooLarge?: PosthornError | undefined;
  /** The position after this item; null within a transaction, which is read again from its beginning. */
  readonly position: string | null;
}

export interface Batch {
  readonly items: readonly SourceItem[];
  /** Whether to read again without a pause. */
  readonly readAgain: boolean;
  /** Everything committed this long ago was read; null if that is unknown. */
  readonly behindMs: number | null;
  /** The other database waits for the position, because it shuts down. */
  readonly isUrgent: boolean;
}

export interface Reader {
  /** Returns what follows the last batch. It may wait up to a second for something. */
  read(): Promise<Batch>;
  /** Everything up to the position is committed in Posthorn's database. */
  confirm(position: string): void;
  /** Ends the wait of `read`, which may reject. `close` follows. */
  interrupt(): void;
  close(): Promise<void>;
}
