// Sessions and sign-in links: creates and reads them, opens a link once, and ends sessions.
import { fields, firstRow, hasRow, rows, run } from "../query.ts";
import type { MemberRole } from "./members.ts";

export interface SessionRow {
  readonly id: string;
  readonly digest: Buffer;
  /** False: an unused link. */
  readonly isOpen: boolean;
  /** The key or token used to sign in. */
  readonly keyId: string | null;
  readonly tenant: string | null;
  readonly userId: string | null;
  /** The member's current role. */
  readonly role: MemberRole | null;
  /** Null: all permissions of the key or of the member's role. */
  readonly scopes: readonly string[] | null;
  readonly expiresMs: number;
  readonly endsInMs: number;
}

/** Columns of `posthorn.sessions s`. */
const sessionColumns = `s.id, s.digest, s.is_open as "isOpen", s.key_id as "keyId", s.tenant, s.user_id as "userId",
  (select m.role from posthorn.members m where m.tenant = s.tenant and m.user_id = s.user_id) as role, to_json(s.scopes) as scopes,
  posthorn.epoch_ms(s.expires_at) as "expiresMs",
  posthorn.epoch_ms(s.expires_at) - posthorn.epoch_ms(posthorn.now()) as "endsInMs"`;

/** Returns sessions that have not expired, open or not. */
export const knownSessions = rows<SessionRow, [ids: readonly string[]]>("known sessions")`
select ${sessionColumns}
from posthorn.sessions s
where s.id = any ($1::text[])
  and s.expires_at > posthorn.now()
`;

export interface NewSession extends Omit<SessionRow, "role" | "expiresMs" | "endsInMs"> {
  readonly openSeconds: number;
  /** Lifetime of the link, or of an open session. */
  readonly expiresInSeconds: number;
}

/** Returns null if the key, tenant or member does not exist. Keeps the newest `most` sessions of an owner. */
export const insertSession = firstRow<SessionRow, [session: NewSession, most: number]>(
  "insert session",
  (session, most) => [
    ...fields("id", "digest", "isOpen", "keyId", "tenant", "userId", "scopes")(session),
    ...fields("openSeconds", "expiresInSeconds")(session),
    most,
  ],
)`
with room as (
  delete from posthorn.sessions s
  where s.id = any (array(
    select o.id
    from posthorn.sessions o
    where o.owner = coalesce('key ' || $4::text, 'tenant ' || $5::text, 'admin')
    order by o.created_at desc, o.id
    offset $10::integer - 1
  ))
)
insert into posthorn.sessions as s
  (id, digest, is_open, key_id, tenant, user_id, scopes, open_seconds, expires_at)
select $1::text, $2::bytea, $3::boolean, $4::text, $5::text, $6::text, $7::text[], $8::integer,
  posthorn.now() + $9::integer * interval '1 second'
where ($4::text is null or exists (select from posthorn.api_keys k where k.id = $4::text))
  and ($5::text is null or exists (select from posthorn.tenants t where t.id = $5::text))
  and ($6::text is null or exists (
    select from posthorn.members m where m.tenant = $5::text and m.user_id = $6::text
  ))
returning ${sessionColumns}
`;

export interface OpenedLink {
  readonly id: string;
  /** Digest of the link's code. */
  readonly linkDigest: Buffer;
  /** Digest of the cookie. */
  readonly sessionDigest: Buffer;
}

/** Returns null if the link was used, has expired or does not exist. Of two concurrent calls one succeeds. */
export const openSession = firstRow<SessionRow, [OpenedLink]>(
  "open session",
  fields("id", "linkDigest", "sessionDigest"),
)`
update posthorn.sessions s
set is_open = true,
  digest = $3::bytea,
  expires_at = posthorn.now() + s.open_seconds * interval '1 second'
where s.id = $1::text
  and not s.is_open
  and s.digest = $2::bytea
  and s.expires_at > posthorn.now()
returning ${sessionColumns}
`;

export const deleteSession = run<[id: string]>("delete session")`
delete from posthorn.sessions s
where s.id = $1::text
`;

/** Deletes a portal link or its session. Returns false if the tenant has none with that id. */
export const deletePortalSession = hasRow<[tenant: string, id: string]>("delete portal session")`
delete from posthorn.sessions s
where s.tenant = $1::text
  and s.id = $2::text
returning s.id
`;
