// The environment of the benchmark on this machine: an embedded PostgreSQL, the receiver, the load generator and the
// servers under test. `close` stops everything.
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { type EmbeddedPostgres, openEmbeddedPostgres } from "../packages/embedded-postgres/src/open.ts";
import { PosthornServer, type ServerOptions } from "./posthorn-server.ts";
import { Subprocess } from "./subprocess.ts";

export class World {
  readonly receiver: Subprocess;
  readonly generator: Subprocess;
  readonly receiverPorts: readonly number[];
  readonly sql: pg.Client;
  readonly postgresVersion: string;
  readonly postmasterPid: number;
  readonly #postgres: EmbeddedPostgres;
  readonly #scratchDir: string;
  readonly #subprocesses: Subprocess[];
  readonly #servers: PosthornServer[] = [];
  readonly #clients: pg.Client[] = [];
  #closing: Promise<void> | undefined;

  private constructor(parts: {
    readonly postgres: EmbeddedPostgres;
    readonly scratchDir: string;
    readonly sql: pg.Client;
    readonly receiver: Subprocess;
    readonly generator: Subprocess;
    readonly receiverPorts: readonly number[];
    readonly about: { readonly version: string; readonly postmasterPid: number };
  }) {
    this.#postgres = parts.postgres;
    this.#scratchDir = parts.scratchDir;
    this.sql = parts.sql;
    this.receiver = parts.receiver;
    this.generator = parts.generator;
    this.receiverPorts = parts.receiverPorts;
    this.postgresVersion = parts.about.version;
    this.postmasterPid = parts.about.postmasterPid;
    this.#subprocesses = [parts.receiver, parts.generator];
  }

  static async create(): Promise<World> {
    const scratchDir = mkdtempSync(join(tmpdir(), "posthorn-bench-"));
    // as root, PostgreSQL runs under another account, which needs access
    chmodSync(scratchDir, 0o755);
    let postgres: EmbeddedPostgres | undefined;
    try {
      const settings = { shared_preload_libraries: "pg_stat_statements" };
      postgres = await openEmbeddedPostgres({ dataDir: scratchDir, settings, onProgress: console.error });
      const sql = new pg.Client({ connectionString: postgres.connectionString });
      await sql.connect();
      await sql.query("create extension pg_stat_statements");
      const about = await describeServer(sql);
      const receiver = new Subprocess("./receiver.ts");
      const generator = new Subprocess("./generator.ts");
      const receiverPorts = await receiver.call<number[]>("listen");
      return new World({ postgres, scratchDir, sql, receiver, generator, receiverPorts, about });
    } catch (error) {
      await postgres?.close();
      rmSync(scratchDir, { recursive: true, force: true });
      throw error;
    }
  }

  /** Creates an empty database; each subject has its own, so that statements can be attributed. */
  async createDatabase(name: string): Promise<string> {
    await this.sql.query(`create database ${name}`);
    const url = new URL(this.#postgres.connectionString);
    url.pathname = `/${name}`;
    return url.href;
  }

  async connect(database: string): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: database });
    client.on("error", () => {});
    await client.connect();
    this.#clients.push(client);
    return client;
  }

  async startServer(options: Omit<ServerOptions, "scratchDir">): Promise<PosthornServer> {
    const server = await PosthornServer.start({ ...options, scratchDir: this.#scratchDir });
    this.#servers.push(server);
    return server;
  }

  startSubprocess(file: string, flags: readonly string[] = []): Subprocess {
    const subprocess = new Subprocess(file, flags);
    this.#subprocesses.push(subprocess);
    return subprocess;
  }

  get isClosed(): boolean {
    return this.#closing !== undefined;
  }

  /** Can be called twice. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const server of this.#servers) server.kill();
    for (const subprocess of this.#subprocesses) subprocess.stop();
    await Promise.all([this.sql, ...this.#clients].map((client) => client.end().catch(() => {})));
    await this.#postgres.close();
    rmSync(this.#scratchDir, { recursive: true, force: true });
  }
}

async function describeServer(sql: pg.Client): Promise<{ version: string; postmasterPid: number }> {
  const version = await sql.query<{ server_version: string }>("show server_version");
  const pidFile = await sql.query<{ pid: string }>(
    "select split_part(pg_read_file('postmaster.pid'), e'\\n', 1) as pid",
  );
  return {
    version: version.rows[0]?.server_version ?? "unknown",
    postmasterPid: Number(pidFile.rows[0]?.pid),
  };
}
