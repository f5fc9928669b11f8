// Shortens large messages of a replication connection while they are received. PostgreSQL sends a row whole, up to 1 GB, and
// the driver would keep all of it in memory, several times.

/** Messages of this size are not shortened: most rows, and every row that can be an event and has no other large column. */
const MAX_MESSAGE_BYTES = 1024 * 1024;
/** What remains of a value that is cut. */
export const KEPT_BYTES = 4_000;

const EMPTY = Buffer.alloc(0);
const [COPY_DATA, INSERT, MESSAGE, TEXT] = [..."dIMt"].map((letter) => letter.charCodeAt(0));
/** Type and length of a protocol message. */
const HEADER_BYTES = 5;
/** `w`, start and end of the log, and the time. */
const LOG_HEADER_BYTES = 25;

export interface LargeMessagesOptions {
  /** Longer values are cut. */
  readonly maxValueBytes: number;
  /** Receives everything else unchanged, in any pieces. */
  readonly pass: (bytes: Buffer) => void;
  /** Receives the content of a large message, in which `decode` reads a cut value as such. */
  readonly shortened: (content: Buffer) => void;
}

/** Bytes that the reader of a large message wants next. */
interface Want {
  readonly bytes: number;
  readonly isKept: boolean;
}

type LargeMessage = Generator<Want, Buffer, Buffer>;

interface Reading {
  readonly reading: LargeMessage;
  readonly want: Want;
  /** Bytes received of those that are wanted. */
  got: number;
  readonly kept: Buffer[];
}

export class LargeMessages {
  readonly #options: LargeMessagesOptions;
  /** The beginning of a header. */
  #pending: Buffer = EMPTY;
  /** How much of a message that is passed on is still to come. */
  #left = 0;
  #large: Reading | undefined;

  constructor(options: LargeMessagesOptions) {
    this.#options = options;
  }

  receive(received: Buffer): void {
    const bytes = this.#pending.length === 0 ? received : Buffer.concat([this.#pending, received]);
    this.#pending = EMPTY;
    let passedTo = 0;
    let at = 0;
    while (at < bytes.length) {
      if (this.#large !== undefined) {
        at += this.#read(bytes.subarray(at));
        passedTo = at;
      } else if (this.#left > 0) {
        const count = Math.min(this.#left, bytes.length - at);
        this.#left -= count;
        at += count;
      } else if (bytes.length - at < HEADER_BYTES) {
        this.#pending = Buffer.from(bytes.subarray(at));
        break;
      } else {
        const length = bytes.readUInt32BE(at + 1) + 1 - HEADER_BYTES;
        const isLarge = bytes[at] === COPY_DATA && length > MAX_MESSAGE_BYTES;
        if (isLarge) {
          this.#pass(bytes.subarray(passedTo, at));
          this.#begin(length);
        } else this.#left = length;
        at += HEADER_BYTES;
        if (isLarge) passedTo = at;
      }
    }
    this.#pass(bytes.subarray(passedTo, at));
  }

  #pass(bytes: Buffer): void {
    if (bytes.length > 0) this.#options.pass(bytes);
  }

  #begin(length: number): void {
    const reading = shorten(length, this.#options.maxValueBytes);
    this.#large = { reading, want: reading.next().value as Want, got: 0, kept: [] };
  }

  /** Returns how many bytes were read. */
  #read(bytes: Buffer): number {
    const large = this.#large as Reading;
    const count = Math.min(large.want.bytes - large.got, bytes.length);
    // a copy: the driver reuses its buffer
    if (large.want.isKept) large.kept.push(Buffer.from(bytes.subarray(0, count)));
    large.got += count;
    if (large.got < large.want.bytes) return count;
    const { value, done } = large.reading.next(Buffer.concat(large.kept));
    if (done) {
      this.#large = undefined;
      this.#options.shortened(value);
    } else this.#large = { ...large, want: value, got: 0, kept: [] };
    return count;
  }
}

/** Reads a message of this length and returns what is needed of it. */
function* shorten(length: number, maxValueBytes: number): LargeMessage {
  const parts: Buffer[] = [];
  let left = length;
  function* keep(bytes: number): Generator<Want, Buffer, Buffer> {
    left -= bytes;
    const kept = bytes === 0 ? EMPTY : yield { bytes, isKept: true };
    parts.push(kept);
    return kept;
  }
  function* drop(bytes: number): Generator<Want, void, Buffer> {
    left -= bytes;
    if (bytes > 0) yield { bytes, isKept: false };
  }

  const kind = (yield* keep(LOG_HEADER_BYTES + 1))[LOG_HEADER_BYTES];
  if (kind === INSERT) {
    // relation, "N", and the number of columns
    const columns = (yield* keep(4 + 1 + 2)).readInt16BE(5);
    for (let column = 0; column < columns; column += 1) {
      const type = yield* keep(1);
      if (type[0] !== TEXT) continue;
      const bytes = (yield* keep(4)).readInt32BE();
      const isCut = bytes > maxValueBytes;
      if (isCut) type.write("T");
      const kept = isCut ? KEPT_BYTES : bytes;
      yield* keep(kept);
      yield* drop(bytes - kept);
    }
  } else if (kind === MESSAGE) {
    // flags and position
    yield* keep(1 + 8);
    while ((yield* keep(1))[0] !== 0);
    yield* keep(4);
    parts[0]?.write("L", LOG_HEADER_BYTES);
  }
  yield* drop(left);
  return Buffer.concat(parts);
}
