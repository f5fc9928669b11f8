// Follows a replication slot: PostgreSQL manual, "Streaming Replication Protocol". The driver has the connection and the
// copy mode; the messages inside are read here.
import { performance } from "node:perf_hooks";
import type { Duplex } from "node:stream";
import type pg from "pg";
import { escapeIdentifier, escapeLiteral, type ForeignConnection, foreignClient } from "./connection.ts";
import { LargeMessages } from "./large-messages.ts";
import { type Change, decode, Fields, lsnNumber } from "./pgoutput.ts";

export type StreamMessage =
  | { readonly kind: "change"; readonly lsn: string; readonly change: Change }
  /** Everything before `end` was sent. */
  | { readonly kind: "keepalive"; readonly end: string; readonly replyRequested: boolean };

export interface StreamOptions {
  readonly slot: string;
  readonly publication: string;
  readonly from: string;
  /** Longer values are cut, except in small rows. */
  readonly maxValueBytes: number;
}

/** The parts of the driver's connection that its types leave out. */
interface Wire {
  readonly stream: Duplex;
  on(event: "copyData", listener: (message: { chunk: Buffer }) => void): void;
  once(event: "replicationStart", listener: () => void): void;
  sendCopyFromChunk(chunk: Buffer): void;
}

/** The socket is not read while more is buffered: a transaction may be larger than the memory. */
const BUFFERED_BYTES = 8 * 1024 * 1024;
/** Well below `wal_sender_timeout`, 60 s. */
const STATUS_EVERY_MS = 10_000;

export class ReplicationStream implements Pick<ForeignConnection, "query"> {
  readonly #client: pg.Client;
  readonly #wire: Wire;
  readonly #buffer: Buffer[] = [];
  #bufferedBytes = 0;
  #isPaused = false;
  #failure: Error | undefined;
  #confirmed = "0/0";
  #statusTimer: NodeJS.Timeout | undefined;
  #wake: (() => void) | undefined;

  private constructor(client: pg.Client) {
    this.#client = client;
    this.#wire = (client as unknown as { connection: Wire }).connection;
    client.on("error", (error) => this.#fail(error));
    client.on("end", () => this.#fail(new Error("the replication connection ended")));
  }

  /** Connects for replication; `start` follows. Until then it also runs statements without parameters. */
  static async connect(database: string | pg.ClientConfig): Promise<ReplicationStream> {
    const client = foreignClient(database, { replication: "database" } as pg.ClientConfig);
    const stream = new ReplicationStream(client);
    await client.connect();
    return stream;
  }

  async query<Row>(text: string): Promise<Row[]> {
    return (await this.#client.query(text)).rows as Row[];
  }

  /** Returns the identifier of the cluster, which a standby shares with its primary. */
  async cluster(): Promise<string> {
    const [row] = await this.query<{ systemid: string }>("IDENTIFY_SYSTEM");
    return (row as { systemid: string }).systemid;
  }

  async start({ slot, publication, from, maxValueBytes }: StreamOptions): Promise<void> {
    this.#confirmed = from;
    const names = escapeLiteral(escapeIdentifier(publication));
    const command = `START_REPLICATION SLOT ${escapeIdentifier(slot)} LOGICAL ${from} (proto_version '1', publication_names ${names}, messages 'true')`;
    const started = new Promise<void>((resolve) => this.#wire.once("replicationStart", resolve));
    // a copy: the driver reuses its buffer
    this.#wire.on("copyData", ({ chunk }) => this.#receive(Buffer.from(chunk)));
    this.#shortenLargeMessages(maxValueBytes);
    // ends with the stream
    const ended = this.#client.query(command).then(() => {
      throw new Error("the server ended the replication");
    });
    ended.catch((error: Error) => this.#fail(error));
    await Promise.race([started, ended]);
    this.#statusTimer = setInterval(() => this.#sendStatus(), STATUS_EVERY_MS);
    this.#statusTimer.unref();
  }

  /** Resolves when there is a message, after `ms`, or on `interrupt`. Rejects if the connection is lost. */
  async wait(ms: number): Promise<void> {
    if (this.#buffer.length === 0 && this.#failure === undefined) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#wake = undefined;
    }
    if (this.#buffer.length === 0 && this.#failure !== undefined) throw this.#failure;
  }

  /** Ends a wait. */
  interrupt(): void {
    this.#wake?.();
  }

  /** Returns the next message, null for one that is ignored, or undefined if none is buffered. */
  next(): StreamMessage | null | undefined {
    const data = this.#buffer.shift();
    if (data === undefined) return undefined;
    this.#bufferedBytes -= data.length;
    if (this.#isPaused && this.#bufferedBytes < BUFFERED_BYTES / 2) {
      this.#isPaused = false;
      this.#wire.stream.resume();
    }
    return messageOf(data);
  }

  /** The server may remove what is before it. */
  confirm(lsn: string): void {
    if (lsnNumber(lsn) <= lsnNumber(this.#confirmed)) return;
    this.#confirmed = lsn;
    this.#sendStatus();
  }

  async close(): Promise<void> {
    clearInterval(this.#statusTimer);
    this.#fail(new Error("the replication was closed"));
    // the copy mode has no orderly end that is worth a wait; the slot is released at once
    this.#wire.stream.destroy();
    await this.#client.end().catch(() => {});
  }

  /** Reads the socket in place of the driver, which gets everything else. Nothing is under way when this is called. */
  #shortenLargeMessages(maxValueBytes: number): void {
    const { stream } = this.#wire;
    const [pass] = stream.listeners("data") as ((bytes: Buffer) => void)[];
    if (pass === undefined) throw new Error("the driver does not read the replication connection");
    const messages = new LargeMessages({ maxValueBytes, pass, shortened: (data) => this.#receive(data) });
    stream.removeAllListeners("data");
    stream.on("data", (bytes: Buffer) => messages.receive(bytes));
  }

  #receive(data: Buffer): void {
    const message = data[0] === KEEPALIVE ? messageOf(data) : null;
    if (message?.kind === "keepalive" && message.replyRequested) this.#sendStatus();
    this.#buffer.push(data);
    this.#bufferedBytes += data.length;
    if (this.#bufferedBytes > BUFFERED_BYTES && !this.#isPaused) {
      this.#isPaused = true;
      this.#wire.stream.pause();
    }
    this.#wake?.();
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    clearInterval(this.#statusTimer);
    this.#wake?.();
  }

  /** Reports the confirmed position as received, flushed and applied. */
  #sendStatus(): void {
    if (this.#failure !== undefined) return;
    const status = Buffer.alloc(34);
    status.write("r");
    for (const at of [1, 9, 17]) status.writeBigUInt64BE(lsnNumber(this.#confirmed), at);
    const sinceEpochMs = performance.timeOrigin + performance.now();
    status.writeBigInt64BE(BigInt(Math.round((sinceEpochMs - EPOCH_2000_MS) * 1_000)), 25);
    this.#wire.sendCopyFromChunk(status);
  }
}

const EPOCH_2000_MS = 946_684_800_000;
const KEEPALIVE = 0x6b;

/** Returns null for a message that is ignored. */
function messageOf(data: Buffer): StreamMessage | null {
  const fields = new Fields(data);
  const kind = fields.character();
  const lsn = fields.lsn();
  if (kind === "k") {
    fields.skip(8);
    return { kind: "keepalive", end: lsn, replyRequested: fields.bytes(1)[0] === 1 };
  }
  // the end of the log, and the time
  fields.skip(8 + 8);
  const change = decode(fields.rest());
  return change === null ? null : { kind: "change", lsn, change };
}
