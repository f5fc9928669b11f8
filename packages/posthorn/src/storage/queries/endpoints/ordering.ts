// Whether an endpoint's events are sent in order: its own setting, else the default of the process that started last.
import type { Uuid } from "../../../model.ts";
import type { Database } from "../../database.ts";
import { column, run } from "../../query.ts";
import { syncLanes } from "./sync-lanes.ts";

/** Conditions on an endpoint `ep`, joined with `posthorn.endpoint_defaults defaults`. Like `effectiveSettings`. */
export const isOrdered = `(coalesce(
  ep.ordering,
  case when ep.format = 'cloudevents-batch' then 'none' else defaults.ordering end
) = 'fifo')`;
export const holdsSubjects = `(${isOrdered} and coalesce(ep.fifo_on_dead, defaults.fifo_on_dead) = 'hold')`;

/** Also releases the subjects that are not held any more. */
export async function setOrderingDefaults(db: Database, ordering: string, fifoOnDead: string): Promise<void> {
  // committed first: a delivery that dies meanwhile locks the defaults, so the next statement sees what it held
  await setDefaults(db, ordering, fifoOnDead);
  const endpointIds = await findReleased(db);
  if (endpointIds.length === 0) return;
  // in the order of every transaction: endpoints, lanes
  await db.transaction(async (tx) => {
    await raiseVersions(tx, endpointIds);
    await releaseSubjects(tx, endpointIds);
    await syncLanes(tx, endpointIds);
  });
}

const setDefaults = run<[ordering: string, fifoOnDead: string]>("set ordering defaults")`
update posthorn.endpoint_defaults defaults
set ordering = $1::text,
  fifo_on_dead = $2::text
where (defaults.ordering, defaults.fifo_on_dead) <> ($1::text, $2::text)
`;

const findReleased = column<Uuid>("find endpoints with released subjects")`
select distinct h.endpoint_id
from posthorn.held_subjects h
join posthorn.endpoints ep on ep.id = h.endpoint_id
cross join posthorn.endpoint_defaults defaults
where not ${holdsSubjects}
`;

// The owners of the lanes notice the new version, and promote the next deliveries.
const raiseVersions = run<[endpointIds: readonly Uuid[]]>("increment endpoint versions")`
update posthorn.endpoints ep
set version = ep.version + 1
from (
  select locked.id
  from posthorn.endpoints locked
  where locked.id = any ($1::uuid[])
  order by locked.id
  for no key update
) locked
where ep.id = locked.id
`;

const releaseSubjects = run<[endpointIds: readonly Uuid[]]>("release subjects of endpoints")`
delete from posthorn.held_subjects h
using posthorn.endpoints ep, posthorn.endpoint_defaults defaults
where h.endpoint_id = any ($1::uuid[])
  and ep.id = h.endpoint_id
  and not ${holdsSubjects}
`;
