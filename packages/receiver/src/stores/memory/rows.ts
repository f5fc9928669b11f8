// The rows of the memory store, and their order.
import type { Message, MessageKey } from "../../model.ts";
import type { DeadLetter } from "../../store.ts";

export interface Row {
  readonly message: Message;
  readonly firstSeenMs: number;
  state: "running" | "failed" | "waiting" | "dead";
  /** Depending on the state: the end of the lease, when it is due, or when it failed or died. */
  timeMs: number;
  token: string;
  isOrdered: boolean;
  tries: number;
  error: string;
}

export interface Subject {
  /** Null if none was applied yet. */
  lastSequence: number | null;
  lastSeenMs: number;
  /** The row that was claimed last. */
  holder: Row | null;
}

export function nameOf({ source, id }: MessageKey): string {
  return JSON.stringify([source, id]);
}

export function isRunning(row: Row, nowMs: number): boolean {
  return row.state === "running" && row.timeMs > nowMs;
}

export function isDue(row: Row, nowMs: number): boolean {
  return (row.state === "waiting" || row.state === "running") && row.timeMs <= nowMs;
}

export function byTime(a: Row, b: Row): number {
  return a.timeMs - b.timeMs;
}

/** Sorts each subject's rows among the positions they occupy; all other positions stay the same. */
export function lowestSequenceFirst(rows: readonly Row[]): Row[] {
  const bySubject = new Map<string, Row[]>();
  for (const row of rows) bySubject.set(subjectOf(row), [...(bySubject.get(subjectOf(row)) ?? []), row]);
  for (const group of bySubject.values()) {
    group.sort((a, b) => (a.message.sequence ?? 0) - (b.message.sequence ?? 0));
  }
  return rows.map((row) => bySubject.get(subjectOf(row))?.shift() as Row);
}

function subjectOf({ message: { source, subject, id } }: Row): string {
  return JSON.stringify(subject === null ? [source, null, id] : [source, subject]);
}

export function newestFirst(a: DeadLetter, b: DeadLetter): number {
  const byDeath = b.diedAt.getTime() - a.diedAt.getTime();
  return byDeath || (nameOf(b.message) < nameOf(a.message) ? -1 : 1);
}

/** The names of up to `limit` expired entries. */
export function oldest<Value>(
  entries: Map<string, Value>,
  limit: number,
  isOver: (value: Value) => boolean,
): string[] {
  const names: string[] = [];
  for (const [name, value] of entries) {
    if (names.length === limit) break;
    if (isOver(value)) names.push(name);
  }
  return names;
}
