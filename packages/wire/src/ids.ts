// Ids are created where an event is recorded, so they must be unique, sort by time and be cheap.
import { HEX } from "./encoding.ts";

const KINDS = ["evt", "dlv", "ep", "rpl", "sec"] as const;
/** `evt` an event, `dlv` a delivery, `ep` an endpoint, `rpl` a replay, `sec` a secret of an endpoint. */
export type IdKind = (typeof KINDS)[number];

const CANONICAL = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const LAST_MS = 2 ** 48 - 1;

/**
 * A UUIDv7 (RFC 9562 §5.7), lower case. Ids of one process and one millisecond sort in the order of their creation: a 26-bit counter
 * (§6.2 method 1) starts at random below 2^25, so at least 33 million fit, followed by 48 random bits. The given time is used
 * even if the clock went back, because partitions depend on it.
 */
export function uuidv7(nowMs: number = Date.now()): string {
  if (nowMs === currentMs) counter = (counter + 1) & 0x3ffffff;
  else startMillisecond(nowMs);
  const at = takeRandom();
  return (
    timeText +
    DIGITS[counter >>> 22] +
    HEX[(counter >>> 14) & 0xff] +
    "-" +
    HEX[0x80 | ((counter >>> 8) & 0x3f)] +
    HEX[counter & 0xff] +
    "-" +
    HEX[block[at] as number] +
    HEX[block[at + 1] as number] +
    HEX[block[at + 2] as number] +
    HEX[block[at + 3] as number] +
    HEX[block[at + 4] as number] +
    HEX[block[at + 5] as number]
  );
}

/** When a UUIDv7 was created, in milliseconds since 1970. */
export function uuidTimeMs(uuid: string): number {
  return Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16);
}

/** The lowest UUIDv7 of that millisecond: the lower bound of a partition. */
export function lowestUuidAt(ms: number): string {
  return `${timePart(ms)}-0000-0000-000000000000`;
}

/** `evt_<uuid>`: the public form of an id. */
export function formatId(kind: IdKind, uuid: string): string {
  return `${kind}_${uuid}`;
}

/** The bare uuid, or null for another kind or any spelling that `formatId` would not have produced. */
export function parseId(kind: IdKind, text: string): string | null {
  if (!text.startsWith(`${kind}_`)) return null;
  const uuid = text.slice(kind.length + 1);
  return CANONICAL.test(uuid) ? uuid : null;
}

const DIGITS = "0123456789abcdef";

let currentMs = -1;
let timeText = "";
let counter = 0;

function startMillisecond(ms: number): void {
  timeText = `${timePart(ms)}-7`;
  currentMs = ms;
  const at = takeRandom();
  const [a = 0, b = 0, c = 0, d = 0] = block.subarray(at, at + 4);
  counter = ((a & 1) << 24) | (b << 16) | (c << 8) | d;
}

function timePart(ms: number): string {
  if (!Number.isInteger(ms) || ms < 0 || ms > LAST_MS) {
    throw new RangeError(`A UUIDv7 holds whole milliseconds from 0 to 2^48 - 1, not ${ms}.`);
  }
  const hex = ms.toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
}

// A call of the random source costs more than the rest of an id, so 512 ids share one.
const DRAW_BYTES = 6;
const block = new Uint8Array(DRAW_BYTES * 512);
let drawnBytes = block.length;

function takeRandom(): number {
  if (drawnBytes === block.length) {
    crypto.getRandomValues(block);
    drawnBytes = 0;
  }
  const at = drawnBytes;
  drawnBytes += DRAW_BYTES;
  return at;
}
