// Publishes inside the caller's own transaction, through the same SQL function that psql and other languages call.
import { statement } from "../../sql.ts";

// Everything is bound as text, and comes back as it: some drivers encode a jsonb parameter twice, and read a bigint as
// they like.
export const publishStatement = statement(
  "publish in transaction",
  `
select published.id,
  case when $4::text is not null then posthorn.sequence_of(published.id)::text end as sequence
from (
  select posthorn.publish(
    tenant => $1::text,
    type => $2::text,
    data => $3::text,
    subject => $4::text,
    api_version => $5::text,
    idempotency_key => $6::text,
    id => $7::text
  ) as id
  offset 0
) published
`,
);
