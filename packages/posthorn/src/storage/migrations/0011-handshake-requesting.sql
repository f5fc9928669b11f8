-- The state `asking` of a handshake is named `requesting`. Workers of the previous version may still write `asking`.
alter table posthorn.endpoint_handshakes drop constraint endpoint_handshakes_state_check;
alter table posthorn.endpoint_handshakes add constraint endpoint_handshakes_state_check
  check (state in ('asking', 'requesting', 'waiting', 'granted', 'denied'));
update posthorn.endpoint_handshakes set state = 'requesting' where state = 'asking';
