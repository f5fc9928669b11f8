// The store's tables, in numbered steps. It has its own version table, because `pragma user_version` belongs to the
// application that owns the database.
import { type Connection, sql } from "./connection.ts";

// `at`, depending on the state: the end of the lease, when it is due, or when it failed, died or was done. Type, headers
// and body are null if it is done, or if the next delivery brings them.
const steps = [
  `
  create table posthorn_receiver_messages (
    source text not null,
    id text not null,
    digest text not null,
    state text not null check (state in ('running', 'failed', 'waiting', 'dead', 'done')),
    at integer not null,
    first_seen_at integer not null,
    failures integer not null,
    error text not null,
    token text,
    is_ordered integer not null,
    subject text,
    sequence integer,
    type text,
    created_at integer,
    headers text,
    body blob,
    primary key (source, id)
  );
  create index posthorn_receiver_due on posthorn_receiver_messages (at) where state in ('running', 'waiting');
  create index posthorn_receiver_queue on posthorn_receiver_messages (source, subject, sequence)
    where state in ('running', 'waiting');
  create index posthorn_receiver_running on posthorn_receiver_messages (source, subject) where state = 'running';
  create index posthorn_receiver_dead on posthorn_receiver_messages (at, source, id) where state = 'dead';
  create index posthorn_receiver_past on posthorn_receiver_messages (at) where state in ('failed', 'done');
  create table posthorn_receiver_subjects (
    source text not null,
    subject text not null,
    last_sequence integer not null,
    last_seen_at integer not null,
    primary key (source, subject)
  ) without rowid;
  create index posthorn_receiver_last_seen on posthorn_receiver_subjects (last_seen_at);
  `,
];

/** Runs in a transaction that has the write lock, so that a second process finds the steps done. */
export function migrate(connection: Connection): void {
  connection.exec("create table if not exists posthorn_receiver_version (version integer not null)");
  const known = connection.first<{ version: number }>(sql`select version from posthorn_receiver_version`);
  const version = Number(known?.version ?? 0);
  if (version > steps.length) {
    throw new Error(
      `The receiver's tables have version ${version}, but this @posthorn/receiver supports ${steps.length}. Update the package.`,
    );
  }
  for (const step of steps.slice(version)) connection.exec(step);
  connection.exec("delete from posthorn_receiver_version");
  connection.run(sql`insert into posthorn_receiver_version (version) values (${steps.length})`);
}
