// The ingest statement in two variants built from the same steps. Events with a subject are numbered and kept in order;
// events without one skip those steps, which take 0.2 ms even if they have nothing to do.
// Parameters: 1 worker · 2–3 routes · 4–7 keys · 8 outbox · 9–14 events · 15 foreign lanes · 16 wanted lanes · 17–20
// deliveries; with subjects also: 21–24 events with a subject · 25 positions of the events there · 26–31 ordered
// deliveries · 32 their events. If an event has a trace, the traces come last; if one has attributes or waits for a
// batch, the attributes and three arrays of pending events follow. Other batches do not pay for these arrays.
import { statement } from "../../sql.ts";
import { healthColumn } from "../health/record.ts";
import { isFirstInSubject } from "../queue/is-first-in-subject.ts";
import { lockTimeoutStep, numberSteps, reserveStep } from "./number.ts";

const gateSteps = `${lockTimeoutStep},
stale as materialized (
  select known.tenant
  from unnest($2::text[], $3::bigint[]) as known (tenant, version)
  left join posthorn.tenants t on t.id = known.tenant
  where coalesce(t.routing_version, 0) <> known.version
),
-- a reaped worker writes nothing: reaping locks this row for update
gate as materialized (
  select w.id
  from patience, posthorn.workers w
  where w.id = $1::integer
    and not exists (select from stale)
  for key share of w
)`;

const waitingStep = `
waiting as materialized (
  select o.event_id
  from posthorn.outbox o
  where o.event_id = any ($8::uuid[])
    and exists (select from gate)
  for update skip locked
)`;

/**
 * Events that stay in the outbox behind an earlier event of their subject. A snapshot that sees an event sees all
 * earlier ones, so events without such a predecessor find their predecessors in the queue.
 */
const deferredStep = `
kept_back as materialized (
  select l.event_id, l.tenant, l.subject, l.sequence
  from (
    select numbered.*, bool_or(numbered.follows) over (
      partition by numbered.tenant, numbered.subject
      order by numbered.sequence
    ) as is_kept_back
    from (
      select given.*, exists (
        select
        from (
          select o.event_id
          from posthorn.outbox o
          where o.tenant = given.tenant
            and o.subject = given.subject
            and o.sequence < given.sequence
          order by o.sequence desc
          limit 1
        ) before
        where (before.event_id in (select event_id from waiting)) is not true
      ) as follows
      from gate, unnest($21::uuid[], $22::text[], $23::text[], $24::bigint[])
        as given (event_id, tenant, subject, sequence)
      where given.sequence > 0
    ) numbered
  ) l
  where l.is_kept_back
)`;

const refusedStep = `
refused as materialized (
  (select unnest($6::uuid[]) as event_id union all select unnest($8::uuid[]))
  except
  (select event_id from reserved union all select event_id from taken)
)`;

/** Lanes are locked in a fixed order, after keys and subjects, so that batches do not deadlock. */
const laneSteps = (locksBefore: string) => `
foreign_lanes as materialized (
  select l.endpoint_id, l.owner, l.ready_at, l.paused
  from posthorn.lanes l
  where l.endpoint_id = any ($15::uuid[])
    and exists (select from gate)
    and (select count(*) from ${locksBefore}) >= 0
  order by l.endpoint_id
  for no key update
),
gained as (
  update posthorn.lanes l
  set owner = gate.id
  from foreign_lanes f, gate
  where l.endpoint_id = f.endpoint_id
    and f.owner is null
    and f.ready_at is null
    and not f.paused
    and f.endpoint_id = any ($16::uuid[])
  returning l.endpoint_id
),
made_ready as (
  update posthorn.lanes l
  set ready_at = posthorn.now()
  from foreign_lanes f
  where l.endpoint_id = f.endpoint_id
    and f.owner is null
    and (f.ready_at > posthorn.now() or (f.ready_at is null and (f.paused or f.endpoint_id <> all ($16::uuid[]))))
)`;

const queueStep = (leftOut: string) => `
queued as (
  insert into posthorn.queue (id, event_id, endpoint_id, next_at, schedule_started_at, claimed_by)
  select d.id, d.event_id, d.endpoint_id, posthorn.now(), posthorn.now(),
    case when d.claim = 1 or (d.claim = 2 and gained.endpoint_id is not null) then gate.id end
  from gate
  cross join unnest($17::uuid[], $18::uuid[], $19::uuid[], $20::smallint[]) as d (id, event_id, endpoint_id, claim)
  left join gained on gained.endpoint_id = d.endpoint_id
  where not exists (select from ${leftOut} out where out.event_id = d.event_id)
)`;

/**
 * The same for ordered deliveries, claimed on insert only if no earlier delivery of the subject is unfinished and
 * nothing holds the subject.
 */
const queueInOrderStep = `
queued_in_order as (
  insert into posthorn.queue (id, event_id, endpoint_id, next_at, schedule_started_at, subject, sequence, claimed_by)
  select d.id, d.event_id, d.endpoint_id, posthorn.now(), posthorn.now(), d.subject, d.sequence,
    case
      when (d.claim = 1 or (d.claim = 2 and gained.endpoint_id is not null))
        and ${isFirstInSubject("d")}
      then gate.id
    end
  from gate
  cross join (
    select o.*, numbers.sequences[o.place] as sequence
    from numbers
    cross join unnest($26::uuid[], $27::uuid[], $28::uuid[], $29::smallint[], $30::integer[], $31::text[])
      as o (id, event_id, endpoint_id, claim, place, subject)
  ) d
  left join gained on gained.endpoint_id = d.endpoint_id
  where not exists (select from left_out out where out.event_id = d.event_id)
  returning id, claimed_by
)`;

const resultColumns = `
  exists (select from gate) as written,
  (select json_agg(tenant) from stale) as stale,
  (select json_agg(event_id) from refused) as refused,
  (
    select json_agg(json_build_array(
      f.endpoint_id, f.owner, g.endpoint_id is not null, ${healthColumn("g.endpoint_id")}
    ))
    from foreign_lanes f
    left join gained g on g.endpoint_id = f.endpoint_id
  ) as lanes`;

const ingestText = (extra: Extra): string => `
with ${gateSteps},
${reserveStep(4)},
${waitingStep},
taken as (
  delete from posthorn.outbox o
  where o.event_id = any (array(select waiting.event_id from waiting))
  returning o.event_id
),
${refusedStep},
stored as (
  insert into posthorn.events (id, tenant, type, api_version, payload${extra.names})
  select e.id, e.tenant, e.type, e.api_version, e.payload${extra.values}
  from gate, unnest(
    $9::uuid[], $10::text[], $11::text[], $12::text[], $13::text[], $14::bytea[]${extra.parameters(21)}
  ) as e (id, tenant, type, api_version, subject, payload${extra.names})
  where not exists (select from refused where refused.event_id = e.id)
),
${laneSteps("refused")},
${queueStep("refused")}${extra.steps(21, "refused")}
select ${resultColumns}
`;

const ingestSubjectsText = (extra: Extra): string => `
with ${gateSteps},
${reserveStep(4)},
${waitingStep},
${deferredStep},
taken as (
  delete from posthorn.outbox o
  where o.event_id = any (array(
      select waiting.event_id
      from waiting
      where (waiting.event_id in (select event_id from kept_back)) is not true
    ))
  returning o.event_id
),
${refusedStep},
${numberSteps(21)},
stored as (
  insert into posthorn.events (
    id, tenant, type, api_version, subject, sequence, payload${extra.names}
  )
  select e.id, e.tenant, e.type, e.api_version, e.subject, numbers.sequences[e.place],
    e.payload${extra.values}
  from gate
  cross join numbers
  cross join unnest(
    $9::uuid[], $10::text[], $11::text[], $12::text[], $13::text[], $14::bytea[],
    $25::integer[]${extra.parameters(33)}
  ) as e (id, tenant, type, api_version, subject, payload, place${extra.names})
  where not exists (select from refused where refused.event_id = e.id)
),
deferred as (
  insert into posthorn.outbox (event_id, tenant, subject, sequence)
  select k.event_id, k.tenant, k.subject, k.sequence
  from kept_back k
  where k.event_id = any ($32::uuid[])
    and k.event_id <> all ($8::uuid[])
  returning event_id
),
left_out as materialized (
  select event_id from refused
  union all
  select event_id from deferred
),
${laneSteps("numbers")},
${queueStep("left_out")},
${queueInOrderStep}${extra.steps(33, "left_out")}
select
  (select array_to_json(sequences) from numbers) as sequences,
  (select json_agg(event_id) from deferred) as deferred,
  (select json_agg(id) from queued_in_order where claimed_by is null) as behind,
  ${resultColumns}
`;

/** Optional columns and steps. `first` is the number of their first parameter. */
interface Extra {
  readonly names: string;
  readonly values: string;
  parameters(first: number): string;
  steps(first: number, leftOut: string): string;
}

const plain: Extra = { names: "", values: "", parameters: () => "", steps: () => "" };

const traced: Extra = {
  names: ", traceparent",
  values: ", e.traceparent",
  parameters: (first) => `, $${first}::text[]`,
  steps: () => "",
};

const rich: Extra = {
  names: ", traceparent, attributes",
  values: ", e.traceparent, e.attributes::jsonb",
  parameters: (first) => `, $${first}::text[], $${first + 1}::text[]`,
  steps: (first, leftOut) => `,
collecting as (
  insert into posthorn.pending_batch_events (endpoint_id, event_id, bytes)
  select c.endpoint_id, c.event_id, c.bytes
  from gate
  cross join unnest($${first + 2}::uuid[], $${first + 3}::uuid[], $${first + 4}::integer[])
    with ordinality as c (endpoint_id, event_id, bytes, place)
  where not exists (select from ${leftOut} out where out.event_id = c.event_id)
  order by c.place
)`,
};

export const ingestStatements = {
  plain: {
    plain: statement("ingest")`${ingestText(plain)}`,
    traced: statement("ingest traced")`${ingestText(traced)}`,
    rich: statement("ingest rich")`${ingestText(rich)}`,
  },
  subjects: {
    plain: statement("ingest subjects")`${ingestSubjectsText(plain)}`,
    traced: statement("ingest subjects traced")`${ingestSubjectsText(traced)}`,
    rich: statement("ingest subjects rich")`${ingestSubjectsText(rich)}`,
  },
};
