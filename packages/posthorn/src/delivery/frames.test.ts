import { uuidTimeMs, uuidv7 } from "@posthorn/wire";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Event } from "../model.ts";
import {
  encodeDeliveries,
  encodeEvents,
  encodeRefused,
  encodeStored,
  type Frame,
  FrameReader,
  type PassedDelivery,
} from "./frames.ts";

function eventWith(payload: Uint8Array, tenant: string): Event {
  const id = uuidv7();
  const createdAt = new Date(uuidTimeMs(id));
  const rest = { type: "order.paid", apiVersion: "1", subject: null, sequence: null };
  return { id, tenant, payload: Buffer.from(payload), createdAt, ...rest };
}

function passed(event: Event, targetVersion: number): PassedDelivery {
  const scheduleStartedMs = event.createdAt.getTime();
  const fresh = { attempts: 0, failures: 0, trigger: "event", isOrdered: false, claimBatch: null } as const;
  return {
    delivery: { id: uuidv7(), endpointId: uuidv7(), event, scheduleStartedMs, ...fresh },
    targetVersion,
  };
}

/** Reads the bytes in pieces of these sizes, in turn. */
function readInPieces(bytes: Buffer, sizes: readonly number[]): Frame[] {
  const reader = new FrameReader();
  const frames: Frame[] = [];
  for (let offset = 0, turn = 0; offset < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] as number;
    frames.push(...reader.read(bytes.subarray(offset, offset + size)));
    offset += size;
  }
  return frames;
}

test("frames arrive as they were sent, however the bytes are cut", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.uint8Array({ maxLength: 300 }), fc.string(), fc.nat(3)), { maxLength: 5 }),
      fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 5 }),
      (events, sizes) => {
        const deliveries = events.flatMap(([payload, tenant, endpoints]) => {
          const event = eventWith(payload, tenant);
          return Array.from({ length: endpoints }, (_, version) => passed(event, version));
        });
        const due = [uuidv7()];
        const stored = { deliveries: [1, null], refusedLanes: due, routingVersions: [["acme", 7]] } as const;
        const bytes = Buffer.concat([
          encodeDeliveries({ workerId: 7, deliveries, due }),
          encodeRefused(due),
          encodeEvents({ batch: 3, events: deliveries.map(({ delivery }) => delivery.event) }),
          encodeStored({ batch: 3, stored }),
          encodeDeliveries({ workerId: 8, deliveries: [], due: [] }),
        ]);
        expect(readInPieces(bytes, sizes)).toEqual([
          { kind: "deliveries", workerId: 7, deliveries, due },
          { kind: "refused", endpointIds: due },
          { kind: "events", batch: 3, events: deliveries.map(({ delivery }) => delivery.event) },
          { kind: "stored", batch: 3, stored },
          { kind: "deliveries", workerId: 8, deliveries: [], due: [] },
        ]);
      },
    ),
    { numRuns: 50 },
  );
});

test("a frame that claims to be larger than 64 MB is refused", () => {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32BE(64 * 1024 * 1024 + 1);
  expect(() => new FrameReader().read(bytes)).toThrow("too large");
  bytes.writeUInt32BE(64 * 1024 * 1024);
  expect(new FrameReader().read(bytes)).toEqual([]);
});
