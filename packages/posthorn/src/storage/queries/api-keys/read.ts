// Reads pages of API keys, and the keys of requests.
import { textArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import { type KeyRow, type KnownKey, keyColumns } from "./key-row.ts";

export interface KeyFilter {
  /** Null: all tenants. */
  readonly tenant: string | null;
  readonly after: string | null;
  readonly limit: number;
}

export async function listKeys(db: Queryable, { tenant, after, limit }: KeyFilter): Promise<KeyRow[]> {
  return await db.query<KeyRow>(listStatement, [tenant, after ?? "", limit]);
}

const listStatement = statement(
  "list keys",
  `
select ${keyColumns}
from posthorn.api_keys k
where k.id > $2::text
  and ($1::text is null or k.tenant = $1::text)
order by k.id
limit $3::integer
`,
);

/** Returns the keys that have not expired. */
export async function knownKeys(db: Queryable, ids: readonly string[]): Promise<KnownKey[]> {
  return await db.query<KnownKey>(knownStatement, [textArray(ids)]);
}

const knownStatement = statement(
  "known api keys",
  `
select ${keyColumns}, k.digest,
  posthorn.epoch_ms(k.expires_at) - posthorn.epoch_ms(posthorn.now()) as "endsInMs"
from posthorn.api_keys k
where k.id = any ($1::text[])
  and (k.expires_at is null or k.expires_at > posthorn.now())
`,
);
