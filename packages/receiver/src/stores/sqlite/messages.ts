// The statements on messages. Each runs in a transaction that has the write lock.
import type { Message, MessageKey } from "../../model.ts";
import type { Connection } from "./connection.ts";
import type { MessageRecord, State } from "./decide-claim.ts";

export interface MessageRow extends MessageRecord {
  readonly tries: number;
  readonly token: string | null;
  readonly windowMs: number;
  readonly isOrdered: boolean;
}

/** The columns of a message's row that change. */
export interface RowUpdate {
  readonly state: State;
  readonly at: number;
  readonly firstSeenAt: number;
  readonly windowMs: number;
  readonly tries: number;
  readonly error?: string;
  readonly token?: string;
  readonly isOrdered?: boolean;
}

export const MAX_ERROR_LENGTH = 1_000;

export class Messages {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  find({ source, id }: MessageKey): MessageRow | null {
    const found = this.#connection.first<Columns>(
      `select digest, state, at, first_seen_at, window_ms, tries, token, is_ordered
       from posthorn_receiver_messages
       where source = ? and id = ?`,
      source,
      id,
    );
    return found && toRow(found);
  }

  /** Stores the message with its content, so that it can be handled later. */
  keep(message: Message, update: RowUpdate): void {
    this.#write(message, update, true);
  }

  /** Stores the message without its content: it is done, or the next delivery brings it. */
  note(message: MessageKey & { readonly digest: string }, update: RowUpdate): void {
    this.#write(message, update, false);
  }

  /** Updates a stored message. */
  change({ source, id }: MessageKey, update: Omit<RowUpdate, "firstSeenAt" | "windowMs">): void {
    this.#connection.run(
      `update posthorn_receiver_messages
       set state = ?, at = ?, tries = ?, error = coalesce(?, error), token = ?, is_ordered = ?
       where source = ? and id = ?`,
      update.state,
      update.at,
      update.tries,
      update.error?.slice(0, MAX_ERROR_LENGTH) ?? null,
      update.token ?? null,
      Number(update.isOrdered ?? false),
      source,
      id,
    );
  }

  /** Deletes the content, which would be most of the file. */
  finish({ source, id }: MessageKey, now: number): void {
    this.#connection.run(
      `update posthorn_receiver_messages
       set state = 'done', at = ?, token = null, error = '', type = null, created_at = null, headers = null, body = null
       where source = ? and id = ?`,
      now,
      source,
      id,
    );
  }

  extend({ source, id }: MessageKey, until: number): void {
    this.#connection.run(
      "update posthorn_receiver_messages set at = ? where source = ? and id = ?",
      until,
      source,
      id,
    );
  }

  read({ source, id }: MessageKey): Message {
    const [row] = this.#connection.all<ContentColumns>(
      `select source, id, digest, type, subject, sequence, created_at, headers, body
       from posthorn_receiver_messages
       where source = ? and id = ?`,
      source,
      id,
    );
    return toMessage(row as ContentColumns);
  }

  #write(
    message: (MessageKey & { readonly digest: string }) | Message,
    update: RowUpdate,
    isKept: boolean,
  ): void {
    const content = isKept ? (message as Message) : null;
    this.#connection.run(
      `insert or replace into posthorn_receiver_messages
         (source, id, digest, state, at, first_seen_at, window_ms, tries, error, token, is_ordered,
          subject, sequence, type, created_at, headers, body)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      message.source,
      message.id,
      message.digest,
      update.state,
      update.at,
      update.firstSeenAt,
      update.windowMs,
      update.tries,
      update.error?.slice(0, MAX_ERROR_LENGTH) ?? "",
      update.token ?? null,
      Number(update.isOrdered ?? false),
      content?.subject ?? null,
      content?.sequence ?? null,
      content?.type ?? null,
      content?.createdAt?.getTime() ?? null,
      content && JSON.stringify(content.headers),
      content?.body ?? null,
    );
  }
}

interface Columns {
  digest: string;
  state: State;
  at: number;
  first_seen_at: number;
  window_ms: number;
  tries: number;
  token: string | null;
  is_ordered: number;
}

/** `Number`, because a connection may return 64-bit integers. */
function toRow(columns: Columns): MessageRow {
  return {
    digest: columns.digest,
    state: columns.state,
    at: Number(columns.at),
    firstSeenAt: Number(columns.first_seen_at),
    windowMs: Number(columns.window_ms),
    tries: Number(columns.tries),
    token: columns.token,
    isOrdered: Boolean(Number(columns.is_ordered)),
  };
}

export interface ContentColumns {
  source: string;
  id: string;
  digest: string;
  type: string;
  subject: string | null;
  sequence: number | null;
  created_at: number | null;
  headers: string;
  body: Uint8Array | ArrayBuffer;
}

export function toMessage(columns: ContentColumns): Message {
  const { sequence, created_at } = columns;
  return {
    source: columns.source,
    id: columns.id,
    digest: columns.digest,
    type: columns.type,
    subject: columns.subject,
    sequence: sequence === null ? null : Number(sequence),
    createdAt: created_at === null ? null : new Date(Number(created_at)),
    headers: JSON.parse(columns.headers),
    body: new Uint8Array(columns.body),
  };
}
