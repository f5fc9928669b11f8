// A delivery that succeeded at once contains its attempt (0004-history-and-retention.sql). When it is queued again, the
// attempt moves to the log.

const columns = `started_at, duration_ms, status_code, response_body, worker, connect_ms, tls_ms, first_byte_ms`;

/** The columns of a contained attempt, for "returning" of a `delete from posthorn.deliveries d`. */
export const firstAttempt = columns.replace(/\w+/g, "d.$&");

/** Moves the attempts of the deliveries that the step `revived` has deleted with `returning d.id, ${firstAttempt}`. */
export const moveFirstAttemptStep = `
moved as (
  insert into posthorn.attempt_log (delivery_id, number, trigger, ${columns})
  select revived.id, 1, 'event', ${columns}
  from revived
  where revived.started_at is not null
)`;
