// Notifications between workers by LISTEN and NOTIFY. They save a poll interval and may be lost. Sent only from short
// transactions: NOTIFY takes a database-wide lock at commit.
import { hash } from "node:crypto";
import { textArray } from "../../binary-array.ts";
import type { DirectConnection } from "../../database.ts";
import { run } from "../../query.ts";
import { statement } from "../../sql.ts";

/** The payload that makes a worker reconcile its claims. */
export const LOST = "lost";

/** The channel of all workers: lanes are ready, or events wait in the outbox. */
export function commonChannel(schema: string): string {
  return `posthorn_${hash("sha1", schema, "hex").slice(0, 8)}_any`;
}

export function workerChannel(schema: string, workerId: number): string {
  return `posthorn_${hash("sha1", schema, "hex").slice(0, 8)}_${workerId}`;
}

export async function listen(connection: DirectConnection, channels: readonly string[]): Promise<void> {
  for (const channel of channels) await connection.query(statement("listen")`listen "${channel}"`);
}

// a lost notification is harmless, so the commit need not wait for the disk
export const notify = run<[hints: ReadonlyMap<string, string>]>("notify", (hints) => [
  textArray([...hints.keys()]),
  textArray([...hints.values()]),
])`
select set_config('synchronous_commit', 'off', true), pg_notify(h.channel, h.payload)::text
from unnest($1::text[], $2::text[]) as h (channel, payload)
`;
