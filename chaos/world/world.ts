// The environment of a run on this machine: PostgreSQL, two API processes, three workers, proxies to the database,
// receivers and publishers. `close` stops everything.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { createPosthorn, type Posthorn } from "posthorn";
import { monotonicMs } from "../../benchmarks/system/monotonic.ts";
import { freePort } from "../../benchmarks/system/ports.ts";
import { Subprocess } from "../../benchmarks/system/subprocess.ts";
import { type ChaosProxy, startChaosProxy } from "../../tests/support/database/chaos-proxy.ts";
import { type OwnPostgres, openOwnPostgres } from "../../tests/support/database/own-postgres.ts";
import {
  poolerConnections,
  presentProgram,
  type RunningServer,
  startPgbouncer,
} from "../../tests/support/processes/system-programs.ts";
import type { EndpointFacts, Exit, Memory } from "../evidence/evidence.ts";
import { givenTime } from "../evidence/given-time.ts";
import { maxAttempts, type Scale } from "../options.ts";
import { editsOf, type PlantName } from "../plant.ts";
import { canaryNames, canaryTenant, createEndpoints, receiverNames, tenants } from "./endpoints.ts";
import { ProcessorWatch } from "./processor-watch.ts";
import { Publishers } from "./publishers.ts";
import type { Opened, Opening } from "./receivers.ts";
import { type Deadline, ServerSlot } from "./server-slot.ts";
import { StallWatch } from "./stall-watch.ts";

export interface WorldOptions {
  readonly seed: number;
  readonly scale: Scale;
  readonly plant: PlantName | null;
}

const startMs = 40_000;
const hourMs = 3_600_000;

const servers = [
  { name: "a1", role: "api", skewMs: 0 },
  { name: "a2", role: "api", skewMs: 0 },
  { name: "w1", role: "worker", skewMs: 0 },
  // its clock is wrong from the start
  { name: "w2", role: "worker", skewMs: hourMs },
  { name: "w3", role: "worker", skewMs: 0 },
] as const;
/** Uses a pooler in transaction mode if one is installed, else a direct connection. */
const unproxied = "w3";
const libraryConnections = 10;
/** The pool of a process, the connection that renews its lease, and that of the write loop. */
const serverConnections = 10 + 1 + 1;

export class World {
  readonly logsDir = mkdtempSync(join(tmpdir(), "posthorn-chaos-"));
  readonly exits: Exit[] = [];
  readonly unexpectedOutput: string[] = [];
  readonly slots: ServerSlot[] = [];
  endpoints: readonly EndpointFacts[] = [];
  /** Connections to the database if all pools are full. */
  maxConnections = libraryConnections;
  postgres!: OwnPostgres;
  libraryProxy!: ChaosProxy;
  receivers!: Subprocess;
  publishers!: Publishers;
  readonly stalls = new StallWatch();
  readonly processor = new ProcessorWatch(() => this.#pids());
  readonly #options: WorldOptions;
  readonly #closers: (() => Promise<unknown> | unknown)[] = [];
  #closing: Promise<void> | undefined;

  private constructor(options: WorldOptions) {
    this.#options = options;
  }

  /** Calls `onCreated` before anything is started, so that an interrupted start can be closed. */
  static async open(options: WorldOptions, onCreated: (world: World) => void): Promise<World> {
    const world = new World(options);
    world.#closers.push(() => world.stalls.stop());
    world.#closers.push(() => world.processor.stop());
    onCreated(world);
    try {
      await world.#open();
      return world;
    } catch (error) {
      await world.close();
      throw error;
    }
  }

  get receiverLog(): string {
    return join(this.logsDir, "receivers.jsonl");
  }

  /** A deadline in given time: on a busy machine it is later. */
  deadlineIn(ms: number): Deadline {
    const from = monotonicMs();
    return () => givenTime(this.processor.samples)({ from, until: monotonicMs() }) > ms;
  }

  /** This process has started the servers and the receivers. */
  #pids(): number[] {
    const postmaster = this.postgres?.pid ?? null;
    return postmaster === null ? [process.pid] : [process.pid, postmaster];
  }

  /** Returns the memory of the largest process of each role; all must be ready. */
  async mostMemory(): Promise<Memory> {
    const sizes = await Promise.all(
      this.slots.map(async (slot) => ({ role: slot.role, bytes: await slot.rssBytes() })),
    );
    const most = (wanted: ServerSlot["role"]): number =>
      Math.max(...sizes.flatMap(({ role, bytes }) => (role === wanted ? bytes : [])));
    return { api: most("api"), worker: most("worker") };
  }

  /** Can be called twice, and while opening. Keeps the logs. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  removeLogs(): void {
    rmSync(this.logsDir, { recursive: true, force: true, maxRetries: 10 });
  }

  async #close(): Promise<void> {
    for (let close = this.#closers.pop(); close; close = this.#closers.pop()) {
      await Promise.resolve(close()).catch(() => {});
    }
  }

  /** Registers how to close a part. Throws if closing has begun. */
  #keep<Part>(part: Part, close: (part: Part) => Promise<unknown> | unknown): Part {
    this.#closers.push(() => close(part));
    if (this.#closing !== undefined) throw new Error("closed while opening");
    return part;
  }

  async #open(): Promise<void> {
    const keys = {
      admin: randomBytes(24).toString("hex"),
      encryption: `chaos:${randomBytes(32).toString("base64")}`,
    };
    // enough connections for all pools and those left behind by partitions; on a disk, so that fsync matters
    const opened = await openOwnPostgres({ max_connections: "300" }, tmpdir());
    this.postgres = this.#keep(opened, (part) => part.close());
    this.libraryProxy = await this.#openProxy();
    const library = this.#openLibrary(keys.encryption);
    await library.hooks.migrate();
    await library.pool.query("create table chaos_orders (key text primary key, event_id text not null)");
    await library.pool.query(healthHistory);
    await library.pool.query(laneHistory);
    const { ports, canaryPort } = await this.#openReceivers();
    await this.#openServers(keys);

    const urlsOf = (role: ServerSlot["role"]) =>
      this.slots.filter((slot) => slot.role === role).map((slot) => slot.url);
    const apiUrls = urlsOf("api");
    const { endpoints, secrets } = await createEndpoints({
      apiUrl: apiUrls[0] as string,
      adminKey: keys.admin,
      ports,
      canaryPort,
      query: (sql) => this.postgres.query(sql),
    });
    this.endpoints = endpoints;
    await this.receivers.call("setSecrets", secrets);
    const { seed, scale } = this.#options;
    this.publishers = new Publishers({
      seed,
      eventsPerSecond: scale.eventsPerSecond,
      logPath: join(this.logsDir, "publishers.jsonl"),
      tenants: canaryPort === null ? tenants : [...tenants, canaryTenant],
      apiUrls,
      workerUrls: urlsOf("worker"),
      adminKey: keys.admin,
      ...library,
    });
  }

  async #openReceivers(): Promise<Opened> {
    const file = new URL("./receivers.ts", import.meta.url);
    this.receivers = this.#keep(new Subprocess(file), (part) => part.stop());
    const opening: Opening = {
      seed: this.#options.seed,
      logPath: this.receiverLog,
      names: receiverNames,
      canaries: Object.values(canaryNames),
    };
    return await this.receivers.call<Opened>("open", opening);
  }

  async #openServers(keys: { readonly admin: string; readonly encryption: string }): Promise<void> {
    const { scale, plant } = this.#options;
    const common = {
      scratchDir: this.logsDir,
      edits: editsOf(plant),
      names: canaryNames,
      onExit: (exit: Exit) => this.exits.push(exit),
      onUnexpectedOutput: (line: string) => this.unexpectedOutput.push(line),
    };
    const settings = serverSettings(scale, keys.admin, keys.encryption);
    const pooler = await this.#openPooler();
    for (const { name, role, skewMs } of servers) {
      const proxy = name === unproxied ? null : await this.#openProxy();
      const database = (proxy ?? pooler ?? this.postgres).connectionString;
      this.maxConnections += proxy === null && pooler !== null ? poolerConnections : serverConnections;
      const slot = new ServerSlot({
        ...common,
        name,
        role,
        proxy,
        port: await freePort(),
        settings: { ...settings, DATABASE_URL: database },
        clockSkewMs: skewMs,
      });
      this.slots.push(this.#keep(slot, (part) => part.close()));
      slot.start();
    }
    const isOver = this.deadlineIn(startMs);
    await Promise.all(this.slots.map((slot) => slot.untilReady(isOver)));
  }

  async #openProxy(): Promise<ChaosProxy> {
    return this.#keep(await startChaosProxy(this.postgres.connectionString), (part) => part.close());
  }

  #openLibrary(encryptionKeys: string): { hooks: Posthorn; pool: pg.Pool } {
    const pool = new pg.Pool({
      connectionString: this.libraryProxy.connectionString,
      max: libraryConnections,
      connectionTimeoutMillis: 5_000,
      query_timeout: 5_000,
    });
    pool.on("error", () => {});
    pool.on("connect", (client) => client.on("error", () => {}));
    const hooks = createPosthorn({ database: pool, encryptionKeys });
    this.#keep(hooks, () => Promise.race([pool.end(), new Promise((resolve) => setTimeout(resolve, 1_000))]));
    return { hooks, pool };
  }

  async #openPooler(): Promise<RunningServer | null> {
    const program = presentProgram("pgbouncer");
    if (program === null) return null;
    return this.#keep(await startPgbouncer(program, this.postgres.connectionString), (part) => part.close());
  }
}

/** Records changes of circuits and throttles, because their rows are deleted when an endpoint recovers. */
const healthHistory = `
create table public.chaos_health (
  endpoint_id uuid not null,
  at timestamptz not null default clock_timestamp(),
  probe_at timestamptz,
  throttled_until timestamptz
);
create function public.chaos_record_health() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    insert into public.chaos_health (endpoint_id) values (old.endpoint_id);
  else
    insert into public.chaos_health (endpoint_id, probe_at, throttled_until)
    values (new.endpoint_id, new.probe_at, new.throttled_until);
  end if;
  return null;
end
$$;
create trigger chaos_health after insert or update or delete on posthorn.endpoint_health
for each row execute function public.chaos_record_health();
`;

/** Who owned which lane when, to explain a receiver that got nothing for a while. */
const laneHistory = `
create table public.chaos_lanes (
  endpoint_id uuid not null,
  at timestamptz not null default clock_timestamp(),
  owner integer,
  ready_at timestamptz
);
create function public.chaos_record_lane() returns trigger language plpgsql as $$
begin
  insert into public.chaos_lanes (endpoint_id, owner, ready_at) values (new.endpoint_id, new.owner, new.ready_at);
  return null;
end
$$;
create trigger chaos_lanes after update on posthorn.lanes
for each row when (old.owner is distinct from new.owner) execute function public.chaos_record_lane();
`;

function serverSettings(scale: Scale, adminKey: string, encryptionKeys: string): Record<string, string> {
  const gaps = Array.from(
    { length: maxAttempts - 1 },
    (_, index) => scale.gapsMs[index] ?? scale.gapsMs.at(-1),
  );
  return {
    POSTHORN_ADMIN_KEY: adminKey,
    POSTHORN_ENCRYPTION_KEYS: encryptionKeys,
    POSTHORN_ALLOW_HTTP: "true",
    POSTHORN_ALLOW_CIDRS: "127.0.0.1/32",
    POSTHORN_RETRY_POLICY: gaps.map((gap) => `${gap}ms`).join(","),
    // no delivery may become dead by redirects or 429s
    POSTHORN_RETRY_ON: "every",
    POSTHORN_TIMEOUT_MS: String(scale.timeoutMs),
    POSTHORN_LEASE_MS: String(scale.leaseMs),
    POSTHORN_METRICS_PUBLIC: "true",
    POSTHORN_SHUTDOWN_TIMEOUT_MS: "5000",
    // no endpoint may be disabled by an outage
    POSTHORN_DISABLE_AFTER_FAILURES: "1000000",
    // circuits must open and close within a run
    // reports would be events that nobody published
    POSTHORN_NOTIFY_DEAD_LETTERS: "false",
    POSTHORN_NOTIFY_CIRCUITS: "false",
    POSTHORN_CIRCUIT_FAILURES: "4",
    POSTHORN_CIRCUIT_PAUSE_MS: "300",
  };
}
