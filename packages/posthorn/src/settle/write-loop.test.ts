import { uuidv7 } from "@posthorn/wire";
import { expect, test } from "vitest";
import { silentLogger } from "../observe/log.ts";
import type { Database } from "../storage/database.ts";
import { claim, type IngestBatch } from "../storage/queries/events/ingest.ts";
import { WriteLoop, type WriteLoopOptions } from "./write-loop.ts";

type Options = WriteLoopOptions<never>;

function batch(): IngestBatch {
  const event = {
    id: uuidv7(),
    tenant: "acme",
    type: "order.paid",
    apiVersion: "1",
    payload: Buffer.from("{}"),
  };
  const delivery = {
    id: uuidv7(),
    event,
    eventId: event.id,
    endpointId: uuidv7(),
    claim: claim.mine,
    claimBatch: null,
  };
  const others = { keys: [], outbox: [], collected: [], foreignLanes: [], peerLanes: new Map() };
  return {
    workerId: 1,
    delivers: true,
    routes: new Map([["acme", 1]]),
    events: [{ ...event, subject: null }],
    deliveries: [{ ...delivery, isOrdered: false }],
    ...others,
  } as unknown as IngestBatch;
}

test("queue rows are added after the statement in progress, although more events wait, and once for all callers", async () => {
  const log: string[] = [];
  const replies: (() => void)[] = [];
  const connection = {
    isDirect: true,
    lost: new Promise(() => {}),
    close: async () => {},
    execute: () => {
      log.push("events");
      return new Promise((resolve) => replies.push(() => resolve(["t", null])));
    },
  };
  const db = {
    connect: async () => connection,
    transaction: async () => void log.push("queue rows"),
  } as unknown as Database;
  const loop = new WriteLoop<never>({
    db,
    logger: silentLogger,
    observer: { metrics: { statementTook() {} } } as unknown as Options["observer"],
    reportsDead: false,
    onSettled: () => {},
    workerId: () => 1,
    nowMs: () => Date.now(),
  });
  await loop.start();
  const first = loop.ingest(batch());
  const second = loop.ingest(batch());
  const added = [loop.addQueueRows(), loop.addQueueRows()];
  replies.shift()?.();
  await Promise.all([first, ...added]);
  replies.shift()?.();
  await second;
  await loop.stop();
  expect(log).toEqual(["events", "queue rows", "events"]);
});
