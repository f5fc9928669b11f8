// A large backlog, and what it costs: memory of a server that works on it, and the time of the statement that fetches
// from it. The rows are put there by SQL, as an api process would have left them.
import { setTimeout as delay } from "node:timers/promises";
import type pg from "pg";
import { Database } from "../packages/posthorn/src/storage/database.ts";
import { fetch } from "../packages/posthorn/src/storage/queries/queue/fetch.ts";
import { releaseDeliveries } from "../packages/posthorn/src/storage/queries/queue/release.ts";
import { medianNumber } from "./measure.ts";
import { peakResidentMb, residentMb } from "./processes.ts";
import { digits, eventData, numberMark } from "./workload.ts";
import type { World } from "./world.ts";

export interface OwedWorld {
  readonly world: World;
  readonly url: string;
  readonly sql: pg.Client;
}

/** A migrated database with the endpoints, and nobody working on it. */
export async function prepareOwed(world: World): Promise<OwedWorld> {
  const url = await world.createDatabase("owed");
  const server = await world.startServer({ database: url, role: "api" });
  await server.createEndpoints(world.receiverPorts);
  await server.stop();
  return { world, url, sql: await world.connect(url) };
}

/** Leaves exactly this many owed, each its own event, spread evenly over the endpoints. */
export async function owe({ sql }: OwedWorld, count: number): Promise<void> {
  const [head = "", tail = ""] = eventData(0).split(`${numberMark}${"0".repeat(digits)}`);
  await sql.query("truncate posthorn.events, posthorn.queue");
  // uuidv7(interval) shifts the time: the events are a few minutes old, in order.
  await sql.query(
    `with owed as materialized (
       select uuidv7(make_interval(secs => -300)) as event_id, uuidv7(make_interval(secs => -300)) as id, n,
         ep.id as endpoint_id, ep.tenant, ep.events[1] as type
       from generate_series(0, $1::integer - 1) as n
       join (select *, row_number() over (order by id) - 1 as place from posthorn.endpoints) ep
         on ep.place = n % (select count(*) from posthorn.endpoints)
     ),
     stored as (
       insert into posthorn.events (id, tenant, type, api_version, payload)
       select event_id, tenant, type, '1', convert_to($2::text || lpad(n::text, $4::integer, '0') || $3::text, 'UTF8')
       from owed
     )
     insert into posthorn.queue (id, event_id, endpoint_id, next_at, schedule_started_at)
     select id, event_id, endpoint_id, now() - make_interval(mins => 5), now() - make_interval(mins => 5)
     from owed`,
    [count, head + numberMark, tail, digits],
  );
  await sql.query("update posthorn.lanes set ready_at = now(), owner = null");
  await sql.query("vacuum (analyze) posthorn.queue, posthorn.events");
}

const lanesPerFetch = 60;
const roomPerLane = 5;
const fetches = 41;

/** Milliseconds of one fetch as a worker sends it: 60 lanes, 5 rows each. */
export async function fetchMs({ sql, url }: OwedWorld): Promise<number> {
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
    // a direct connection lets it prepare its statements, as in a server
    await (await db.connect()).close();
    for (let index = 0; index < fetches; index += 1) {
      const turns = Array.from({ length: lanesPerFetch }, (_, place) => ({
        endpointId: lanes[(index * lanesPerFetch + place) % lanes.length]?.endpoint_id as string,
        room: roomPerLane,
      }));
      const startedAt = performance.now();
      const { deliveries: fetched } = await fetch(db, workerId, turns);
      times.push(performance.now() - startedAt);
      if (fetched.length === 0) throw new Error("The fetch brought nothing.");
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
  // the first ones plan the statement
  return medianNumber(times.slice(10));
}

export interface MemoryFigures {
  readonly peakMb: number | null;
  readonly endMb: number | null;
  readonly perSecond: number;
}

/** Receivers answer after 200 ms, so that as many attempts as allowed are in the air all the time. */
export async function workOnOwed(
  { world, url }: OwedWorld,
  count: number,
  durationMs: number,
): Promise<MemoryFigures> {
  await world.receiver.ask("expect", count);
  await world.receiver.ask("delay", 200);
  const server = await world.startServer({ database: url, role: "all" });
  try {
    await delay(durationMs);
    const { count: arrived } = await world.receiver.ask<{ count: number }>("progress");
    if (arrived === 0) throw new Error(`Nothing of the backlog arrived.\n${server.log}`);
    return {
      peakMb: peakResidentMb(server.pid),
      endMb: residentMb(server.pid),
      perSecond: arrived / (durationMs / 1000),
    };
  } finally {
    server.kill();
    await world.receiver.ask("delay", 0);
  }
}
