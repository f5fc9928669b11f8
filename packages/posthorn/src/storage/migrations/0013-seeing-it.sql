-- What operators look at.

-- The trace in which the event was published (W3C traceparent), so that attempts hours later join it; null without one.
alter table posthorn.events add column traceparent text;

-- Counted at every look at the metrics; a healthy installation has no entry in it.
create index endpoints_disabled on posthorn.endpoints (id) where not is_active and deleted_at is null;
