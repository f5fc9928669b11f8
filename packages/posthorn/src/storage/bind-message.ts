// Runs a prepared statement with binary parameters: Bind, Execute and Sync in one buffer. The driver copies each
// parameter into a buffer that it enlarges step by step, which costs 3 µs per row of a batch.
import type pg from "pg";

/** Execute the unnamed portal without a row limit, then Sync. */
const executeAndSync = Buffer.from([0x45, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0x53, 0, 0, 0, 4]);
const bindCode = 0x42;
const binaryFormat = 1;

/** Returns the columns of the only row as text. */
export function executePrepared(
  client: pg.Client,
  name: string,
  values: readonly Buffer[],
): Promise<readonly (string | null)[]> {
  return new Promise((resolve, reject) => {
    const message = bindMessage(name, values);
    client.query(
      new PreparedQuery(message, (error, row = []) =>
        error ? reject(error) : resolve(row),
      ) as pg.Submittable,
    );
  });
}

export function bindMessage(name: string, values: readonly Buffer[]): Buffer {
  // length, empty portal name, statement name, two counts of formats with one format, number of values
  let length = 4 + 1 + name.length + 1 + 2 + 2 + 2 + 2;
  for (const value of values) length += 4 + value.length;
  const message = Buffer.allocUnsafe(1 + length + executeAndSync.length);
  message[0] = bindCode;
  message.writeInt32BE(length, 1);
  message[5] = 0;
  let offset = 6 + message.write(name, 6, "latin1");
  message[offset] = 0;
  offset = message.writeInt16BE(1, offset + 1);
  offset = message.writeInt16BE(binaryFormat, offset);
  offset = message.writeInt16BE(values.length, offset);
  for (const value of values) {
    offset = message.writeInt32BE(value.length, offset);
    offset += value.copy(message, offset);
  }
  offset = message.writeInt16BE(0, offset);
  executeAndSync.copy(message, offset);
  return message;
}

type Row = readonly (string | null)[];

/** A query as the driver's client expects it. The client replaces `callback` to apply its timeout. */
class PreparedQuery {
  readonly #message: Buffer;
  callback: (error: Error | null, row?: Row) => void;
  #row: Row = [];

  constructor(message: Buffer, callback: (error: Error | null, row?: Row) => void) {
    this.#message = message;
    this.callback = callback;
  }

  submit(connection: { readonly stream: { write(message: Buffer): void } }): null {
    connection.stream.write(this.#message);
    return null;
  }

  handleDataRow({ fields }: { readonly fields: Row }): void {
    this.#row = fields;
  }

  handleError(error: Error): void {
    this.callback(error);
  }

  handleReadyForQuery(): void {
    this.callback(null, this.#row);
  }

  handleCommandComplete(): void {}
}
