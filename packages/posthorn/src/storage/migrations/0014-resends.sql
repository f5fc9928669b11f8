-- What was sent again, by hand or by a replay, is found by when that happened. Of all attempts these are very few: the
-- others never enter the index, so recording them costs nothing more.
create index attempts_resent on posthorn.attempts (started_at, delivery_id) where trigger in ('manual', 'replay');
