// The counts that the recorder keeps in memory and writes, without a database.
import { expect, onTestFinished, test } from "vitest";
import type { Settlement } from "../model.ts";
import { silentLogger } from "../observe/log.ts";
import type { Queryable } from "../storage/database.ts";
import { INSTALLATION } from "../storage/queries/activity.ts";
import { ActivityRecorder, type ActivityRecorderOptions } from "./activity-recorder.ts";

const endpointOf = (n: number): string => `0190f1a2-0000-7000-8000-${String(n).padStart(12, "0")}`;

function settled(endpoint: number, decision: Settlement["decision"] = { kind: "delivered" }): Settlement {
  return {
    delivery: { endpointId: endpointOf(endpoint) },
    outcome: { durationMs: 3 },
    decision,
  } as unknown as Settlement;
}

interface Row {
  readonly width: number;
  readonly atMs: number;
  readonly endpoint: string;
  readonly success: number;
}

/** A started recorder, the rows of each of its writes, its clock, and whether its database is away. */
async function startRecorder(ms = 0, limits: ActivityRecorderOptions["limits"] = {}) {
  const writes: Row[][] = [];
  const state = { ms, isAway: false };
  const db: Queryable = {
    query: async (_statement, values) => {
      if (state.isAway) throw new Error("away");
      writes.push(rowsIn(values as Buffer[]));
      return [];
    },
  };
  const recorder = new ActivityRecorder({ db, logger: silentLogger, nowMs: () => state.ms, limits });
  await recorder.start();
  onTestFinished(() => recorder.stop());
  return { recorder, writes, state };
}

/** As PostgreSQL reads the binary arrays: 20 bytes of header, then a length before each item. */
function rowsIn([widths, times, ids, successes]: readonly Buffer[]): Row[] {
  const items = (buffer: Buffer, size: number) =>
    Array.from({ length: (buffer.length - 20) / (size + 4) }, (_, n) =>
      buffer.subarray(20 + n * (size + 4) + 4, 20 + (n + 1) * (size + 4)),
    );
  const [ats, uuids, wells] = [
    items(times as Buffer, 8),
    items(ids as Buffer, 16),
    items(successes as Buffer, 4),
  ];
  return items(widths as Buffer, 4).map((width, n) => ({
    width: width.readInt32BE(),
    atMs: ats[n]?.readDoubleBE() as number,
    endpoint: withDashes(uuids[n]?.toString("hex") ?? ""),
    success: wells[n]?.readInt32BE() as number,
  }));
}

function withDashes(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

test("attempts of one period become one row per endpoint and one for the installation, in a fixed order", async () => {
  const { recorder, writes } = await startRecorder(600_000);
  for (const endpoint of [2, 1, 2]) recorder.note(settled(endpoint));
  recorder.note(settled(1, { kind: "retry", delayMs: 1, isFailure: false }));
  await recorder.runNow();
  const all = [
    { width: 60, atMs: 600_000, endpoint: INSTALLATION, success: 3 },
    { width: 300, atMs: 600_000, endpoint: INSTALLATION, success: 3 },
    { width: 300, atMs: 600_000, endpoint: endpointOf(1), success: 1 },
    { width: 300, atMs: 600_000, endpoint: endpointOf(2), success: 2 },
  ];
  expect(writes).toEqual([all]);
  await recorder.runNow();
  expect(writes).toEqual([all]);
});

test("attempts on both sides of a five-minute boundary are written to both periods", async () => {
  const { recorder, writes, state } = await startRecorder(599_999);
  recorder.note(settled(1));
  state.ms = 600_000;
  recorder.note(settled(1));
  await recorder.runNow();
  expect(writes.flat().map(({ width, atMs, success }) => [width, atMs, success])).toEqual([
    [60, 540_000, 1],
    [60, 600_000, 1],
    [300, 300_000, 1],
    [300, 300_000, 1],
    [300, 600_000, 1],
    [300, 600_000, 1],
  ]);
});

test("a write is limited to its maximum of rows, oldest first, and the next one has the rest", async () => {
  const { recorder, writes } = await startRecorder(0, { rowsAtOnce: 2 });
  for (const endpoint of [5, 4, 3]) recorder.note(settled(endpoint));
  await recorder.runNow();
  await recorder.runNow();
  const endpoints = writes.map((rows) => rows.map((row) => row.endpoint).filter((id) => id !== INSTALLATION));
  expect(endpoints).toEqual([[endpointOf(4), endpointOf(5)], [endpointOf(3)]]);
});

test("a database outage loses no counts, and memory stays within the limit", async () => {
  const { recorder, writes, state } = await startRecorder(0, { tallies: 3 });
  state.isAway = true;
  recorder.note(settled(1));
  await recorder.runNow();
  for (let endpoint = 1; endpoint < 50; endpoint += 1) recorder.note(settled(endpoint));
  state.isAway = false;
  await recorder.runNow();
  expect(writes.flat().filter(({ width }) => width === 300)).toMatchObject([
    { endpoint: INSTALLATION, success: 50 },
    { endpoint: endpointOf(1), success: 2 },
    { endpoint: endpointOf(2), success: 1 },
  ]);
});

test("stopping writes the remaining counts", async () => {
  const { recorder, writes } = await startRecorder();
  await recorder.runNow();
  recorder.note(settled(1));
  await recorder.stop();
  expect(writes).toHaveLength(1);
});
