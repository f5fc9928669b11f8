// Lists the valid secrets of an endpoint, newest first, without their content.
import type { Uuid } from "../../../model.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

export interface SecretRow {
  readonly id: Uuid;
  readonly createdMs: number;
  /** Null: it does not expire. */
  readonly expiresMs: number | null;
  /** Null: every scheme without a secret of its own. */
  readonly scheme: string | null;
}

export async function listSecrets(db: Queryable, endpointId: Uuid): Promise<SecretRow[]> {
  return await db.query<SecretRow>(listStatement, [endpointId]);
}

const listStatement = statement(
  "list secrets",
  `
select s.id, posthorn.epoch_ms(s.created_at) as "createdMs", posthorn.epoch_ms(s.expires_at) as "expiresMs",
  s.used_for as scheme
from posthorn.endpoint_secrets s
where s.endpoint_id = $1::uuid
  and s.used_for is distinct from 'authorization'
  and (s.expires_at is null or s.expires_at > posthorn.now())
order by s.id desc
`,
);
