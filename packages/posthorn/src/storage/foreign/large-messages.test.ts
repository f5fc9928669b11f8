import { expect, test } from "vitest";
import { KEPT_BYTES, LargeMessages } from "./large-messages.ts";
import { decode } from "./pgoutput.ts";

const MAX_VALUE_BYTES = 262_144;
const MIB = 1_048_576;

const int16 = (value: number) => Buffer.from([value >> 8, value & 255]);
function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}
const framed = (type: string, content: Buffer) =>
  Buffer.concat([Buffer.from(type), int32(content.length + 4), content]);
const logHeader = Buffer.concat([Buffer.from("w"), Buffer.alloc(24)]);

function insert(...values: (string | null)[]): Buffer {
  const columns = values.map((value) =>
    value === null
      ? Buffer.from("n")
      : Buffer.concat([Buffer.from("t"), int32(Buffer.byteLength(value)), Buffer.from(value)]),
  );
  return Buffer.concat([
    logHeader,
    Buffer.from("I"),
    int32(7),
    Buffer.from("N"),
    int16(values.length),
    ...columns,
  ]);
}

function emitted(prefix: string, content: string): Buffer {
  const texts = [Buffer.from(`${prefix}\0`), int32(content.length), Buffer.from(content)];
  return Buffer.concat([logHeader, Buffer.from("M\u0001"), Buffer.alloc(8), ...texts]);
}

/** Returns what is passed on and what is shortened, in pieces of this size. */
function received(bytes: Buffer, pieceBytes: number) {
  const passed: Buffer[] = [];
  const shortened: Buffer[] = [];
  const messages = new LargeMessages({
    maxValueBytes: MAX_VALUE_BYTES,
    pass: (piece) => passed.push(Buffer.from(piece)),
    shortened: (content) => shortened.push(content),
  });
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    // the driver reuses its buffer
    const piece = Buffer.from(bytes.subarray(at, at + pieceBytes));
    messages.receive(piece);
    piece.fill(0);
  }
  return {
    passed: Buffer.concat(passed),
    changes: shortened.map((content) => decode(content.subarray(25))),
    shortened,
  };
}

const large = insert(
  "1",
  null,
  "x".repeat(3 * MIB),
  "acme",
  "y".repeat(MAX_VALUE_BYTES),
  "z".repeat(MAX_VALUE_BYTES + 1),
);
const small = framed("d", insert("2", "small"));

test.each([7, 65_536, 100_000_000])(
  "large rows are cut and all else is passed on, in pieces of %s bytes",
  (pieceBytes) => {
    const notice = framed("N", Buffer.alloc(10));
    const update = Buffer.concat([logHeader, Buffer.from("U"), Buffer.alloc(2 * MIB)]);
    const all = [
      small,
      framed("d", large),
      small,
      notice,
      framed("d", update),
      framed("c", Buffer.alloc(0)),
      small,
    ];
    const { passed, changes, shortened } = received(Buffer.concat(all), pieceBytes);
    expect(passed.equals(Buffer.concat([small, small, notice, framed("c", Buffer.alloc(0)), small]))).toBe(
      true,
    );
    const [row, ignored] = changes;
    const values = row?.kind === "insert" ? row.values : [];
    expect(values.map((value) => value && [value.bytes, String(value.text)])).toEqual([
      [1, "1"],
      null,
      [3 * MIB, "x".repeat(KEPT_BYTES)],
      [4, "acme"],
      [MAX_VALUE_BYTES, "y".repeat(MAX_VALUE_BYTES)],
      [MAX_VALUE_BYTES + 1, "z".repeat(KEPT_BYTES)],
    ]);
    expect(ignored).toBeNull();
    expect(shortened[0]?.length).toBeLessThan(MAX_VALUE_BYTES + 3 * KEPT_BYTES);
  },
);

test("a message of the log is large from one byte above 1 MiB, and only its size remains", () => {
  const rest = emitted("posthorn", "").length;
  const atLimit = framed("d", emitted("posthorn", "x".repeat(MIB - rest)));
  expect(received(atLimit, 65_536).passed.equals(atLimit)).toBe(true);
  const above = framed("d", emitted("posthorn", "x".repeat(MIB - rest + 1)));
  const { passed, changes } = received(above, 65_536);
  expect(passed.length).toBe(0);
  expect(changes).toEqual([
    {
      kind: "message",
      lsn: "0/0",
      prefix: "posthorn",
      isTransactional: true,
      content: null,
      bytes: MIB - rest + 1,
    },
  ]);
});
