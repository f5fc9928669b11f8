// Who scheduled a replay: a key, token or portal link, or a member. If they may no longer act when it should start, it is
// cancelled.
import type { Queryable } from "../../database.ts";
import { firstRow, hasRow, run } from "../../query.ts";
import type { CancelReason } from "./replays.ts";

export interface Requester {
  /** Id of a key, token or portal link. */
  readonly credentialId: string | null;
  readonly tenant: string | null;
  readonly userId: string | null;
}

/**
 * Returns until when the requester may act, null without an end, or undefined if they may no longer. They cannot be removed
 * until the transaction ends.
 */
export async function lockRequester(tx: Queryable, requester: Requester): Promise<number | null | undefined> {
  const { credentialId, tenant, userId } = requester;
  if (userId !== null && !(await lockMember(tx, tenant, userId))) return undefined;
  if (credentialId === null) return null;
  const key = await lockKey(tx, credentialId);
  // tokens and sessions end soon; the member, or the tenant of a portal link, remains
  if (key !== null) return userId === null ? key.expiresMs : null;
  return (await lockSession(tx, credentialId)) ? null : undefined;
}

const lockMember = hasRow<[tenant: string | null, userId: string]>("lock requesting member")`
select m.user_id
from posthorn.members m
where m.tenant = $1::text
  and m.user_id = $2::text
for key share
`;

const lockKey = firstRow<{ readonly expiresMs: number | null }, [id: string]>("lock requesting key")`
select posthorn.epoch_ms(k.expires_at) as "expiresMs"
from posthorn.api_keys k
where k.id = $1::text
for key share
`;

const lockSession = hasRow<[id: string]>("lock requesting session")`
select s.id
from posthorn.sessions s
where s.id = $1::text
for key share
`;

/** Cancels what a revoked key, token or portal link, or a removed member, has scheduled, and records it in the audit log. */
export const cancelScheduledBy = run<[requester: Requester, reason: CancelReason]>(
  "cancel replays scheduled by",
  ({ credentialId, tenant, userId }, reason) => [credentialId, tenant, userId, reason],
)`
with cancelled as (
  update posthorn.replays r
  set state = 'cancelled',
    cancel_reason = $4::text,
    ended_at = posthorn.now()
  where r.state = 'scheduled'
    and (r.credential_id = $1::text or (r.tenant = $2::text and r.user_id = $3::text))
  returning r.id, r.tenant
)
insert into posthorn.audit_log (actor_kind, tenant, action, target, changes, status)
select 'system', c.tenant, 'replays.cancel', jsonb_build_object('replay', 'rpl_' || c.id),
  jsonb_strip_nulls(jsonb_build_object('reason', $4::text, 'key', $1::text, 'user', $3::text)), 200
from cancelled c
`;
