// Notifications of workers by LISTEN and NOTIFY. They save a poll interval and may be lost. Workers send them from short
// transactions, because NOTIFY takes a lock of the whole server at commit; publishers by posthorn.wake_relay.
import { hash } from "node:crypto";
import { textArray } from "../../binary-array.ts";
import type { DirectConnection } from "../../database.ts";
import { run } from "../../query.ts";
import { statement } from "../../sql.ts";

/** The payload that makes a worker reconcile its claims. */
export const LOST = "lost";

/** The payload of a publisher: an event was committed in the outbox. */
export const OUTBOX = "outbox";

/** The channel of all workers: lanes are ready, or events wait in the outbox. `posthorn.wake_relay` computes the same name. */
export function commonChannel(schema: string): string {
  return `${channelsOf(schema)}_any`;
}

export function workerChannel(schema: string, workerId: number): string {
  return `${channelsOf(schema)}_${workerId}`;
}

function channelsOf(schema: string): string {
  return `posthorn_${hash("sha256", schema, "hex").slice(0, 8)}`;
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
