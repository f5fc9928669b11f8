// Publishes an event to the tenants of a user, in the caller's transaction.
import { statement } from "../../sql.ts";

/** Active tenants by id. All values are text, because the caller's driver handles them. */
export const tenantsOfUserStatement = statement(
  "tenants of user",
  `
select m.tenant
from posthorn.members m
join posthorn.tenants t on t.id = m.tenant
where m.user_id = $1::text
  and t.is_active
order by m.tenant
limit $2::integer
`,
);

export interface PublishedForUser {
  readonly tenant: string;
  readonly id: string;
  readonly newId: string;
  readonly sequence: string | null;
}

// In the order of ids, so that concurrent calls do not deadlock.
export const publishForUserStatement = statement(
  "publish for user",
  `
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
`,
);
