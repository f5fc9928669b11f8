// Secrets of endpoints. Who adds or retires one holds the endpoint's row.
import type { Uuid } from "../../model.ts";
import { byteaArray, uuidArray } from "../binary-array.ts";
import type { Queryable } from "../database.ts";
import { arrays, fields, onlyRow, rows, run } from "../query.ts";
import type { SecretRow as StoredSecret } from "./endpoints/targets.ts";

export interface SecretRow {
  readonly id: Uuid;
  readonly createdMs: number;
  /** Null: it does not expire. */
  readonly expiresMs: number | null;
  /** Null: every scheme without its own secret. */
  readonly scheme: string | null;
}

/** Lists the valid secrets of an endpoint, newest first, without their content. */
export const listSecrets = rows<SecretRow, [endpointId: Uuid]>("list secrets")`
select s.id, posthorn.epoch_ms(s.created_at) as "createdMs", posthorn.epoch_ms(s.expires_at) as "expiresMs",
  s.used_for as scheme
from posthorn.endpoint_secrets s
where s.endpoint_id = $1::uuid
  and s.used_for is distinct from 'authorization'
  and (s.expires_at is null or s.expires_at > posthorn.now())
order by s.id desc
`;

export interface NewSecret {
  readonly id: Uuid;
  readonly keyId: string;
  readonly ciphertext: Buffer;
}

/** Scheme and expiry; null: every scheme without its own secret, and no expiry. */
export interface SecretTerms {
  readonly usedFor: string | null;
  readonly overlapSeconds: number | null;
}

export const insertSecret = run<[endpointId: Uuid, secret: NewSecret, terms: SecretTerms]>(
  "insert secret",
  (endpointId, secret, terms) => [
    endpointId,
    ...fields("id", "keyId", "ciphertext")(secret),
    ...fields("usedFor", "overlapSeconds")(terms),
  ],
)`
insert into posthorn.endpoint_secrets (id, endpoint_id, key_id, ciphertext, used_for, expires_at)
values (
  $2::uuid, $1::uuid, $3::text, $4::bytea, $5::text,
  posthorn.now() + $6::double precision * interval '1 second'
)
`;

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
  await retire(tx, endpointId, overlapSeconds, scheme);
  await removeExpired(tx, endpointId);
  return await remaining(tx, endpointId, scheme);
}

const retire = run<[endpointId: Uuid, overlapSeconds: number, scheme: string | null]>("retire secrets")`
update posthorn.endpoint_secrets
set expires_at = least(expires_at, posthorn.now() + $2::double precision * interval '1 second')
where endpoint_id = $1::uuid
  and used_for is not distinct from $3::text
`;

const removeExpired = run<[endpointId: Uuid]>("remove expired secrets")`
delete from posthorn.endpoint_secrets
where endpoint_id = $1::uuid
  and expires_at <= posthorn.now()
`;

const remaining = onlyRow<Retired, [endpointId: Uuid, scheme: string | null]>("remaining secrets")`
select count(*)::integer as count, posthorn.epoch_ms(max(s.expires_at)) as "lastExpiresMs"
from posthorn.endpoint_secrets s
where s.endpoint_id = $1::uuid
  and s.used_for is not distinct from $2::text
`;

export const revokeSecret = run<[endpointId: Uuid, id: Uuid]>("revoke secret")`
delete from posthorn.endpoint_secrets
where endpoint_id = $1::uuid
  and id = $2::uuid
`;

export const deleteSecrets = run<[endpointIds: readonly Uuid[]]>(
  "delete secrets",
)`delete from posthorn.endpoint_secrets where endpoint_id = any ($1::uuid[])`;

export const deleteSecretsFor = run<[endpointId: Uuid, uses: readonly string[]]>(
  "delete secrets for",
)`delete from posthorn.endpoint_secrets where endpoint_id = $1::uuid and used_for = any ($2::text[])`;

export interface SealedSecret extends Pick<StoredSecret, "id" | "keyId" | "ciphertextHex"> {
  readonly endpointId: Uuid;
}

/**
 * Locks the next secrets that are not under `keyId`, including expired ones. Skips locked rows: a rotation holds the
 * endpoint and locks its secrets in any order, so waiting could deadlock.
 */
export const lockOtherSecrets = rows<SealedSecret, [keyId: string, afterId: Uuid, limit: number]>(
  "lock secrets of other keys",
)`
select s.id, s.endpoint_id as "endpointId", s.key_id as "keyId", encode(s.ciphertext, 'hex') as "ciphertextHex"
from posthorn.endpoint_secrets s
where s.key_id <> $1::text
  and s.id > $2::uuid
order by s.id
limit $3::integer
for update skip locked
`;

/** Replaces the ciphertexts of locked secrets. */
export const replaceCiphertexts = run<
  [keyId: string, secrets: readonly Pick<NewSecret, "id" | "ciphertext">[]]
>("replace ciphertexts", (keyId, secrets) => [
  keyId,
  ...arrays(secrets, { id: uuidArray, ciphertext: byteaArray }),
])`
update posthorn.endpoint_secrets s
set key_id = $1::text,
  ciphertext = given.ciphertext
from unnest($2::uuid[], $3::bytea[]) as given (id, ciphertext)
where s.id = given.id
`;

export const countSecretsPerKey = rows<{ readonly keyId: string; readonly count: number }>(
  "count secrets per key",
)`
select s.key_id as "keyId", count(*)::integer as count
from posthorn.endpoint_secrets s
group by s.key_id
order by s.key_id
`;
