// Expressions for when a lane without an owner is ready. `lane` is its name in the statement. Each is one index lookup,
// whatever the backlog.

/** Whether deliveries are parked. */
export const hasParked = (lane: string): string => `coalesce((
    select q.next_at = 'infinity'
    from posthorn.queue q
    where q.endpoint_id = ${lane}.endpoint_id
      and q.claimed_by is null
    order by q.next_at desc
    limit 1
  ), false)`;

/** Infinity if all queued deliveries are parked. */
export const firstDueAt = (lane: string): string => `(
    select min(q.next_at)
    from posthorn.queue q
    where q.endpoint_id = ${lane}.endpoint_id
      and q.claimed_by is null
  )`;

/** Now if deliveries are parked: the next owner has to promote them. */
export const nextReadyAt = (lane: string): string =>
  `case when ${hasParked(lane)} then posthorn.now() else ${firstDueAt(lane)} end`;
