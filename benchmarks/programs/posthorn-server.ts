// `posthorn serve` from the bundle in its own process, with production settings except that loopback receivers are allowed.
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { nodeFlags } from "../system/node-flags.ts";
import { freePort } from "../system/ports.ts";
import { dataSchema, endpointCount, endpointsPerTenant, tenantOf, typeOf } from "../workload.ts";

export const adminKey = randomBytes(24).toString("hex");
const encryptionKeys = `bench:${randomBytes(32).toString("base64")}`;
const command = fileURLToPath(new URL("../../packages/server/bin/posthorn.js", import.meta.url));
const startMs = 30_000;

export interface ServerOptions {
  readonly database: string;
  readonly role: "all" | "api" | "worker";
  readonly scratchDir: string;
  /** Additional settings. */
  readonly env?: Readonly<Record<string, string>>;
  /** Folder for a CPU profile, written when it stops. */
  readonly profileDir?: string | undefined;
}

export class PosthornServer {
  readonly port: number;
  readonly #child: ChildProcess;
  #errors = "";

  private constructor(options: ServerOptions, port: number) {
    const { database, role, scratchDir, profileDir, env } = options;
    this.port = port;
    const profile = profileDir === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profileDir}`];
    const dataDir = join(scratchDir, "posthorn");
    mkdirSync(dataDir, { recursive: true });
    this.#child = spawn(process.execPath, [...nodeFlags, ...profile, command, "serve", "--role", role], {
      cwd: scratchDir,
      env: {
        PATH: process.env.PATH,
        NODE_ENV: "production",
        NODE_OPTIONS: process.env.NODE_OPTIONS ?? "",
        NODE_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS,
        DATABASE_URL: database,
        PORT: String(port),
        LOG_LEVEL: "warn",
        POSTHORN_PROCESSES: "1",
        POSTHORN_DATA_DIR: dataDir,
        POSTHORN_ADMIN_KEY: adminKey,
        POSTHORN_ENCRYPTION_KEYS: encryptionKeys,
        POSTHORN_ALLOW_HTTP: "true",
        POSTHORN_ALLOW_CIDRS: "127.0.0.0/8",
        POSTHORN_MAX_ENDPOINTS_PER_TENANT: String(endpointCount),
        ...env,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on("data", (chunk: Buffer) => {
        this.#errors = (this.#errors + chunk.toString()).slice(-4_000);
      });
    }
  }

  static async start(options: ServerOptions): Promise<PosthornServer> {
    const server = new PosthornServer(options, await freePort());
    try {
      await server.#ready();
    } catch (error) {
      server.kill();
      throw error;
    }
    return server;
  }

  get pid(): number {
    return this.#child.pid as number;
  }

  /** Its log; empty unless something failed. */
  get log(): string {
    return this.#errors;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async stop(): Promise<void> {
    if (!this.isRunning) return;
    const gone = once(this.#child, "exit");
    this.#child.kill("SIGTERM");
    const late = setTimeout(() => this.kill(), 15_000);
    await gone;
    clearTimeout(late);
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  /** Creates tenants and endpoints by the API, one endpoint per receiver. */
  async createEndpoints(receivers: readonly string[]): Promise<void> {
    for (let index = 0; index < endpointCount; index += endpointsPerTenant) {
      await this.call("PUT", `/api/v1/tenants/${tenantOf(index)}`, {});
    }
    for (const [index, origin] of receivers.entries()) {
      const endpoint = { url: `${origin}/hook`, events: [typeOf(index)] };
      await this.call("POST", `/api/v1/tenants/${tenantOf(index)}/endpoints`, endpoint);
    }
  }

  /** Creates a schema for every type, and returns a key with limited scope as producers use it. */
  async requireChecks(): Promise<string> {
    for (let index = 0; index < endpointsPerTenant; index += 1) {
      await this.call("PUT", `/api/v1/event-types/${typeOf(index)}`, { schema: dataSchema });
    }
    const key = { name: "producer", scopes: ["events:publish"], rate_limit: 100_000 };
    return (await this.call<{ key: string }>("POST", "/api/v1/keys", key)).key;
  }

  async call<Result>(method: string, path: string, body: unknown): Promise<Result> {
    const response = await fetch(`http://127.0.0.1:${this.port}${path}`, {
      method,
      headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} returned ${response.status}: ${text}`);
    return JSON.parse(text) as Result;
  }

  async #ready(): Promise<void> {
    const deadline = performance.now() + startMs;
    while (performance.now() < deadline) {
      if (!this.isRunning) break;
      const response = await fetch(`http://127.0.0.1:${this.port}/readyz`).catch(() => null);
      await response?.arrayBuffer();
      if (response?.ok) return;
      await delay(20);
    }
    throw new Error(`posthorn serve did not become ready. Its log:\n${this.#errors}`);
  }
}
