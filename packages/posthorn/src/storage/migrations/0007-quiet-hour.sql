-- An endpoint that is enabled and fails again at once, by a script or an impatient hand, is disabled again each time. People
-- hear of it once an hour, so it has to be known when they last did.
alter table posthorn.notices add column sent_at timestamptz;
