// The outcomes of a replay's deliveries. Triggers on the queue record them (0006-operations.sql); the statements that queue
// deliveries for a replay begin with these steps.

/** The numbers by outcome, as JSON, of `posthorn.replays r`. */
export const outcomesColumn = `(
    select json_build_object(
      'delivered', coalesce(sum(o.delivered), 0),
      'failed', coalesce(sum(o.failed), 0),
      'dead', coalesce(sum(o.dead), 0),
      'waiting', coalesce(sum(o.waiting), 0),
      'replayedAgain', coalesce(sum(o.replayed_again), 0)
    )
    from posthorn.replay_outcomes o
    where o.replay_id = r.id
  )`;

/**
 * Records that the deliveries of the step `queued_again` (id) wait for the replay whose id is this parameter. Those of an
 * earlier replay no longer count for that one.
 */
export const recordQueuedSteps = (replayId: string): string => `
before_replay as materialized (
  select r.replay_id, r.outcome
  from posthorn.replayed_deliveries r
  where r.delivery_id = any (array(select queued_again.id from queued_again))
),
recorded as (
  insert into posthorn.replayed_deliveries (delivery_id, replay_id, outcome)
  select queued_again.id, ${replayId}::uuid, 'waiting'
  from queued_again
  on conflict (delivery_id) do update
  set replay_id = excluded.replay_id,
    outcome = excluded.outcome
),
counted as (
  insert into posthorn.replay_outcomes as known (replay_id, session, waiting, failed, delivered, dead, replayed_again)
  select change.replay_id, pg_backend_pid(), sum(change.waiting), sum(change.failed), sum(change.delivered),
    sum(change.dead), sum(change.replayed_again)
  from (
    select ${replayId}::uuid as replay_id, count(*) as waiting, 0 as failed, 0 as delivered, 0 as dead, 0 as replayed_again
    from queued_again
    union all
    select b.replay_id, -count(*) filter (where b.outcome = 'waiting'), -count(*) filter (where b.outcome = 'failed'),
      -count(*) filter (where b.outcome = 'delivered'), -count(*) filter (where b.outcome = 'dead'), count(*)
    from before_replay b
    group by b.replay_id
  ) change
  group by change.replay_id
  on conflict (replay_id, session) do update
  set waiting = known.waiting + excluded.waiting,
    failed = known.failed + excluded.failed,
    delivered = known.delivered + excluded.delivered,
    dead = known.dead + excluded.dead,
    replayed_again = known.replayed_again + excluded.replayed_again
)`;
