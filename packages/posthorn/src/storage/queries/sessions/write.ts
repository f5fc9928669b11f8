// Creates sessions and links, opens a link once, ends sessions, and deletes expired ones.
import { textArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import { type SessionRow, sessionColumns } from "./session-row.ts";

export interface NewSession {
  readonly id: string;
  readonly digest: Buffer;
  readonly isOpen: boolean;
  readonly keyId: string | null;
  readonly tenant: string | null;
  readonly userId: string | null;
  readonly scopes: readonly string[] | null;
  readonly openSeconds: number;
  /** Lifetime of the link, or of an open session. */
  readonly expiresInSeconds: number;
}

/** Returns null if the key, tenant or member does not exist. Keeps the newest `most` sessions of an owner. */
export async function insertSession(
  db: Queryable,
  session: NewSession,
  most: number,
): Promise<SessionRow | null> {
  const [row] = await db.query<SessionRow>(insertStatement, [
    session.id,
    session.digest,
    session.isOpen,
    session.keyId,
    session.tenant,
    session.userId,
    session.scopes === null ? null : textArray(session.scopes),
    session.openSeconds,
    session.expiresInSeconds,
    most,
  ]);
  return row ?? null;
}

const insertStatement = statement(
  "insert session",
  `
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
`,
);

export interface OpenedLink {
  readonly id: string;
  /** Digest of the link's code. */
  readonly linkDigest: Buffer;
  /** Digest of the cookie. */
  readonly sessionDigest: Buffer;
}

/** Returns null if the link was used, has expired or does not exist. Of two concurrent calls one succeeds. */
export async function openSession(
  db: Queryable,
  { id, linkDigest, sessionDigest }: OpenedLink,
): Promise<SessionRow | null> {
  const [row] = await db.query<SessionRow>(openStatement, [id, linkDigest, sessionDigest]);
  return row ?? null;
}

const openStatement = statement(
  "open session",
  `
update posthorn.sessions s
set is_open = true,
  digest = $3::bytea,
  expires_at = posthorn.now() + s.open_seconds * interval '1 second'
where s.id = $1::text
  and not s.is_open
  and s.digest = $2::bytea
  and s.expires_at > posthorn.now()
returning ${sessionColumns}
`,
);

export async function deleteSession(db: Queryable, id: string): Promise<boolean> {
  const rows = await db.query(deleteStatement, [id]);
  return rows.length > 0;
}

const deleteStatement = statement(
  "delete session",
  `
delete from posthorn.sessions s
where s.id = $1::text
returning s.id
`,
);

/** Deletes a portal link or its session. Returns false if the tenant has none with that id. */
export async function deletePortalSession(db: Queryable, tenant: string, id: string): Promise<boolean> {
  const rows = await db.query(deletePortalStatement, [tenant, id]);
  return rows.length > 0;
}

const deletePortalStatement = statement(
  "delete portal session",
  `
delete from posthorn.sessions s
where s.tenant = $1::text
  and s.id = $2::text
returning s.id
`,
);

/** Returns how many were deleted, at most `most`. */
export async function pruneSessions(db: Queryable, most: number): Promise<number> {
  const [row] = await db.query<{ count: number }>(pruneStatement, [most]);
  return row?.count ?? 0;
}

const pruneStatement = statement(
  "prune sessions",
  `
with old as materialized (
  select s.id
  from posthorn.sessions s
  where s.expires_at <= posthorn.now()
  order by s.expires_at
  limit $1::integer
),
pruned as (
  delete from posthorn.sessions s
  where s.id = any (array(select id from old))
  returning 1
)
select count(*)::integer as count
from pruned
`,
);
