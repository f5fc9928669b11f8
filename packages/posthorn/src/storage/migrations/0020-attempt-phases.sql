-- Where the time of an attempt went. What is left of duration_ms is the answer's body. Null for what did not take place: on
-- a connection that was open already, which most are, a row is 4 bytes longer.
alter table posthorn.attempts
  add column connect_ms integer,
  add column tls_ms integer,
  add column first_byte_ms integer;
