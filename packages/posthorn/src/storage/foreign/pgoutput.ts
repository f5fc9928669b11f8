// Decodes the messages of the output plugin pgoutput, protocol version 1: PostgreSQL manual, "Logical Replication Message
// Formats". Only inserts and messages are of interest; updates, deletes, truncates, types and origins are ignored.
import { KEPT_BYTES } from "./large-messages.ts";

export type Change =
  | { readonly kind: "begin" }
  /** `end` is the position after the transaction. */
  | { readonly kind: "commit"; readonly end: string }
  | { readonly kind: "relation"; readonly relation: Relation }
  | { readonly kind: "insert"; readonly relationId: number; readonly values: readonly (Value | null)[] }
  | {
      readonly kind: "message";
      readonly lsn: string;
      readonly prefix: string;
      /** Null if the message is large. */
      readonly content: Buffer | null;
      readonly bytes: number;
      readonly isTransactional: boolean;
    };

export interface Value {
  /** Only the beginning if the value was cut. */
  readonly text: Buffer;
  /** The length of the whole value. */
  readonly bytes: number;
}

export interface Relation {
  readonly id: number;
  readonly schema: string;
  readonly name: string;
  readonly columns: readonly string[];
}

/** Returns null for a message that is ignored. */
export function decode(data: Buffer): Change | null {
  const fields = new Fields(data);
  switch (fields.character()) {
    case "B":
      return { kind: "begin" };
    case "C":
      fields.skip(1 + 8);
      return { kind: "commit", end: fields.lsn() };
    case "R":
      return { kind: "relation", relation: relation(fields) };
    case "I":
      return insert(fields);
    case "M":
      return message(fields, false);
    // as `LargeMessages` leaves it
    case "L":
      return message(fields, true);
    default:
      return null;
  }
}

function relation(fields: Fields): Relation {
  const id = fields.int32();
  const schema = fields.text();
  const name = fields.text();
  // replica identity
  fields.skip(1);
  const columns = Array.from({ length: fields.int16() }, () => {
    fields.skip(1);
    const column = fields.text();
    // type and type modifier
    fields.skip(8);
    return column;
  });
  // sent empty for pg_catalog
  return { id, schema: schema || "pg_catalog", name, columns };
}

function insert(fields: Fields): Change {
  const relationId = fields.int32();
  // "N": the new row follows
  fields.skip(1);
  const values = Array.from({ length: fields.int16() }, () => {
    const type = fields.character();
    if (type !== "t" && type !== "T") return null;
    const bytes = fields.int32();
    // "T": cut by `LargeMessages`
    return { bytes, text: fields.bytes(type === "t" ? bytes : KEPT_BYTES) };
  });
  return { kind: "insert", relationId, values };
}

function message(fields: Fields, isLarge: boolean): Change {
  const isTransactional = fields.character() === "\u0001";
  const lsn = fields.lsn();
  const prefix = fields.text();
  const bytes = fields.int32();
  const content = isLarge ? null : fields.bytes(bytes);
  return { kind: "message", lsn, prefix, isTransactional, content, bytes };
}

/** Reads the fields of a message one after the other. */
export class Fields {
  readonly #data: Buffer;
  #at = 0;

  constructor(data: Buffer) {
    this.#data = data;
  }

  skip(bytes: number): void {
    this.#at += bytes;
  }

  character(): string {
    return String.fromCharCode(this.bytes(1)[0] as number);
  }

  int16(): number {
    this.#at += 2;
    return this.#data.readInt16BE(this.#at - 2);
  }

  int32(): number {
    this.#at += 4;
    return this.#data.readInt32BE(this.#at - 4);
  }

  /** A position in the write-ahead log as PostgreSQL writes it: `16/B374D848`. */
  lsn(): string {
    const [high, low] = [this.int32() >>> 0, this.int32() >>> 0];
    return `${high.toString(16)}/${low.toString(16)}`.toUpperCase();
  }

  /** Text that ends with a zero byte. */
  text(): string {
    const end = this.#data.indexOf(0, this.#at);
    const text = this.#data.toString("utf8", this.#at, end);
    this.#at = end + 1;
    return text;
  }

  bytes(length: number): Buffer {
    this.#at += length;
    return this.#data.subarray(this.#at - length, this.#at);
  }

  rest(): Buffer {
    return this.#data.subarray(this.#at);
  }
}

export function lsnNumber(lsn: string): bigint {
  const [high, low] = lsn.split("/");
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}
