// Reads the events of known idempotency keys.
import type { Uuid } from "../../../model.ts";
import { textArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import type { IdempotencyKey } from "./number.ts";

export interface KnownKey {
  readonly tenant: string;
  readonly key: string;
  readonly eventId: Uuid;
  /** The event's sequence in its subject. */
  readonly sequence: number | null;
  readonly digest: Buffer;
}

export async function knownKeys(db: Queryable, keys: readonly IdempotencyKey[]): Promise<KnownKey[]> {
  return await db.query<KnownKey>(knownKeysStatement, [
    textArray(keys.map((key) => key.tenant)),
    textArray(keys.map((key) => key.key)),
  ]);
}

const knownKeysStatement = statement(
  "known keys",
  `
select k.tenant, k.key, k.event_id as "eventId", k.digest,
  (select e.sequence from posthorn.events e where e.id = k.event_id) as sequence
from unnest($1::text[], $2::text[]) as asked (tenant, key)
join posthorn.idempotency_keys k on k.tenant = asked.tenant and k.key = asked.key
`,
);
