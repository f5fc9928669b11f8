// Publishes in the caller's transaction through the SQL functions behind those that other languages call.

// All parameters and results are text: some drivers encode jsonb twice and differ in how they read bigint.
// The caller generates the ids, in the order of its calls. An id that is far from the database's time is replaced: its
// day decides how long the event is kept, and its age whether it is retried.
import { statement } from "../../sql.ts";
export const publishStatement = statement("publish in transaction")`
with new_event as materialized (
  select case
    when substring($7::text from 5)::uuid
      between posthorn.lowest_uuid_at(posthorn.now() - interval '1 minute')
      and posthorn.lowest_uuid_at(posthorn.now() + interval '1 minute')
    then $7::text
    else 'evt_' || posthorn.uuidv7(posthorn.now())
  end as id
)
select published.id, published."newId",
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
    is_checked => true
  ) as id,
    new_event.id as "newId"
  from new_event
  offset 0
) published
`;

// A separate statement for traces and attributes keeps the SQL function unchanged for other languages. The ids come as
// JSON.
export const noteStatement = statement("annotate published events")`
update posthorn.events
set traceparent = $2::text,
  attributes = $3::jsonb
where id = any (array(
  select substring(published.id from 5)::uuid
  from json_array_elements_text($1::json) as published (id)
))
`;

export interface PublishedForUser {
  readonly tenant: string;
  readonly id: string;
  readonly sequence: string | null;
  readonly duplicate: "true" | "false";
}

/** One row for each active tenant of the user. All values are text, because the caller's driver handles them. */
export const publishForUserStatement = statement("publish for user")`
select p.tenant, p.id, p.sequence::text as sequence, p.duplicate::text as duplicate
from posthorn.write_event_for_user(
  user_id => $1::text,
  type => $2::text,
  data => $3::text,
  subject => $4::text,
  api_version => $5::text,
  idempotency_key => $6::text,
  is_checked => true
) p
`;
