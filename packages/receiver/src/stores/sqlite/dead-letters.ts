// The dead letters in SQLite.
import type { DeadLetter, DeadLetterStore } from "../../store.ts";
import type { Connection } from "./connection.ts";
import { type ContentColumns, type Messages, toMessage } from "./messages.ts";
import type { TransactionQueue } from "./transaction-queue.ts";

interface DeadColumns extends ContentColumns {
  tries: number;
  error: string;
  at: number;
}

export function sqliteDeadLetters(
  connection: Connection,
  queue: TransactionQueue,
  messages: Messages,
  now: () => number,
): DeadLetterStore {
  return {
    list: ({ limit, after }) => queue.transaction(() => list(connection, limit, after)),

    count: () =>
      queue.transaction(() => {
        const sql = "select count(*) as count from posthorn_receiver_messages where state = 'dead'";
        return Number(connection.first<{ count: number }>(sql)?.count);
      }),

    requeue: (key) =>
      queue.transaction(() => {
        const isDead = messages.find(key)?.state === "dead";
        if (isDead) messages.change(key, { state: "waiting", at: now(), tries: 0 });
        return isDead;
      }),

    undoRequeue: (key) =>
      queue.transaction(() => {
        const found = messages.find(key);
        if (found?.state !== "waiting") return false;
        messages.change(key, { state: "dead", at: now(), tries: found.tries });
        return true;
      }),

    discard: (key) =>
      queue.transaction(() => {
        const isDead = messages.find(key)?.state === "dead";
        if (isDead) messages.finish(key, now());
        return isDead;
      }),
  };
}

function list(connection: Connection, limit: number, after: DeadLetter | undefined): DeadLetter[] {
  const { diedAt, message } = after ?? { diedAt: new Date(8.64e15), message: { source: "", id: "" } };
  const rows = connection.all<DeadColumns>(
    `select source, id, digest, type, subject, sequence, created_at, headers, body, tries, error, at
     from posthorn_receiver_messages
     where state = 'dead' and (at, source, id) < (?, ?, ?)
     order by at desc, source desc, id desc
     limit ?`,
    diedAt.getTime(),
    message.source,
    message.id,
    limit,
  );
  return rows.map((row) => ({
    message: toMessage(row),
    tries: Number(row.tries),
    error: row.error,
    diedAt: new Date(Number(row.at)),
  }));
}
