// The progress of each subject, for ordering.
import type { MessageKey } from "../../model.ts";
import type { Connection } from "./connection.ts";
import type { SubjectRecord } from "./decide-claim.ts";

/** A message that may have a sequence. */
export interface SubjectPosition extends MessageKey {
  readonly subject: string | null;
  readonly sequence: number | null;
}

export class Subjects {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  find({ source, subject }: SubjectPosition, now: number): SubjectRecord {
    const known = this.#connection.first<{ last_sequence: number }>(
      "select last_sequence from posthorn_receiver_subjects where source = ? and subject = ?",
      source,
      subject,
    );
    const busy = this.#connection.first<{ until: number | null }>(
      `select max(at) as until
       from posthorn_receiver_messages
       where state = 'running' and is_ordered = 1 and source = ? and subject = ? and at > ?`,
      source,
      subject,
      now,
    );
    const until = busy?.until ?? null;
    return {
      lastSequence: known === null ? null : Number(known.last_sequence),
      busyUntil: until === null ? null : Number(until),
    };
  }

  advance({ source, subject, sequence }: SubjectPosition, now: number): void {
    this.#connection.run(
      `insert into posthorn_receiver_subjects (source, subject, last_sequence, last_seen_at)
       values (?, ?, ?, ?)
       on conflict (source, subject) do update
       set last_sequence = max(last_sequence, excluded.last_sequence), last_seen_at = excluded.last_seen_at`,
      source,
      subject,
      sequence,
      now,
    );
  }
}
