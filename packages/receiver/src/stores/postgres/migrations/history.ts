// The record of received messages, for stores with `historyDays`. No other function uses it.
export const history = `
create table posthorn_receiver.history (
  source text not null,
  id text not null,
  type text not null,
  received_at timestamptz not null,
  -- when its handling was committed; null if it never was
  processed_at timestamptz,
  -- how often a handling ended, successfully or not
  attempts integer not null,
  payload bytea not null,
  primary key (source, id)
);

-- prune
create index history_received on posthorn_receiver.history (received_at);

-- Records that a message was received, with one more attempt if its handling ended. The first receipt is kept.
create function posthorn_receiver.record_history(
  source text, id text, type text, payload bytea, received_ms_ago double precision, attempts integer, is_done boolean
) returns boolean
language sql as $$
  insert into posthorn_receiver.history as h (source, id, type, received_at, processed_at, attempts, payload)
  values (
    record_history.source,
    record_history.id,
    record_history.type,
    now() - record_history.received_ms_ago * interval '1 millisecond',
    case when record_history.is_done then clock_timestamp() end,
    record_history.attempts,
    record_history.payload
  )
  on conflict (source, id) do update
  set processed_at = coalesce(excluded.processed_at, h.processed_at),
      attempts = h.attempts + excluded.attempts
  returning true
$$;

create procedure posthorn_receiver.finish_with_history(
  xid xid8, place tid, token uuid, source text, id text, digest text, type text, payload text
)
language plpgsql as $$
begin
  if place is null then
    call posthorn_receiver.finish_new(xid, source, id, digest);
  else
    call posthorn_receiver.finish(xid, place, token);
  end if;
  perform posthorn_receiver.record_history(source, id, type, decode(payload, 'hex'), 0, 1, true);
end
$$;
`;
