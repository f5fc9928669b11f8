// Publishes in the caller's transaction through the SQL function that other languages call.

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
  select posthorn.publish(
    tenant => $1::text,
    type => $2::text,
    data => $3::text,
    subject => $4::text,
    api_version => $5::text,
    idempotency_key => $6::text,
    id => new_event.id
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

/** Active tenants by id. All values are text, because the caller's driver handles them. */
export const tenantsOfUserStatement = statement("tenants of user")`
select m.tenant
from posthorn.members m
join posthorn.tenants t on t.id = m.tenant
where m.user_id = $1::text
  and t.is_active
order by m.tenant
limit $2::integer
`;

export interface PublishedForUser {
  readonly tenant: string;
  readonly id: string;
  readonly newId: string;
  readonly sequence: string | null;
}

// In the order of ids, so that concurrent calls do not deadlock.
export const publishForUserStatement = statement("publish for user")`
select published.tenant, published.id, published."newId",
  case when $4::text is not null then posthorn.sequence_of(published.id)::text end as sequence
from (
  select reached.tenant, reached."newId",
    posthorn.publish(
      tenant => reached.tenant,
      type => $2::text,
      data => $3::text,
      subject => $4::text,
      api_version => $5::text,
      idempotency_key => $6::text,
      id => reached."newId"
    ) as id
  from (
    select listed.tenant, 'evt_' || posthorn.uuidv7(posthorn.now()) as "newId"
    from json_array_elements_text($1::json) with ordinality as listed (tenant, place)
    order by listed.place
    offset 0
  ) reached
  offset 0
) published
`;
