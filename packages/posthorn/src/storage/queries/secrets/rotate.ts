// Adds and retires secrets of an endpoint. The caller holds the endpoint's row.
import type { Uuid } from "../../../model.ts";
import { textArray, uuidArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

export interface NewSecret {
  readonly id: Uuid;
  readonly keyId: string;
  readonly ciphertext: Buffer;
}

/** Scheme and expiry; null: every scheme without a secret of its own, and no expiry. */
export interface SecretTerms {
  readonly usedFor: string | null;
  readonly overlapSeconds: number | null;
}

export async function insertSecret(
  tx: Queryable,
  endpointId: Uuid,
  { id, keyId, ciphertext }: NewSecret,
  { usedFor, overlapSeconds }: SecretTerms,
): Promise<void> {
  await tx.query(insertStatement, [id, endpointId, keyId, ciphertext, usedFor, overlapSeconds]);
}

const insertStatement = statement(
  "insert secret",
  `
insert into posthorn.endpoint_secrets (id, endpoint_id, key_id, ciphertext, used_for, expires_at)
values (
  $1::uuid, $2::uuid, $3::text, $4::bytea, $5::text,
  posthorn.now() + $6::double precision * interval '1 second'
)
`,
);

export interface Retired {
  /** Number of secrets that are still valid. */
  readonly count: number;
  /** When the last of them expires; null if none is left. */
  readonly lastExpiresMs: number | null;
}

/** Retires the secrets of one scheme, or of none with null. Never extends an expiry; deletes those that are due. */
export async function retireSecrets(
  tx: Queryable,
  endpointId: Uuid,
  scheme: string | null,
  overlapSeconds: number,
): Promise<Retired> {
  await tx.query(retireStatement, [endpointId, overlapSeconds, scheme]);
  await tx.query(removeExpiredStatement, [endpointId]);
  const [row] = await tx.query<Retired>(remainingStatement, [endpointId, scheme]);
  return row as Retired;
}

const retireStatement = statement(
  "retire secrets",
  `
update posthorn.endpoint_secrets
set expires_at = least(expires_at, posthorn.now() + $2::double precision * interval '1 second')
where endpoint_id = $1::uuid
  and used_for is not distinct from $3::text
`,
);

const removeExpiredStatement = statement(
  "remove expired secrets",
  `
delete from posthorn.endpoint_secrets
where endpoint_id = $1::uuid
  and expires_at <= posthorn.now()
`,
);

const remainingStatement = statement(
  "remaining secrets",
  `
select count(*)::integer as count, posthorn.epoch_ms(max(s.expires_at)) as "lastExpiresMs"
from posthorn.endpoint_secrets s
where s.endpoint_id = $1::uuid
  and s.used_for is not distinct from $2::text
`,
);

export async function revokeSecret(tx: Queryable, endpointId: Uuid, id: Uuid): Promise<void> {
  await tx.query(revokeStatement, [endpointId, id]);
}

const revokeStatement = statement(
  "revoke secret",
  `
delete from posthorn.endpoint_secrets
where endpoint_id = $1::uuid
  and id = $2::uuid
`,
);

export async function deleteSecrets(tx: Queryable, endpointIds: readonly Uuid[]): Promise<void> {
  await tx.query(deleteStatement, [uuidArray(endpointIds)]);
}

const deleteStatement = statement(
  "delete secrets",
  "delete from posthorn.endpoint_secrets where endpoint_id = any ($1::uuid[])",
);

export async function deleteSecretsFor(
  tx: Queryable,
  endpointId: Uuid,
  uses: readonly string[],
): Promise<void> {
  await tx.query(deleteForStatement, [endpointId, textArray(uses)]);
}

const deleteForStatement = statement(
  "delete secrets for",
  "delete from posthorn.endpoint_secrets where endpoint_id = $1::uuid and used_for = any ($2::text[])",
);
