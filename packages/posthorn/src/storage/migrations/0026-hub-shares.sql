-- Which share of the hub's requests a request takes from. `new`: from somebody who follows nothing yet, which anybody can
-- make any number of. `known`: of a subscription that is there. `ended`: a denial, of which ten thousand may come at once.
-- None of them waits for the others.
alter table posthorn.websub_requests
  add column share text not null default 'new' check (share in ('new', 'known', 'ended'));
update posthorn.websub_requests set share = 'ended' where mode = 'denied';
