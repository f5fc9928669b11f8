// Topics of other publishers: what exists, what is due, and what was fetched.
import { fields, rows, run, value } from "../../query.ts";

export interface TopicRow {
  readonly hash: string;
  readonly url: string;
  readonly host: string;
}

/** Called at the first subscription. */
// A topic that is deleted and created again must not repeat its revisions, which are part of idempotency keys.
// Milliseconds grow faster than revisions.
export const ensureTopic = run<[TopicRow]>("ensure websub topic", fields("hash", "url", "host"))`
insert into posthorn.websub_topics (hash, url, host, revision)
values ($1::text, $2::text, $3::text, posthorn.epoch_ms(posthorn.now())::bigint)
on conflict (hash) do nothing
`;

/** Creates the reserved tenant of the hub. */
export const ensureExternalTenant = run<[tenant: string, name: string]>("ensure websub tenant")`
insert into posthorn.tenants (id, name, routing_version)
values ($1::text, $2::text, posthorn.epoch_ms(posthorn.now())::bigint)
on conflict (id) do nothing
`;

/** Ignores topics without subscriptions. Topics pinged recently wait until they may be fetched again. */
export const pingTopics = run<[hashes: readonly string[], restMs: number]>("ping websub topics")`
update posthorn.websub_topics t
set pings = t.pings + 1,
  attempts = 0,
  due_at = coalesce(
    t.due_at,
    greatest(posthorn.now(), t.fetched_at + $2::double precision * interval '1 millisecond')
  )
where t.hash = any ($1::text[])
`;

export interface DueTopic extends TopicRow {
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly digestHex: string | null;
  readonly revision: number;
  readonly pings: number;
  /** Including this one. */
  readonly attempts: number;
}

export const claimTopics = rows<DueTopic, [{ readonly limit: number; readonly leaseMs: number }]>(
  "claim websub topics",
  fields("limit", "leaseMs"),
)`
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
`;

export interface SeenContent {
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly digest: Buffer;
  /** The revision distributed last. */
  readonly revision: number;
}

/** Records a fetch; null: unchanged or unusable. A ping during the fetch causes another one. */
export const settleTopic = run<
  [topic: Pick<DueTopic, "hash" | "pings">, seen: SeenContent | null, restMs: number]
>("settle websub topic", (topic, seen, restMs) => [
  topic.hash,
  topic.pings,
  restMs,
  seen !== null,
  seen?.etag ?? null,
  seen?.lastModified ?? null,
  seen?.digest ?? null,
  seen?.revision ?? null,
])`
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
`;

export const postponeTopic = run<
  [Pick<DueTopic, "hash" | "attempts">, { readonly delayMs: number; readonly isCounted: boolean }]
>("postpone websub topic", ({ hash, attempts }, { delayMs, isCounted }) => [
  hash,
  delayMs,
  isCounted ? attempts : attempts - 1,
])`
update posthorn.websub_topics t
set due_at = posthorn.now() + $2::double precision * interval '1 millisecond',
  attempts = $3::integer
where t.hash = $1::text
`;

/** Returns the next revision for content pushed by the publisher. */
export const nextRevision = value<number | null, [hash: string]>("next revision of websub topic")`
update posthorn.websub_topics t
set revision = t.revision + 1
where t.hash = $1::text
returning t.revision
`;

/** Records the distributed content, so that a fetch of the same content is ignored. */
export const recordContent = run<[hash: string, digest: Buffer]>("record content of websub topic")`
update posthorn.websub_topics
set digest = $2::bytea,
  etag = null,
  last_modified = null
where hash = $1::text
`;

/** Deletes topics without subscriptions. */
export const pruneTopics = run<[tenant: string]>("prune websub topics")`
delete from posthorn.websub_topics t
where not exists (
    select
    from posthorn.endpoints ep
    where ep.tenant = $1::text
      and ep.events @> array['websub.' || t.hash]
      and ep.deleted_at is null
  )
`;
