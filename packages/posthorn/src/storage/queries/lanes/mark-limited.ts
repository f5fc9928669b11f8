// Records which lanes wait for their endpoint's own limits. A lane that another transaction is writing to is left for
// the next survey.
import type { Uuid } from "../../../model.ts";
import { uuidArray } from "../../binary-array.ts";
import { run } from "../../query.ts";

export const markLimitedLanes = run<
  [workerId: number, { readonly held: readonly Uuid[]; readonly free: readonly Uuid[] }]
>("mark limited lanes", (workerId, { held, free }) => [workerId, uuidArray(held), uuidArray(free)])`
with locked as materialized (
  select l.endpoint_id
  from posthorn.lanes l
  where l.endpoint_id = any ($2::uuid[] || $3::uuid[])
    and l.owner = $1::integer
  order by l.endpoint_id
  for no key update skip locked
)
update posthorn.lanes l
set limited_until = case when l.endpoint_id = any ($2::uuid[]) then 'infinity' else posthorn.now() end
where l.endpoint_id = any (array(select endpoint_id from locked))
`;
