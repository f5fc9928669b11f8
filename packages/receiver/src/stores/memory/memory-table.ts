// The rows of the memory store.
import { type Message, type MessageKey, messageName } from "../../model.ts";
import type { DeadLetter } from "../../store.ts";
import { isDue, isRunning, type MessageRow, type MessageTable, type SubjectState } from "../state-machine.ts";

interface Subject {
  /** Null if none was applied yet. */
  readonly lastSequence: number | null;
  readonly lastSeenAt: number;
  /** The name of the message that was claimed last. */
  readonly holder: string;
}

export class MemoryTable implements MessageTable {
  readonly #open = new Map<string, { readonly row: MessageRow; readonly content: Message | null }>();
  /** Messages that are done, oldest first. */
  readonly #done = new Map<string, MessageRow>();
  readonly #subjects = new Map<string, Subject>();

  get size(): number {
    return this.#open.size + this.#done.size + this.#subjects.size;
  }

  find(key: MessageKey): MessageRow | null {
    const name = messageName(key);
    return this.#open.get(name)?.row ?? this.#done.get(name) ?? null;
  }

  read(key: MessageKey): Message {
    return this.#open.get(messageName(key))?.content as Message;
  }

  put(row: MessageRow, content: Message | null): void {
    const name = messageName(row);
    this.#done.delete(name);
    if (row.state === "done") {
      this.#open.delete(name);
      this.#done.set(name, row);
      return;
    }
    this.#open.set(name, { row, content });
    if (row.state === "running" && row.isOrdered) {
      const { lastSequence = null } = this.#subjects.get(subjectOf(row)) ?? {};
      this.#subjects.set(subjectOf(row), { lastSequence, lastSeenAt: Date.now(), holder: name });
    }
  }

  update(row: MessageRow): void {
    this.put(row, this.read(row));
  }

  due(now: number, isOrdered: boolean): MessageRow[] {
    const due = [...this.#open.values()].map(({ row }) => row).filter((row) => isDue(row, now));
    due.sort((a, b) => a.at - b.at);
    return isOrdered ? lowestSequenceFirst(due) : due;
  }

  subject(message: MessageRow | Message, now: number): SubjectState {
    const { lastSequence = null, holder = "" } = this.#subjects.get(subjectOf(message)) ?? {};
    const held = this.#open.get(holder)?.row;
    return { lastSequence, busyUntil: held && isRunning(held, now) ? held.at : null };
  }

  advance(message: MessageRow | Message, now: number): void {
    const known = this.#subjects.get(subjectOf(message));
    const lastSequence = Math.max(known?.lastSequence ?? 0, message.sequence ?? 0);
    this.#subjects.set(subjectOf(message), { lastSequence, lastSeenAt: now, holder: messageName(message) });
  }

  deadLetters(limit: number, after: DeadLetter | undefined): DeadLetter[] {
    return [...this.#open.values()]
      .filter(({ row }) => row.state === "dead")
      .map(({ row: { failures, error, at }, content }) => ({
        message: content as Message,
        failures,
        error,
        diedAt: new Date(at),
      }))
      .sort(newestFirst)
      .filter((letter) => after === undefined || newestFirst(after, letter) < 0)
      .slice(0, limit);
  }

  countDead(): number {
    return [...this.#open.values()].filter(({ row }) => row.state === "dead").length;
  }

  prune(limit: number, until: number): number {
    const done = deleteOld(this.#done, limit, ({ at }) => at <= until);
    const failed = deleteOld(
      this.#open,
      limit - done,
      ({ row }) => row.state === "failed" && row.at <= until,
    );
    return done + failed + deleteOld(this.#subjects, limit, ({ lastSeenAt }) => lastSeenAt <= until);
  }

  /** Deletes two expired messages for each new one, so that memory stays bounded without a prune. */
  deleteOldest(until: number): void {
    let left = 2;
    for (const [name, { at }] of this.#done) {
      if (at > until || left === 0) return;
      this.#done.delete(name);
      left -= 1;
    }
  }
}

function subjectOf({ source, subject, id }: MessageRow | Message): string {
  return JSON.stringify(subject === null ? [source, null, id] : [source, subject]);
}

/** Sorts each subject's rows among the positions they occupy; all other positions stay the same. */
function lowestSequenceFirst(rows: readonly MessageRow[]): MessageRow[] {
  const bySubject = new Map<string, MessageRow[]>();
  for (const row of rows) bySubject.set(subjectOf(row), [...(bySubject.get(subjectOf(row)) ?? []), row]);
  for (const group of bySubject.values()) group.sort((a, b) => (a.sequence ?? 0) - (b.sequence ?? 0));
  return rows.map((row) => bySubject.get(subjectOf(row))?.shift() as MessageRow);
}

function newestFirst(a: DeadLetter, b: DeadLetter): number {
  const byDeath = b.diedAt.getTime() - a.diedAt.getTime();
  return byDeath || (messageName(b.message) < messageName(a.message) ? -1 : 1);
}

/** Deletes up to `limit` expired entries and returns their number. */
function deleteOld<Value>(
  entries: Map<string, Value>,
  limit: number,
  isOld: (value: Value) => boolean,
): number {
  let deleted = 0;
  for (const [name, value] of entries) {
    if (deleted === limit) break;
    if (!isOld(value)) continue;
    entries.delete(name);
    deleted += 1;
  }
  return deleted;
}
