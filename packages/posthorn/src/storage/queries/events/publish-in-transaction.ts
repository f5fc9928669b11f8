// Publishes in the caller's transaction through the SQL functions behind those that other languages call.

// All parameters and results are text (or boolean), and every parameter is cast, because a library sends the values: some
// send no types, encode jsonb twice, or differ in how they read bigint. Names of columns are one lower-case word, so that
// no library renames them. `condition` is true for the statement to publish.
import { type Statement, statement } from "../../sql.ts";

// The caller generates the ids, in the order of its calls. An id that is far from the database's time is replaced: its
// day decides how long the event is kept, and its age whether it is retried.
const publishWhen = (name: string, condition: string): Statement => statement(name)`
with new_event as materialized (
  select case
    when substring($7::text from 5)::uuid
      between posthorn.lowest_uuid_at(posthorn.now() - interval '1 minute')
      and posthorn.lowest_uuid_at(posthorn.now() + interval '1 minute')
    then $7::text
    else 'evt_' || posthorn.uuidv7(posthorn.now())
  end as id
  where ${condition}
)
select published.id, published.id <> published.new_id as duplicate,
  case when $4::text is not null then posthorn.sequence_of(published.id)::text end as sequence
from (
  select posthorn.write_event(
    tenant => $1::text,
    type => $2::text,
    data => $3::text,
    subject => $4::text,
    api_version => $5::text,
    idempotency_key => $6::text,
    id => new_event.id,
    traceparent => $8::text,
    attributes => $9::text::jsonb,
    is_checked => true
  ) as id,
    new_event.id as new_id
  from new_event
  offset 0
) published
`;

/** Returns no row, and publishes nothing, if the transaction has no id yet. It has one when the statement is repeated. */
const isInTransaction = "(select posthorn.continues_transaction())";

export const publishInTransactionStatement = publishWhen("publish in transaction", isInTransaction);

/** For callers that send the statement themselves. */
export const publishStatement = publishWhen("publish", "true");

export interface PublishedRow {
  readonly id: string;
  readonly duplicate: boolean;
  readonly sequence: string | null;
}

export interface PublishedForUser extends PublishedRow {
  /** Null in the only row if the user has no active tenant. */
  readonly tenant: string | null;
}

// One row for each active tenant of the user, at least one. Returns no row like the statement above.
export const publishForUserStatement = statement("publish for user")`
select p.tenant, p.id, p.duplicate, p.sequence::text as sequence
from (select posthorn.continues_transaction() as is_open offset 0) transaction
left join lateral posthorn.write_event_for_user(
  user_id => $1::text,
  type => $2::text,
  data => $3::text,
  subject => $4::text,
  api_version => $5::text,
  idempotency_key => $6::text,
  traceparent => $7::text,
  attributes => $8::text::jsonb,
  is_checked => transaction.is_open
) p on true
where transaction.is_open
`;
