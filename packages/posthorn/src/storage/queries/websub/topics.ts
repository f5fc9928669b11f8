// Topics of other publishers: what exists, what is due, and what was fetched.
import { textArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

export interface TopicRow {
  readonly hash: string;
  readonly url: string;
  readonly host: string;
}

/** Called at the first subscription. */
export async function ensureTopic(tx: Queryable, { hash, url, host }: TopicRow): Promise<void> {
  await tx.query(ensureStatement, [hash, url, host]);
}

// A topic that is deleted and created again must not repeat its revisions, which are part of idempotency keys.
// Milliseconds grow faster than revisions.
const ensureStatement = statement(
  "ensure websub topic",
  `
insert into posthorn.websub_topics (hash, url, host, revision)
values ($1::text, $2::text, $3::text, posthorn.epoch_ms(posthorn.now())::bigint)
on conflict (hash) do nothing
`,
);

/** Creates the reserved tenant of the hub. */
export async function ensureExternalTenant(tx: Queryable, tenant: string, name: string): Promise<void> {
  await tx.query(ensureTenantStatement, [tenant, name]);
}

const ensureTenantStatement = statement(
  "ensure websub tenant",
  `
insert into posthorn.tenants (id, name, routing_version)
values ($1::text, $2::text, posthorn.epoch_ms(posthorn.now())::bigint)
on conflict (id) do nothing
`,
);

/** Ignores topics without subscriptions. Topics pinged recently wait until they may be fetched again. */
export async function pingTopics(db: Queryable, hashes: readonly string[], restMs: number): Promise<void> {
  await db.query(pingStatement, [textArray(hashes), restMs]);
}

const pingStatement = statement(
  "ping websub topics",
  `
update posthorn.websub_topics t
set pings = t.pings + 1,
  attempts = 0,
  due_at = coalesce(
    t.due_at,
    greatest(posthorn.now(), t.fetched_at + $2::double precision * interval '1 millisecond')
  )
where t.hash = any ($1::text[])
`,
);

export interface DueTopic extends TopicRow {
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly digestHex: string | null;
  readonly revision: number;
  readonly pings: number;
  /** Including this one. */
  readonly attempts: number;
}

export async function claimTopics(
  db: Queryable,
  { limit, leaseMs }: { readonly limit: number; readonly leaseMs: number },
): Promise<DueTopic[]> {
  return await db.query<DueTopic>(claimStatement, [limit, leaseMs]);
}

const claimStatement = statement(
  "claim websub topics",
  `
update posthorn.websub_topics t
set attempts = t.attempts + 1,
  due_at = posthorn.now() + $2::double precision * interval '1 millisecond'
where t.hash = any (array(
    select due.hash
    from posthorn.websub_topics due
    where due.due_at <= posthorn.now()
    order by due.due_at
    limit $1::integer
    for update skip locked
  ))
returning
  t.hash, t.url, t.host, t.etag, t.last_modified as "lastModified", encode(t.digest, 'hex') as "digestHex", t.revision,
  t.pings, t.attempts
`,
);

export interface SeenContent {
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly digest: Buffer;
  /** The revision distributed last. */
  readonly revision: number;
}

/** Records a fetch; null: unchanged or unusable. A ping during the fetch causes another one. */
export async function settleTopic(
  db: Queryable,
  topic: Pick<DueTopic, "hash" | "pings">,
  seen: SeenContent | null,
  restMs: number,
): Promise<void> {
  await db.query(settleStatement, [
    topic.hash,
    topic.pings,
    restMs,
    seen !== null,
    seen?.etag ?? null,
    seen?.lastModified ?? null,
    seen?.digest ?? null,
    seen?.revision ?? null,
  ]);
}

const settleStatement = statement(
  "settle websub topic",
  `
update posthorn.websub_topics t
set fetched_at = posthorn.now(),
  attempts = 0,
  due_at = case
    when t.pings <> $2::bigint then posthorn.now() + $3::double precision * interval '1 millisecond'
  end,
  etag = case when $4::boolean then $5::text else t.etag end,
  last_modified = case when $4::boolean then $6::text else t.last_modified end,
  digest = case when $4::boolean then $7::bytea else t.digest end,
  revision = greatest(t.revision, coalesce($8::bigint, t.revision))
where t.hash = $1::text
`,
);

export async function postponeTopic(
  db: Queryable,
  { hash, attempts }: Pick<DueTopic, "hash" | "attempts">,
  { delayMs, isCounted }: { readonly delayMs: number; readonly isCounted: boolean },
): Promise<void> {
  await db.query(putOffStatement, [hash, delayMs, isCounted ? attempts : attempts - 1]);
}

const putOffStatement = statement(
  "postpone websub topic",
  `
update posthorn.websub_topics t
set due_at = posthorn.now() + $2::double precision * interval '1 millisecond',
  attempts = $3::integer
where t.hash = $1::text
`,
);

/** Returns the next revision for content pushed by the publisher. */
export async function nextRevision(db: Queryable, hash: string): Promise<number | null> {
  const [row] = await db.query<{ revision: number }>(nextStatement, [hash]);
  return row?.revision ?? null;
}

const nextStatement = statement(
  "next revision of websub topic",
  `
update posthorn.websub_topics t
set revision = t.revision + 1
where t.hash = $1::text
returning t.revision
`,
);

/** Records the distributed content, so that a fetch of the same content is ignored. */
export async function recordContent(db: Queryable, hash: string, digest: Buffer): Promise<void> {
  await db.query(noteStatement, [hash, digest]);
}

const noteStatement = statement(
  "record content of websub topic",
  `
update posthorn.websub_topics
set digest = $2::bytea,
  etag = null,
  last_modified = null
where hash = $1::text
`,
);

/** Deletes topics without subscriptions. */
export async function pruneTopics(db: Queryable, tenant: string): Promise<void> {
  await db.query(pruneStatement, [tenant]);
}

const pruneStatement = statement(
  "prune websub topics",
  `
delete from posthorn.websub_topics t
where not exists (
    select
    from posthorn.endpoints ep
    where ep.tenant = $1::text
      and ep.events @> array['websub.' || t.hash]
      and ep.deleted_at is null
  )
`,
);
