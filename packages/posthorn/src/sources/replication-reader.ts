// Reads a table, messages or both from a replication slot. The slot keeps what is not confirmed, and it is confirmed when
// it is committed in Posthorn's database.
import { PosthornError } from "../errors.ts";
import { maxPayloadBytes } from "../event/limits.ts";
import type { Logger } from "../observe/log.ts";
import { type Change, lsnNumber, type Relation, type Value } from "../storage/foreign/pgoutput.ts";
import { ReplicationStream, type StreamMessage } from "../storage/foreign/replication-stream.ts";
import { createSlot, dropSlot, readServer, type Server } from "../storage/foreign/slots.ts";
import { mapMessage } from "./map-message.ts";
import { columnsOf, mapRow } from "./map-row.ts";
import type { SourceConfig, SourceTable } from "./options.ts";
import { publicationProblem } from "./publication.ts";
import { BATCH, type Batch, MAX_TEXT_LENGTH, type Reader, type Row, type SourceItem } from "./reader.ts";

/** Rows may be missing, and only a person can decide what to do. */
export class SourceLostError extends Error {}

export interface ReplicationReaderOptions {
  readonly config: SourceConfig;
  readonly database: Parameters<typeof ReplicationStream.connect>[0];
  readonly logger: Logger;
  /** What is stored of the last time; null at the first start. */
  readonly position: string | null;
  readonly cluster: string | null;
  /** Returns the position that is stored now: another process may have moved it. */
  readonly readPosition: () => Promise<string | null>;
  /** Stores where a new source begins. */
  readonly begin: (position: string, cluster: string) => Promise<void>;
}

const WAIT_MS = 1_000;

export class ReplicationReader implements Reader {
  readonly #stream: ReplicationStream;
  readonly #config: SourceConfig;
  readonly #cluster: string;
  readonly #relations = new Map<number, Relation>();
  #isInTransaction = false;

  private constructor(stream: ReplicationStream, config: SourceConfig, cluster: string) {
    this.#stream = stream;
    this.#config = config;
    this.#cluster = cluster;
  }

  static async open(options: ReplicationReaderOptions): Promise<ReplicationReader> {
    const { config, database } = options;
    const stream = await ReplicationStream.connect(database);
    try {
      const problem = await publicationProblem(stream, config);
      const hasBegun = options.position !== null && config.table !== null;
      if (problem !== null) throw hasBegun ? missingRows(problem) : new Error(problem);
      const cluster = await stream.cluster();
      const from = await prepareSlot(stream, cluster, options);
      const { slot, publication } = config;
      await stream.start({ slot, publication, from, maxValueBytes: maxPayloadBytes });
      return new ReplicationReader(stream, config, cluster);
    } catch (error) {
      await stream.close();
      throw error;
    }
  }

  async read(): Promise<Batch> {
    await this.#stream.wait(WAIT_MS);
    const items: SourceItem[] = [];
    let isUrgent = false;
    let isEmpty = false;
    let size = 0;
    while (items.length < BATCH.items && size < BATCH.characters) {
      const message = this.#stream.next();
      isEmpty = message === undefined;
      if (isEmpty) break;
      if (!message) continue;
      const item = this.#item(message);
      if (item === null) continue;
      items.push(item.item);
      size += item.size;
      if (message.kind === "keepalive") isUrgent ||= message.replyRequested;
    }
    const behindMs = isEmpty && !this.#isInTransaction ? 0 : null;
    return { items, readAgain: true, behindMs, isUrgent };
  }

  confirm(position: string): void {
    this.#stream.confirm(position);
  }

  interrupt(): void {
    this.#stream.interrupt();
  }

  close(): Promise<void> {
    return this.#stream.close();
  }

  #item(message: StreamMessage): ReadItem | null {
    if (message.kind === "change") return this.#itemOf(message.change, message.lsn);
    // within a transaction, the position would be after a part of it
    return this.#isInTransaction ? null : positionItem(message.end);
  }

  #itemOf(change: Change, lsn: string): ReadItem | null {
    switch (change.kind) {
      case "begin":
        this.#isInTransaction = true;
        return null;
      case "commit":
        this.#isInTransaction = false;
        return positionItem(change.end);
      case "relation":
        this.#relations.set(change.relation.id, change.relation);
        return null;
      case "insert":
        return this.#insert(change.relationId, change.values, lsn);
      case "message": {
        if (change.prefix !== this.#config.messagePrefix) return null;
        const input = this.#mapMessage(change);
        return { item: { reference: change.lsn, input, position: null }, size: change.content?.length ?? 0 };
      }
    }
  }

  #insert(relationId: number, values: readonly (Value | null)[], lsn: string): ReadItem | null {
    const { table, name } = this.#config;
    const relation = this.#relations.get(relationId);
    if (table === null || relation === undefined || !isTable(relation, table)) return null;
    const valueIn = (column: string) => values[relation.columns.indexOf(column)] ?? null;
    const row = rowOf(table, valueIn);
    const missing = missingColumn(relation, table);
    if (missing === null && !includes(table.filter, valueIn)) return null;
    const mapped = missing === null ? mapRow(name, table, row) : { input: missing };
    return { item: { reference: row.id ?? lsn, ...mapped, position: null }, size: sizeOf(row) };
  }

  #mapMessage(message: Parameters<typeof mapMessage>[2]): SourceItem["input"] {
    try {
      return mapMessage(this.#config.name, this.#cluster, message);
    } catch (error) {
      if (error instanceof PosthornError) return error;
      throw error;
    }
  }
}

interface ReadItem {
  readonly item: SourceItem;
  /** What it keeps in memory, in characters. */
  readonly size: number;
}

function positionItem(position: string): ReadItem {
  return { item: { reference: position, input: null, position }, size: 0 };
}

/** Decodes the mapped columns, and of long values only what is needed to refuse them. */
function rowOf({ columns }: SourceTable, valueIn: (column: string) => Value | null): Row {
  const text = (column: string | undefined) =>
    // a character has at most 4 bytes
    column === undefined ? null : (valueIn(column)?.text.toString("utf8", 0, 4 * MAX_TEXT_LENGTH) ?? null);
  const data = valueIn(columns.data);
  const dataBytes = data?.bytes ?? 0;
  return {
    id: text(columns.id),
    tenant: text(columns.tenant),
    type: text(columns.type),
    subject: text(columns.subject),
    apiVersion: text(columns.apiVersion),
    data: data === null || dataBytes > maxPayloadBytes ? null : String(data.text),
    dataBytes,
  };
}

function includes(filter: SourceTable["filter"], valueIn: (column: string) => Value | null): boolean {
  return [...filter].every(([column, allowed]) => {
    const value = valueIn(column);
    if (value === null || value.bytes > value.text.length) return false;
    return allowed.some((text) => value.text.equals(Buffer.from(text)));
  });
}

function sizeOf(row: Row): number {
  return Object.values(row).reduce((sum, value) => sum + (typeof value === "string" ? value.length : 0), 0);
}

function isTable(relation: Relation, table: SourceTable): boolean {
  return relation.schema === table.schema && relation.name === table.name;
}

function missingColumn(relation: Relation, table: SourceTable): PosthornError | null {
  const missing = columnsOf(table).find((column) => !relation.columns.includes(column));
  if (missing === undefined) return null;
  return new PosthornError(
    "invalid_event",
    `The publication has no column "${missing}" of ${table.schema}.${table.name}; it has ${relation.columns.join(", ")}.`,
  );
}

/** Returns the position to start from. Throws if what follows the last stored position is gone. */
async function prepareSlot(
  stream: ReplicationStream,
  cluster: string,
  options: ReplicationReaderOptions,
): Promise<string> {
  const { config, logger, position, begin } = options;
  const server = await readServer(stream, config.slot);
  if (position !== null) {
    await refuseLost(server, cluster, options);
    return position;
  }
  if (server.walKeepSize === "-1") {
    logger.warn(
      "max_slot_wal_keep_size of the source's database is unlimited: while no Posthorn runs, its slot can fill the disk",
      { source: config.name },
    );
  }
  const from = await openSlot(stream, config.slot, server);
  await begin(from, cluster);
  return from;
}

async function refuseLost(
  { slot, end }: Server,
  cluster: string,
  { config, position, readPosition, ...stored }: ReplicationReaderOptions,
): Promise<void> {
  if (stored.cluster !== cluster) {
    throw new SourceLostError(
      `The database belongs to another cluster than the stored position ${position}, so rows may be missing.`,
    );
  }
  if (slot === null || slot.walStatus === "lost") {
    throw new SourceLostError(
      `The replication slot "${config.slot}" ${slot === null ? "does not exist" : "was invalidated by the server"}, so rows after ${position} may be missing.`,
    );
  }
  // read after the slot, which is confirmed after the position was stored
  const latest = await readPosition();
  if (latest !== null && lsnNumber(slot.confirmed) > lsnNumber(latest)) {
    throw new SourceLostError(
      `The replication slot "${config.slot}" continues at ${slot.confirmed}: it was created again, or another client has read it. Rows after ${latest} may be missing.`,
    );
  }
  // the server would pass over everything before the position
  if (end !== null && position !== null && lsnNumber(position) > lsnNumber(end)) {
    throw new SourceLostError(
      `The server's log ends at ${end}, before the stored position ${position}: it was restored, or another server has replaced it. Rows may be missing.`,
    );
  }
}

/** With a publication that lacks what the source follows, which has begun. */
export function missingRows(problem: string): SourceLostError {
  return new SourceLostError(`Rows may be missing, because ${problem}`);
}

async function openSlot(stream: ReplicationStream, name: string, { slot }: Server): Promise<string> {
  if (slot !== null && slot.walStatus !== "lost") {
    if (slot.plugin === "pgoutput") return slot.confirmed;
    throw new Error(
      `the replication slot "${name}" has the output plugin ${slot.plugin}; drop it, or name another`,
    );
  }
  await dropSlot(stream, name);
  return await createSlot(stream, name);
}
