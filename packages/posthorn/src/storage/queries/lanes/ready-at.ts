// When a lane without an owner is ready, from what is owed in it. For a lane under the given name; each reads one
// entry at an end of the index, whatever the backlog.

/** Rows are parked behind others of their subject, or behind nothing any more. */
export const hasParked = (lane: string): string => `coalesce((
    select q.next_at = 'infinity'
    from posthorn.queue q
    where q.endpoint_id = ${lane}.endpoint_id
      and q.claimed_by is null
    order by q.next_at desc
    limit 1
  ), false)`;

/** Infinity when all that is owed waits for something else than time. */
export const firstDueAt = (lane: string): string => `(
    select min(q.next_at)
    from posthorn.queue q
    where q.endpoint_id = ${lane}.endpoint_id
      and q.claimed_by is null
  )`;

/** Where nobody knows whose turn it is among the parked, the next owner has to look at once. */
export const firstLookAt = (lane: string): string =>
  `case when ${hasParked(lane)} then posthorn.now() else ${firstDueAt(lane)} end`;
