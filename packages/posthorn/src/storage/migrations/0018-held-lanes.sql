-- Until when what a lane is owed waits for the endpoint's own limit, its rate or its attempts in flight, and not for us:
-- infinity while it does, the moment it ended afterwards. Written by the owner, once a second at most and only for lanes
-- that are behind; only the owner knows, and it has to be told apart from a worker that is too busy.
alter table posthorn.lanes add column held_until timestamptz;
