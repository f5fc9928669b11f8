// The measured server: Posthorn or the ceiling. Both accept the same requests and send to the same receiver.
import type pg from "pg";
import type { CeilingOptions } from "./programs/ceiling.ts";
import type { Load, LoadResult } from "./programs/generator.ts";
import { adminKey, type PosthornServer } from "./programs/posthorn-server.ts";
import type { World } from "./world.ts";

const publishMs = 120_000;

export interface Subject {
  readonly database: string;
  readonly port: number;
  readonly pid: number;
  readonly key: string;
  /** Returns the number of recorded successes. Called while no success is outstanding: the next counts start there. */
  settledCount(): Promise<number>;
  /** Returns whether there are `count` recorded successes. */
  hasSettled(count: number): Promise<boolean>;
  stop(): Promise<void>;
}

export async function startPosthorn(
  world: World,
  database: string,
  profileDir: string | undefined,
  { isChecked = false, receivers = world.receivers, env = {} as Readonly<Record<string, string>> } = {},
): Promise<Subject & { readonly server: PosthornServer; lanesPerWorker(): Promise<string> }> {
  const url = await world.createDatabase(database);
  const server = await world.startServer({ database: url, role: "all", profileDir, env });
  await server.createEndpoints(receivers);
  const key = isChecked ? await server.requireChecks() : adminKey;
  const sql = await world.connect(url);
  // without statistics of the last seconds, the planner would read the whole table at every poll
  await sql.query("set enable_seqscan = off; set max_parallel_workers_per_gather = 0");
  // Each delivery is counted once: reading the whole table would replace what PostgreSQL has in memory.
  let counted = { count: 0, atMs: 0 };
  const countAll = async () => counted.count + (await settledCount(sql, counted.atMs));
  return {
    server,
    database,
    port: server.port,
    pid: server.pid,
    key,
    settledCount: async () => {
      const atMs = Date.now();
      counted = { count: await countAll(), atMs };
      return counted.count;
    },
    hasSettled: async (count) => (await countAll()) >= count,
    lanesPerWorker: () => lanesPerWorker(sql),
    stop: async () => {
      await server.stop();
      if (server.log !== "") console.error(`posthorn serve logged:\n${server.log}`);
    },
  };
}

/** Publishes `count` events as the load says, and returns how many were accepted. */
export async function publish(
  { generator }: World,
  { port }: PosthornServer,
  count: number,
  how: Pick<Load, "batch" | "connections" | "rate">,
): Promise<number> {
  const load: Load = { ...how, port, key: adminKey, durationMs: publishMs, maxEvents: count };
  return (await generator.call<LoadResult>("run", load)).accepted;
}

/** Counts the successes of events that were created since then. */
export async function settledCount(sql: pg.Client, sinceMs = 0): Promise<number> {
  const text = `
    select count(*)::integer as count
    from posthorn.deliveries
    where state = 'success'
      and id >= posthorn.lowest_uuid_at(to_timestamp($1::float8 / 1000))`;
  const { rows } = await sql.query<{ count: number }>(text, [sinceMs]);
  return rows[0]?.count ?? 0;
}

export async function queueIsEmpty(sql: pg.Client): Promise<boolean> {
  const { rows } = await sql.query<{ empty: boolean }>(
    "select not exists (select from posthorn.unfinished) as empty",
  );
  return rows[0]?.empty ?? false;
}

async function lanesPerWorker(sql: pg.Client): Promise<string> {
  const { rows } = await sql.query<{ lanes: number }>(
    "select count(*)::integer as lanes from posthorn.lanes where owner is not null group by owner order by 1",
  );
  return rows.map(({ lanes }) => lanes).join(" · ");
}

export async function startCeiling(
  world: World,
  database: string,
  receivers = world.receivers,
): Promise<Subject> {
  const subprocess = world.startSubprocess(new URL("./programs/ceiling.ts", import.meta.url));
  const options: CeilingOptions = {
    database: await world.createDatabase(database),
    receivers,
  };
  const port = await subprocess.call<number>("start", options);
  const settled = () => subprocess.call<number>("settled");
  return {
    database,
    port,
    pid: subprocess.pid,
    key: "none",
    settledCount: settled,
    hasSettled: async (count) => (await settled()) >= count,
    stop: async () => subprocess.stop(),
  };
}
