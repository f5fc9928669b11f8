// Requests to the WebSub hub from the 202 response until they are verified or discarded. No lock is held while one is
// processed: the due time is moved ahead, so that another process repeats it after a crash.
import type { Uuid } from "../../../model.ts";
import { fields, hasRow, rows, run } from "../../query.ts";

export type RequestMode = "subscribe" | "unsubscribe" | "denied";
/** Shares of the hub's request rate. None delays the others. */
export type RequestShare = "new" | "known" | "ended";

export interface NewRequest {
  readonly mode: Exclude<RequestMode, "denied">;
  readonly topic: string;
  readonly callback: string;
  readonly pair: Buffer;
  readonly host: string;
  readonly leaseSeconds: number | null;
  readonly secret: { readonly keyId: string; readonly ciphertext: Buffer } | null;
  /** Returned to the callback in the verification; null: none. */
  readonly verifyToken: string | null;
}

export interface ClaimedRequest {
  readonly id: number;
  readonly mode: RequestMode;
  readonly topic: string;
  readonly callback: string;
  readonly pairHex: string;
  readonly host: string;
  readonly share: RequestShare;
  readonly leaseSeconds: number | null;
  readonly keyId: string | null;
  readonly ciphertextHex: string | null;
  readonly reason: string | null;
  readonly verifyToken: string | null;
  /** Including this one. */
  readonly attempts: number;
  /** The database's time. */
  readonly claimedMs: number;
}

export interface WaitingLimits {
  readonly perHost: number;
  readonly total: number;
}

/**
 * Returns false and stores nothing if the maximum number is pending. Requests for existing subscriptions are always
 * stored, so that a flood of new ones prevents no renewal. Replaces a request of the same mode and pair.
 */
// A new id, so that a worker that processes the previous request cannot change this one. Attempts continue to count.
export const storeRequest = hasRow<[request: NewRequest, limits: WaitingLimits]>(
  "store websub request",
  (request, limits) => [
    ...fields("mode", "topic", "callback", "pair", "host", "leaseSeconds")(request),
    request.secret?.keyId,
    request.secret?.ciphertext,
    limits.perHost,
    limits.total,
    request.verifyToken,
  ],
)`
insert into posthorn.websub_requests as r (
  mode, topic, callback, pair, host, lease_seconds, key_id, ciphertext, verify_token, share
)
select $1::text, $2::text, $3::text, $4::bytea, $5::text, $6::integer, $7::text, $8::bytea, $11::text,
  case when subscription.is_there then 'known' else 'new' end
from (
  select exists (
    select from posthorn.endpoints ep where ep.websub_pair = $4::bytea and ep.deleted_at is null
  ) as is_there
) subscription
where subscription.is_there
  or exists (select from posthorn.websub_requests same where same.pair = $4::bytea and same.mode = $1::text)
  or (
    (
      select count(*)
      from (
        select
        from posthorn.websub_requests w
        where w.host = $5::text
          and w.share = 'new'
        limit $9::integer
      ) waiting
    ) < $9::integer
    and (
      select count(*)
      from (
        select
        from posthorn.websub_requests w
        where w.share = 'new'
        limit $10::integer
      ) waiting
    ) < $10::integer
  )
on conflict (pair, mode) do update
set id = excluded.id,
  topic = excluded.topic,
  callback = excluded.callback,
  lease_seconds = excluded.lease_seconds,
  key_id = excluded.key_id,
  ciphertext = excluded.ciphertext,
  verify_token = excluded.verify_token,
  share = excluded.share,
  next_at = posthorn.now()
returning r.id
`;

/** Stores denials for those endpoints that are subscriptions. They still exist as deleted endpoints. */
export const storeDenials = run<[endpointIds: readonly Uuid[], reason: string]>("store websub denials")`
insert into posthorn.websub_requests (mode, topic, callback, pair, host, reason, share)
select 'denied', ep.websub_topic, ep.url, ep.websub_pair, ep.websub_host, $2::text, 'ended'
from posthorn.endpoints ep
where ep.id = any ($1::uuid[])
  and ep.websub_topic is not null
on conflict (pair, mode) do update
set id = excluded.id,
  topic = excluded.topic,
  callback = excluded.callback,
  reason = excluded.reason,
  next_at = posthorn.now()
`;

/**
 * Claims due requests: those of existing subscriptions first, then round-robin over hosts, so that a flood delays only
 * its own host. Of a pair, the older request first.
 */
export const claimRequests = rows<ClaimedRequest, [{ readonly limit: number; readonly leaseMs: number }]>(
  "claim websub requests",
  fields("limit", "leaseMs"),
)`
update posthorn.websub_requests r
set attempts = r.attempts + 1,
  next_at = posthorn.now() + $2::double precision * interval '1 millisecond'
where r.id = any (array(
    select due.id
    from posthorn.websub_requests due
    where due.next_at <= posthorn.now()
      and due.id = any (array(
        select waiting.id
        from (
          select w.id, w.share, w.next_at, row_number() over (partition by w.host order by w.next_at, w.id) as turn
          from posthorn.websub_requests w
          where w.next_at <= posthorn.now()
            and not exists (
              select
              from posthorn.websub_requests before
              where before.pair = w.pair
                and before.id < w.id
            )
        ) waiting
        order by (waiting.share = 'known') desc, waiting.turn, waiting.next_at, waiting.id
        limit $1::integer
      ))
    for update skip locked
  ))
returning
  r.id, r.mode, r.topic, r.callback, encode(r.pair, 'hex') as "pairHex", r.host, r.share,
  r.lease_seconds as "leaseSeconds", r.key_id as "keyId", encode(r.ciphertext, 'hex') as "ciphertextHex", r.reason,
  r.verify_token as "verifyToken", r.attempts, posthorn.epoch_ms(posthorn.now()) as "claimedMs"
`;

/** Deletes a finished request. Returns false if it was replaced meanwhile; its result does not count then. */
export const endRequest = hasRow<[id: number]>(
  "end websub request",
)`delete from posthorn.websub_requests where id = $1::bigint returning id`;

export const postponeRequest = run<
  [Pick<ClaimedRequest, "id" | "attempts">, { readonly delayMs: number; readonly isCounted: boolean }]
>("postpone websub request", ({ id, attempts }, { delayMs, isCounted }) => [
  id,
  attempts,
  delayMs,
  isCounted ? attempts : attempts - 1,
])`
update posthorn.websub_requests
set next_at = posthorn.now() + $3::double precision * interval '1 millisecond',
  attempts = $4::integer
where id = $1::bigint
  and attempts = $2::integer
`;

/**
 * Postpones all due requests of a share, or of one host in it, when its rate is used up. All get the same time, so that
 * round-robin decides then.
 */
// Skips locked rows, which another process is postponing; waiting could deadlock.
export const postponeShare = run<
  [{ readonly share: RequestShare; readonly host: string | null; readonly untilMs: number }]
>("postpone share of websub requests", fields("share", "host", "untilMs"))`
update posthorn.websub_requests
set next_at = to_timestamp($3::double precision / 1000)
where id = any (array(
    select due.id
    from posthorn.websub_requests due
    where due.share = $1::text
      and ($2::text is null or due.host = $2::text)
      and due.next_at <= posthorn.now()
    for update skip locked
  ))
`;
