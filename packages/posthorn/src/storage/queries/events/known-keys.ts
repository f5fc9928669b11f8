// Reads the events of known idempotency keys.
import type { Uuid } from "../../../model.ts";
import { textArray } from "../../binary-array.ts";
import { arrays, mapOf, rows } from "../../query.ts";
import type { IdempotencyKey } from "./number.ts";

export interface KnownKey {
  readonly tenant: string;
  readonly key: string;
  readonly eventId: Uuid;
  /** The event's sequence in its subject. */
  readonly sequence: number | null;
  readonly digest: Buffer;
}

export const knownKeys = rows<KnownKey, [keys: readonly IdempotencyKey[]]>("known keys", (keys) =>
  arrays(keys, { tenant: textArray, key: textArray }),
)`
select k.tenant, k.key, k.event_id as "eventId", k.digest,
  (select e.sequence from posthorn.events e where e.id = k.event_id) as sequence
from unnest($1::text[], $2::text[]) as asked (tenant, key)
join posthorn.idempotency_keys k on k.tenant = asked.tenant and k.key = asked.key
`;

/** Returns which events are committed, and their sequences, after a reply was lost. */
export const existingEvents = mapOf<Uuid, number | null, [ids: readonly Uuid[]]>("existing events")`
select e.id, e.sequence
from posthorn.events e
where e.id = any ($1::uuid[])
`;
