// The environment of the benchmark on this machine: an embedded PostgreSQL, the receiver, the load generator and the
// servers under test. `close` stops everything.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { type EmbeddedPostgres, openEmbeddedPostgres } from "../packages/embedded-postgres/src/open.ts";
import { certificates } from "../tests/support/samples/certificates.ts";
import { PosthornServer, type ServerOptions } from "./programs/posthorn-server.ts";
import { Subprocess } from "./system/subprocess.ts";

export class World {
  receiver!: Subprocess;
  generator!: Subprocess;
  /** Origins of the receiver, one per endpoint. */
  receivers: readonly string[] = [];
  sql!: pg.Client;
  postgresVersion = "unknown";
  postmasterPid = 0;
  #postgres!: EmbeddedPostgres;
  readonly #scratchDir = mkdtempSync(join(tmpdir(), "posthorn-bench-"));
  readonly #subprocesses: Subprocess[] = [];
  readonly #servers: PosthornServer[] = [];
  readonly #clients: pg.Client[] = [];
  #closing: Promise<void> | undefined;

  private constructor() {}

  static async create(): Promise<World> {
    const world = new World();
    try {
      await world.#open();
      return world;
    } catch (error) {
      await world.close();
      throw error;
    }
  }

  async #open(): Promise<void> {
    // as root, PostgreSQL runs under another account, which needs access
    chmodSync(this.#scratchDir, 0o755);
    const settings = {
      shared_preload_libraries: "pg_stat_statements",
      // the part `processes` keeps eleven of them connected
      max_connections: "200",
    };
    this.#postgres = await openEmbeddedPostgres({
      dataDir: this.#scratchDir,
      settings,
      onProgress: console.error,
    });
    this.sql = await this.connect(this.#postgres.connectionString);
    await this.sql.query("create extension pg_stat_statements");
    const { rows } = await this.sql.query<{ version: string; pid: string }>(
      `select current_setting('server_version') as version,
        split_part(pg_read_file('postmaster.pid'), e'\\n', 1) as pid`,
    );
    this.postgresVersion = rows[0]?.version ?? "unknown";
    this.postmasterPid = Number(rows[0]?.pid);
    const authority = join(this.#scratchDir, "authority.pem");
    writeFileSync(authority, certificates.authority);
    // inherited by the servers
    process.env.NODE_EXTRA_CA_CERTS = authority;
    this.receiver = this.startSubprocess(new URL("./programs/receiver.ts", import.meta.url));
    this.generator = this.startSubprocess(new URL("./programs/generator.ts", import.meta.url));
    this.receivers = await this.#listen("http");
  }

  /** Opens ports for https, and returns their origins. */
  openTlsReceivers(): Promise<string[]> {
    return this.#listen("https");
  }

  async #listen(scheme: "http" | "https"): Promise<string[]> {
    const ports = await this.receiver.call<number[]>("listen", scheme);
    return ports.map((port) => `${scheme}://127.0.0.1:${port}`);
  }

  /** Creates an empty database; each subject has its own, so that statements can be attributed. */
  async createDatabase(name: string): Promise<string> {
    await this.sql.query(`create database ${name}`);
    return this.urlOf(name);
  }

  urlOf(database: string): string {
    const url = new URL(this.#postgres.connectionString);
    url.pathname = `/${database}`;
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

  startSubprocess(file: URL, flags: readonly string[] = []): Subprocess {
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
    await Promise.all(this.#clients.map((client) => client.end().catch(() => {})));
    await this.#postgres?.close();
    rmSync(this.#scratchDir, { recursive: true, force: true });
  }
}
