// Re-encrypts secrets of an old encryption key, in batches.
import type { Uuid } from "../../../model.ts";
import { byteaArray, uuidArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import type { NewSecret } from "./rotate.ts";

export interface SealedSecret {
  readonly id: Uuid;
  readonly endpointId: Uuid;
  readonly keyId: string;
  readonly ciphertextHex: string;
}

/**
 * Locks the next secrets that are not under `keyId`, including expired ones. Skips locked rows: a rotation holds the
 * endpoint and locks its secrets in any order, so waiting could deadlock.
 */
export async function lockOtherSecrets(
  tx: Queryable,
  keyId: string,
  afterId: Uuid,
  limit: number,
): Promise<SealedSecret[]> {
  return await tx.query<SealedSecret>(lockStatement, [keyId, afterId, limit]);
}

const lockStatement = statement(
  "lock secrets of other keys",
  `
select s.id, s.endpoint_id as "endpointId", s.key_id as "keyId", encode(s.ciphertext, 'hex') as "ciphertextHex"
from posthorn.endpoint_secrets s
where s.key_id <> $1::text
  and s.id > $2::uuid
order by s.id
limit $3::integer
for update skip locked
`,
);

/** Replaces the ciphertexts of locked secrets. */
export async function replaceCiphertexts(
  tx: Queryable,
  keyId: string,
  secrets: readonly Pick<NewSecret, "id" | "ciphertext">[],
): Promise<void> {
  const ids = uuidArray(secrets.map(({ id }) => id));
  const ciphertexts = byteaArray(secrets.map(({ ciphertext }) => ciphertext));
  await tx.query(replaceStatement, [keyId, ids, ciphertexts]);
}

const replaceStatement = statement(
  "replace ciphertexts",
  `
update posthorn.endpoint_secrets s
set key_id = $1::text,
  ciphertext = given.ciphertext
from unnest($2::uuid[], $3::bytea[]) as given (id, ciphertext)
where s.id = given.id
`,
);

export async function countSecretsPerKey(
  db: Queryable,
): Promise<{ readonly keyId: string; readonly count: number }[]> {
  return await db.query(countStatement);
}

const countStatement = statement(
  "count secrets per key",
  `
select s.key_id as "keyId", count(*)::integer as count
from posthorn.endpoint_secrets s
group by s.key_id
order by s.key_id
`,
);
