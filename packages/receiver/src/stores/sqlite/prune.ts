// Deletes expired messages and subjects.
import type { Connection } from "./connection.ts";

/** Deletes up to `limit` messages and as many subjects. Returns the number of deleted rows. */
export function prune(connection: Connection, limit: number, until: number): number {
  const messages = connection.run(
    `delete from posthorn_receiver_messages
     where rowid in (
       select rowid
       from posthorn_receiver_messages
       where state in ('failed', 'done') and at <= ?
       order by at
       limit ?)`,
    until,
    limit,
  );
  const subjects = connection.run(
    `delete from posthorn_receiver_subjects
     where (source, subject) in (
       select source, subject
       from posthorn_receiver_subjects
       where last_seen_at <= ?
       order by last_seen_at
       limit ?)`,
    until,
    limit,
  );
  return messages + subjects;
}
