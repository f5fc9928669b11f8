// A process with a receiver on PostgreSQL. Each of its handlers leaves an effect and then asks the parent what shall
// become of it: go on, send one more statement, throw. Whoever gets no answer waits, to be killed or to be slow.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createReceiver, type Mode, posthorn } from "@posthorn/receiver";
import { nodeHandler } from "@posthorn/receiver/node";
import { postgresStore } from "@posthorn/receiver/postgres";
import pg from "pg";

export interface DirectedSettings {
  readonly connectionString: string;
  readonly mode: Mode;
  readonly secrets: readonly string[];
  readonly leaseMs: number;
}

export interface Scene {
  readonly id: string;
  /** Of the connection on which the effect was written. */
  readonly backendPid: number;
}

export type Direction =
  | { readonly kind: "go on" }
  /** On the connection of the effect. */
  | { readonly kind: "send"; readonly statement: string }
  | { readonly kind: "throw" };

export type Tells =
  | { readonly kind: "listening"; readonly port: number }
  | { readonly kind: "in handler"; readonly call: number; readonly scene: Scene };

const settings = JSON.parse(process.argv[2] as string) as DirectedSettings;
const pool = new pg.Pool({ max: 12, connectionString: settings.connectionString });
pool.on("error", () => {});
const tell = (what: Tells) => process.send?.(what);
const directed = new Map<number, (direction: Direction) => void>();
let calls = 0;

const receiver = createReceiver({
  sources: [posthorn({ secrets: settings.secrets })],
  store: postgresStore(pool),
  mode: settings.mode,
  leaseMs: settings.leaseMs,
  retries: { firstDelayMs: 100, maxDelayMs: 500 },
  inbox: { pollMs: 200 },
});
receiver.fallback(async ({ id }, context) => {
  // in lease mode there is no transaction: the effect stays, whatever happens next
  const connection = settings.mode === "lease" ? pool : context.tx;
  const { rows } = await connection.query<{ pid: number }>(
    "insert into effects (event_id) values ($1) returning pg_backend_pid() as pid",
    [id],
  );
  const direction = await ask({ id, backendPid: rows[0]?.pid as number });
  if (direction.kind === "send") await connection.query(direction.statement);
  if (direction.kind === "throw") throw new Error("as directed");
});

function ask(scene: Scene): Promise<Direction> {
  calls += 1;
  const call = calls;
  return new Promise((resolve) => {
    directed.set(call, resolve);
    tell({ kind: "in handler", call, scene });
  });
}

process.on("message", ({ call, direction }: { call: number; direction: Direction }) => {
  directed.get(call)?.(direction);
  directed.delete(call);
});
process.on("disconnect", () => process.exit(0));

if (settings.mode === "inbox") await receiver.start();
const server = createServer(nodeHandler(receiver)).listen(0, "127.0.0.1", () => {
  tell({ kind: "listening", port: (server.address() as AddressInfo).port });
});
