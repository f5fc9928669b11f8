// An endpoint's secrets: one that stays, and those that are on their way out. The caller holds the endpoint's row.
import type { Uuid } from "../../../model.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

export interface NewSecret {
  readonly id: Uuid;
  readonly keyId: string;
  readonly ciphertext: Buffer;
}

export async function insertSecret(tx: Queryable, endpointId: Uuid, secret: NewSecret): Promise<void> {
  await tx.query(insertStatement, [secret.id, endpointId, secret.keyId, secret.ciphertext]);
}

const insertStatement = statement(
  "insert secret",
  `
insert into posthorn.endpoint_secrets (id, endpoint_id, key_id, ciphertext)
values ($1::uuid, $2::uuid, $3::text, $4::bytea)
`,
);

export interface Retired {
  /** Still valid after this. */
  readonly count: number;
  /** When the last of them goes; null when none is left. */
  readonly lastExpiresMs: number | null;
}

/** Nobody's time is extended; what has no time left is removed. */
export async function retireSecrets(
  tx: Queryable,
  endpointId: Uuid,
  overlapSeconds: number,
): Promise<Retired> {
  await tx.query(retireStatement, [endpointId, overlapSeconds]);
  await tx.query(removeExpiredStatement, [endpointId]);
  const [row] = await tx.query<Retired>(remainingStatement, [endpointId]);
  return row as Retired;
}

const retireStatement = statement(
  "retire secrets",
  `
update posthorn.endpoint_secrets
set expires_at = least(expires_at, posthorn.now() + $2::double precision * interval '1 second')
where endpoint_id = $1::uuid
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

export async function deleteSecrets(tx: Queryable, endpointId: Uuid): Promise<void> {
  await tx.query(deleteStatement, [endpointId]);
}

const deleteStatement = statement(
  "delete secrets",
  "delete from posthorn.endpoint_secrets where endpoint_id = $1::uuid",
);
