// Publishes what a source read, in the transaction that moves its position.
import { run } from "../../query.ts";

export interface SourceEvent {
  readonly id: string;
  readonly tenant: string;
  readonly type: string;
  readonly data: string;
  readonly subject: string | null;
  readonly apiVersion: string;
  readonly key: string;
}

/**
 * Publishes them in this order and counts those that are new. A key that is known belongs to an event of the same row,
 * even if the row was changed later: there is one event for each row. The keys must be distinct.
 */
export const publishFromSource = run<[source: string, events: readonly SourceEvent[]]>(
  "publish from source",
  (source, events) => [source, JSON.stringify(events.map((event, place) => ({ place, ...event })))],
)`
with published as materialized (
  select count(
    posthorn.write_event(
      tenant => read.tenant,
      type => read.type,
      data => read.data,
      subject => read.subject,
      api_version => read."apiVersion",
      idempotency_key => read.key,
      id => read.id,
      traceparent => null,
      attributes => null,
      is_checked => true
    )
  ) as count
  from (
    select e.*
    from json_to_recordset($2::json) as e (
      place integer,
      id text,
      tenant text,
      type text,
      data text,
      subject text,
      "apiVersion" text,
      key text
    )
    where not exists (
      select
      from posthorn.idempotency_keys k
      where k.tenant = e.tenant
        and k.key = e.key
    )
    order by e.place
    offset 0
  ) read
)
update posthorn.sources s
set events = s.events + published.count
from published
where s.name = $1::text
`;
