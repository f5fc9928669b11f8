// Measures the memory of a server with a large backlog, and the statement that fetches from it. SQL inserts the rows as an
// API process would.
import { setTimeout as delay } from "node:timers/promises";
import type pg from "pg";
import { Database } from "../../packages/posthorn/src/storage/database.ts";
import { fetch } from "../../packages/posthorn/src/storage/queries/queue/fetch.ts";
import { releaseDeliveries } from "../../packages/posthorn/src/storage/queries/queue/release.ts";
import { medianNumber } from "../measure.ts";
import { peakResidentMb } from "../system/processes.ts";
import { digits, eventData, numberMark } from "../workload.ts";
import type { World } from "../world.ts";

export interface BacklogWorld {
  readonly world: World;
  readonly url: string;
  readonly sql: pg.Client;
}

/** Creates a migrated database with the endpoints and without workers. */
export async function prepareBacklog(world: World): Promise<BacklogWorld> {
  const url = await world.createDatabase("large_backlog");
  const server = await world.startServer({ database: url, role: "api" });
  await server.createEndpoints(world.receivers);
  await server.stop();
  return { world, url, sql: await world.connect(url) };
}

/** Replaces the queue by `count` deliveries of different events, spread evenly over the endpoints. */
export async function fillBacklog({ sql }: BacklogWorld, count: number): Promise<void> {
  const [head = "", tail = ""] = eventData(0).split(`${numberMark}${"0".repeat(digits)}`);
  await sql.query("truncate posthorn.events, posthorn.queue");
  // the events are a few minutes old
  await sql.query(
    `with queued as materialized (
       select uuidv7(make_interval(secs => -300)) as event_id, uuidv7(make_interval(secs => -300)) as id, n,
         ep.id as endpoint_id, ep.tenant, ep.events[1] as type
       from generate_series(0, $1::integer - 1) as n
       join (select *, row_number() over (order by id) - 1 as position from posthorn.endpoints) ep
         on ep.position = n % (select count(*) from posthorn.endpoints)
     ),
     stored as (
       insert into posthorn.events (id, tenant, type, api_version, payload)
       select event_id, tenant, type, '1', convert_to($2::text || lpad(n::text, $4::integer, '0') || $3::text, 'UTF8')
       from queued
     )
     insert into posthorn.queue (id, event_id, endpoint_id, next_at, schedule_started_at)
     select id, event_id, endpoint_id, now() - make_interval(mins => 5), now() - make_interval(mins => 5)
     from queued`,
    [count, head + numberMark, tail, digits],
  );
  await sql.query("update posthorn.lanes set ready_at = now(), owner = null");
  await sql.query("vacuum (analyze) posthorn.queue, posthorn.events");
}

const lanesPerFetch = 60;
const rowsPerLane = 5;
const fetches = 41;

/** Returns the milliseconds of one fetch of 60 lanes, 5 rows each, as a worker sends it. */
export async function fetchMs({ sql, url }: BacklogWorld): Promise<number> {
  const db = new Database({ database: url, schema: "posthorn" });
  const { rows: workers } = await sql.query<{ id: number }>(
    `insert into posthorn.workers (lease_expires_at, holds_liveness_lock, name)
     values (now() + interval '1 hour', false, 'benchmark')
     returning id`,
  );
  const workerId = workers[0]?.id as number;
  const { rows: lanes } = await sql.query<{ endpoint_id: string }>(
    "update posthorn.lanes set owner = $1, ready_at = null returning endpoint_id",
    [workerId],
  );
  const times: number[] = [];
  try {
    // with a direct connection statements are prepared, as in a server
    await (await db.connect()).close();
    for (let index = 0; index < fetches; index += 1) {
      const turns = Array.from({ length: lanesPerFetch }, (_, position) => ({
        endpointId: lanes[(index * lanesPerFetch + position) % lanes.length]?.endpoint_id as string,
        maxRows: rowsPerLane,
      }));
      const startedAt = performance.now();
      const { deliveries: fetched } = await fetch(db, workerId, turns);
      times.push(performance.now() - startedAt);
      if (fetched.length === 0) throw new Error("The fetch returned no deliveries.");
      await releaseDeliveries(
        db,
        workerId,
        fetched.map(({ delivery }) => delivery.id),
      );
    }
  } finally {
    await db.close();
    await sql.query("update posthorn.lanes set owner = null, ready_at = now()");
    await sql.query("delete from posthorn.workers where id = $1", [workerId]);
  }
  // without the first ones, which plan the statement
  return medianNumber(times.slice(10));
}

/** Delivers the backlog to receivers that respond after 200 ms, so that all slots are in use. */
export async function measureMemory(
  { world, url }: BacklogWorld,
  count: number,
  durationMs: number,
): Promise<{ peakMb: number; perSecond: number }> {
  await world.receiver.call("expect", count);
  await world.receiver.call("delay", 200);
  const server = await world.startServer({ database: url, role: "all" });
  try {
    await delay(durationMs);
    const { count: arrived } = await world.receiver.call<{ count: number }>("progress");
    if (arrived === 0) throw new Error(`No delivery of the backlog arrived.\n${server.log}`);
    return { peakMb: peakResidentMb(server.pid), perSecond: arrived / (durationMs / 1000) };
  } finally {
    server.kill();
    await world.receiver.call("delay", 0);
  }
}
