// The measured server: Posthorn or the ceiling. Both accept the same requests and send to the same receiver.
import type pg from "pg";
import type { CeilingOptions } from "./ceiling.ts";
import { adminKey, type PosthornServer } from "./posthorn-server.ts";
import type { World } from "./world.ts";

export interface Subject {
  readonly database: string;
  readonly port: number;
  readonly pid: number;
  readonly key: string;
  /** Returns the number of recorded successes. */
  settledCount(): Promise<number>;
  /** Returns whether `count` deliveries are settled or the queue is empty; cheap enough to poll. */
  hasSettled(count: number): Promise<boolean>;
  stop(): Promise<void>;
}

export async function startPosthorn(
  world: World,
  database: string,
  profileDir: string | undefined,
  { isChecked = false } = {},
): Promise<Subject & { readonly server: PosthornServer }> {
  const url = await world.createDatabase(database);
  const server = await world.startServer({ database: url, role: "all", profileDir });
  await server.createEndpoints(world.receiverPorts);
  const key = isChecked ? await server.requireChecks() : adminKey;
  const sql = await world.connect(url);
  return {
    server,
    database,
    port: server.port,
    pid: server.pid,
    key,
    settledCount: () => settledCount(sql),
    hasSettled: () => queueIsEmpty(sql),
    stop: async () => {
      await server.stop();
      if (server.log !== "") console.error(`posthorn serve logged:\n${server.log}`);
    },
  };
}

export async function settledCount(sql: pg.Client): Promise<number> {
  const text = "select count(*)::integer as count from posthorn.deliveries where state = 'success'";
  const { rows } = await sql.query<{ count: number }>(text);
  return rows[0]?.count ?? 0;
}

export async function queueIsEmpty(sql: pg.Client): Promise<boolean> {
  const { rows } = await sql.query<{ empty: boolean }>(
    "select not exists (select from posthorn.queue) as empty",
  );
  return rows[0]?.empty ?? false;
}

export async function startCeiling(world: World, database: string): Promise<Subject> {
  const subprocess = world.startSubprocess("./ceiling.ts");
  const options: CeilingOptions = {
    database: await world.createDatabase(database),
    receiverPorts: world.receiverPorts,
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
