// A whole server for a test: its own database, real HTTP on a free port, loopback receivers allowed.
import { randomBytes } from "node:crypto";
import { createPosthorn, type Posthorn, type PosthornOptions } from "posthorn";
import { beforeAll, onTestFinished } from "vitest";
import { createServer, type ServerOptions } from "../../packages/server/src/server.ts";
import { createMigratedDatabase, type TestDatabase } from "./postgres.ts";

export const adminKey = "test-admin-key-of-more-than-32-characters";

export interface TestServer {
  readonly url: string;
  readonly hooks: Posthorn;
  readonly connectionString: string;
  /** With the admin key and JSON both ways; `body` is sent as it is when it is a string. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Without a key, as a browser: with what `headers` say alone. */
  visit(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  stop(): Promise<void>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came
  readonly json: any;
}

export async function startServer(
  options: Partial<ServerOptions> & {
    readonly posthorn?: Partial<PosthornOptions>;
    readonly started?: boolean;
    /** Default: one of its own. */
    readonly database?: TestDatabase;
    /** When it is stopped. Default: when the test has ended. */
    readonly atEnd?: (stop: () => Promise<void>) => void;
  } = {},
): Promise<TestServer> {
  const {
    posthorn,
    started = true,
    database = await createMigratedDatabase(),
    atEnd = onTestFinished,
    ...serverOptions
  } = options;
  const hooks = createPosthorn({
    database: database.connectionString,
    encryptionKeys: `test:${randomBytes(32).toString("base64")}`,
    allowHttp: true,
    allowCidrs: ["127.0.0.0/8"],
    ...posthorn,
  });
  if (options.database !== undefined) await hooks.migrate();
  if (started) await hooks.start({ role: "all" });
  const server = createServer({ hooks, port: 0, adminKey, ...serverOptions });
  const { url } = await server.start();
  const stop = async (): Promise<void> => {
    await server.stop({ graceMs: 2_000 });
    await hooks.stop({ graceMs: 2_000 });
    await database.drop();
  };
  atEnd(stop);
  return {
    url,
    hooks,
    connectionString: database.connectionString,
    call: (method, path, body, headers) =>
      send(url, method, path, body, { authorization: `Bearer ${adminKey}`, ...headers }),
    visit: (method, path, body, headers) => send(url, method, path, body, headers),
    stop,
  };
}

/** One server for all tests of a file, which use tenants of their own. Call it at the top of the file. */
export function sharedServer(options: Parameters<typeof startServer>[0] = {}): () => TestServer {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ ...options, atEnd: () => {} });
    return () => server.stop();
  });
  return () => server;
}

export async function send(
  url: string,
  method: string,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body: isRaw(body) ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.includes("json") && text !== "";
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: isJson ? JSON.parse(text) : undefined,
  };
}

function isRaw(body: unknown): body is string | Uint8Array<ArrayBuffer> {
  return typeof body === "string" || body instanceof Uint8Array;
}
