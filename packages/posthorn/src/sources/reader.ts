// What a source reads from the other database, whether by polling or by replication.
import type { PosthornError } from "../errors.ts";
import type { PublishInput } from "../event/validate.ts";

/** The columns of a row as PostgreSQL's text; null for NULL. */
export type Row = Readonly<Record<string, string | null>>;

export interface SourceItem {
  /** Identifies the row or message for people. */
  readonly reference: string;
  /**
   * An error if it cannot be mapped. Null if it only moves the position: the filter excludes it, or it is the end of a
   * transaction.
   */
  readonly input: PublishInput | PosthornError | null;
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
  /** Ends the wait of `read`. */
  interrupt(): void;
  close(): Promise<void>;
}
