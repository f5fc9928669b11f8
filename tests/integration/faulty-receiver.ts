// A process with a receiver on PostgreSQL. Its handler writes an effect and then injects the fault that the event names,
// when it handles the event for the first time.
import { EventEmitter, once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createReceiver, type Mode, posthorn } from "@posthorn/receiver";
import { nodeHandler } from "@posthorn/receiver/node";
import { postgresStore } from "@posthorn/receiver/postgres";
import pg from "pg";

export interface ReceiverSettings {
  readonly connectionString: string;
  readonly mode: Mode;
  readonly secrets: readonly string[];
  readonly leaseMs: number;
}

export type HandlerFault = keyof typeof faults;

const settings = JSON.parse(process.argv[2] as string) as ReceiverSettings;
const pool = new pg.Pool({ max: 12, connectionString: settings.connectionString });
pool.on("error", () => {});

/** Emits the id of an event whose handler may continue, which the parent sends. */
const released = new EventEmitter();
process.on("message", (id: string) => released.emit(id));
process.on("disconnect", () => process.exit(0));

const faults = {
  "handler throws": async () => {
    throw new Error("as planned");
  },
  "receiver killed": () => new Promise<void>(() => process.kill(process.pid, "SIGKILL")),
  "handler slow": async (_tx: pg.PoolClient, id: string) => void (await once(released, id)),
  "connection lost in the handler": async (tx: pg.PoolClient) =>
    void (await tx.query("select pg_terminate_backend(pg_backend_pid())")),
  "connection lost before the commit": async (tx: pg.PoolClient) => {
    const { rows } = await tx.query<{ pid: number }>("select pg_backend_pid() as pid");
    await pool.query("select pg_terminate_backend($1, 10000)", [rows[0]?.pid]);
  },
  "connection lost by the commit": async (tx: pg.PoolClient) =>
    void (await tx.query("insert into last_straws default values")),
};

const receiver = createReceiver({
  sources: [posthorn({ secrets: settings.secrets })],
  store: postgresStore(pool),
  mode: settings.mode,
  leaseMs: settings.leaseMs,
  retries: { firstDelayMs: 100, maxDelayMs: 500 },
  inbox: { pollMs: 200 },
});
receiver.fallback(async ({ id, data }, { tx }) => {
  await tx.query("insert into effects (event_id) values ($1)", [id]);
  const { fault } = data as { fault: HandlerFault | null };
  if (fault === null) return;
  const { rowCount } = await pool.query("insert into injected values ($1) on conflict do nothing", [id]);
  if (rowCount === 1) await faults[fault](tx, id);
});

if (settings.mode === "inbox") await receiver.start();
const server = createServer(nodeHandler(receiver)).listen(0, "127.0.0.1", () => {
  process.send?.((server.address() as AddressInfo).port);
});
