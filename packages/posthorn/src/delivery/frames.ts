// Frames between processes of one machine: a length, the length of the head, the head as JSON, and payloads as they are.
import { uuidTimeMs } from "@posthorn/wire";
import type { StoredEvents } from "../fan-out/fan-out.ts";
import type { ClaimedDelivery, Event, Uuid } from "../model.ts";

/** New deliveries in lanes of the receiver. */
export interface DeliveriesFrame {
  readonly kind: "deliveries";
  /** The worker that owns the lanes. */
  readonly workerId: number;
  /** Claimed by that worker. */
  readonly deliveries: readonly PassedDelivery[];
  /** Endpoints with deliveries that nobody has claimed. */
  readonly due: readonly Uuid[];
}

export interface PassedDelivery {
  readonly delivery: ClaimedDelivery;
  /** Version of the endpoint's settings that the sender knows. */
  readonly targetVersion: number;
}

/** Lanes that accept no deliveries now. */
export interface RefusedFrame {
  readonly kind: "refused";
  readonly endpointIds: readonly Uuid[];
}

/** New events for the receiver to store. They have no subject, trace or attributes. */
export interface EventsFrame {
  readonly kind: "events";
  /** Repeated in the reply. */
  readonly batch: number;
  readonly events: readonly Event[];
}

/** The reply to an `EventsFrame`. */
export interface StoredFrame {
  readonly kind: "stored";
  readonly batch: number;
  readonly stored: StoredEvents;
}

export type Frame = DeliveriesFrame | RefusedFrame | EventsFrame | StoredFrame;

type EventHead = [id: Uuid, tenant: string, type: string, apiVersion: string, bytes: number];
type DeliveryHead = [id: Uuid, endpointId: Uuid, event: number, targetVersion: number];
type Head =
  | {
      readonly to: number;
      readonly events: readonly EventHead[];
      readonly deliveries: readonly DeliveryHead[];
      readonly due: readonly Uuid[];
    }
  | { readonly refused: readonly Uuid[] }
  | { readonly batch: number; readonly events: readonly EventHead[] }
  | { readonly batch: number; readonly stored: StoredEvents };

const lengthBytes = 4;
const maxFrameBytes = 64 * 1024 * 1024;

/** The events have no subject, trace or attributes. */
export function encodeDeliveries({
  workerId,
  deliveries: passed,
  due,
}: Omit<DeliveriesFrame, "kind">): Buffer {
  const events: EventHead[] = [];
  const payloads: Uint8Array[] = [];
  const indexes = new Map<Uuid, number>();
  const deliveries = passed.map(({ delivery: { id, endpointId, event }, targetVersion }): DeliveryHead => {
    let index = indexes.get(event.id);
    if (index === undefined) {
      index = events.length;
      indexes.set(event.id, index);
      events.push(eventHead(event));
      payloads.push(event.payload);
    }
    return [id, endpointId, index, targetVersion];
  });
  return encode({ to: workerId, events, deliveries, due }, payloads);
}

export function encodeRefused(endpointIds: readonly Uuid[]): Buffer {
  return encode({ refused: endpointIds }, []);
}

export function encodeEvents({ batch, events }: Omit<EventsFrame, "kind">): Buffer {
  const payloads = events.map(({ payload }) => payload);
  return encode({ batch, events: events.map(eventHead) }, payloads);
}

export function encodeStored({ batch, stored }: Omit<StoredFrame, "kind">): Buffer {
  return encode({ batch, stored }, []);
}

function eventHead({ id, tenant, type, apiVersion, payload }: Event): EventHead {
  return [id, tenant, type, apiVersion, payload.byteLength];
}

function encode(head: Head, payloads: readonly Uint8Array[]): Buffer {
  const json = Buffer.from(JSON.stringify(head));
  let length = lengthBytes + json.length;
  for (const payload of payloads) length += payload.byteLength;
  const frame = Buffer.allocUnsafe(lengthBytes + length);
  frame.writeUInt32BE(length, 0);
  frame.writeUInt32BE(json.length, lengthBytes);
  let offset = 2 * lengthBytes + json.copy(frame, 2 * lengthBytes);
  for (const payload of payloads) {
    frame.set(payload, offset);
    offset += payload.byteLength;
  }
  return frame;
}

/** Collects bytes and returns the frames that are complete. */
export class FrameReader {
  #chunks: Buffer[] = [];
  #bytes = 0;

  read(chunk: Buffer): Frame[] {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    const frames: Frame[] = [];
    for (let length = this.#nextLength(); length !== null; length = this.#nextLength()) {
      const all = this.#joined();
      frames.push(decode(all.subarray(lengthBytes, lengthBytes + length)));
      this.#chunks = [all.subarray(lengthBytes + length)];
      this.#bytes -= lengthBytes + length;
    }
    return frames;
  }

  #nextLength(): number | null {
    if (this.#bytes < lengthBytes) return null;
    if ((this.#chunks[0] as Buffer).length < lengthBytes) this.#joined();
    const length = (this.#chunks[0] as Buffer).readUInt32BE(0);
    if (length > maxFrameBytes) throw new Error(`a frame of ${length} bytes is too large`);
    return this.#bytes < lengthBytes + length ? null : length;
  }

  #joined(): Buffer {
    if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks)];
    return this.#chunks[0] as Buffer;
  }
}

function decode(frame: Buffer): Frame {
  const headEnd = lengthBytes + frame.readUInt32BE(0);
  const head = JSON.parse(frame.toString("utf8", lengthBytes, headEnd)) as Head;
  if ("refused" in head) return { kind: "refused", endpointIds: head.refused };
  if ("stored" in head) return { kind: "stored", ...head };
  const events = decodeEvents(head.events, frame.subarray(headEnd));
  if ("batch" in head) return { kind: "events", batch: head.batch, events };
  const deliveries = head.deliveries.map(([id, endpointId, index, targetVersion]): PassedDelivery => {
    const event = events[index] as Event;
    const scheduleStartedMs = event.createdAt.getTime();
    const fresh = { attempts: 0, failures: 0, trigger: "event", isOrdered: false, claimBatch: null } as const;
    return { delivery: { id, event, endpointId, scheduleStartedMs, ...fresh }, targetVersion };
  });
  return { kind: "deliveries", workerId: head.to, deliveries, due: head.due };
}

function decodeEvents(heads: readonly EventHead[], payloads: Buffer): Event[] {
  let offset = 0;
  return heads.map(([id, tenant, type, apiVersion, bytes]): Event => {
    // a copy, so that one slow delivery does not keep the whole frame in memory
    const payload = Buffer.from(payloads.subarray(offset, offset + bytes));
    offset += bytes;
    const createdAt = new Date(uuidTimeMs(id));
    return { id, tenant, type, apiVersion, subject: null, sequence: null, payload, createdAt };
  });
}
