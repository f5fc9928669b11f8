// What is measured: Posthorn, or the ceiling. Both take the same requests and send to the same receiver.
import type pg from "pg";
import type { CeilingOptions } from "./ceiling.ts";
import { adminKey, type PosthornServer } from "./posthorn-server.ts";
import type { World } from "./world.ts";

export interface Subject {
  readonly database: string;
  readonly port: number;
  readonly pid: number;
  readonly key: string;
  /** Deliveries written down as successful since it began. */
  settledCount(): Promise<number>;
  /** Whether that many are, or nothing is owed any more: cheap enough to be asked every few milliseconds. */
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
  const key = isChecked ? await server.demandChecks() : adminKey;
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
      if (server.log !== "") console.error(`posthorn serve said:\n${server.log}`);
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
  const helper = world.startHelper("./ceiling.ts");
  const options: CeilingOptions = {
    database: await world.createDatabase(database),
    receiverPorts: world.receiverPorts,
  };
  const port = await helper.ask<number>("start", options);
  const settled = () => helper.ask<number>("settled");
  return {
    database,
    port,
    pid: helper.pid,
    key: "none",
    settledCount: settled,
    hasSettled: async (count) => (await settled()) >= count,
    stop: async () => helper.stop(),
  };
}
