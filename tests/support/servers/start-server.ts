// Servers for tests, over real HTTP, and how browsers sign in to them. Receivers on loopback are allowed.
import { randomBytes } from "node:crypto";
import type { Posthorn, PosthornOptions } from "posthorn";
import { beforeAll, onTestFinished } from "vitest";
import type { Resolve } from "../../../packages/posthorn/src/attempt/guard/resolve-name.ts";
import { resolveConfig } from "../../../packages/posthorn/src/config.ts";
import { createInstance } from "../../../packages/posthorn/src/posthorn.ts";
import { resolveAnyName } from "../../../packages/posthorn/src/testing/resolve-any-name.ts";
import { createServer, type ServerOptions } from "../../../packages/server/src/server.ts";
import { createMigratedDatabase, type TestDatabase } from "../database/postgres.ts";

export const adminKey = "test-admin-key-of-more-than-32-characters";

export type TestServer = Awaited<ReturnType<typeof startServer>>;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came
  readonly json: any;
}

export interface StartOptions extends Partial<ServerOptions> {
  readonly posthorn?: Partial<PosthornOptions>;
  /** How the host names of new endpoints are resolved. Default: every name has a public address. */
  readonly resolve?: Resolve;
  /** Default true. */
  readonly started?: boolean;
  /** Default: its own database. */
  readonly database?: TestDatabase;
  /** Registers the function that stops the server. Default: at the end of the test. */
  readonly atEnd?: (stop: () => Promise<void>) => void;
}

/** Starts a server with its own database, or on `hooks` if given, which it does not stop. */
export async function startServer(options: StartOptions = {}) {
  const { posthorn, started = true, atEnd = onTestFinished, hooks: given, ...others } = options;
  const { resolve = resolveAnyName, ...rest } = others;
  const { database = given ? undefined : await createMigratedDatabase(), ...serverOptions } = rest;
  const connectionString = database?.connectionString ?? "";
  const hooks: Posthorn =
    given ??
    createInstance(
      resolveConfig({
        database: connectionString,
        encryptionKeys: `test:${randomBytes(32).toString("base64")}`,
        allowHttp: true,
        allowCidrs: ["127.0.0.0/8"],
        ...posthorn,
      }),
      { resolve },
    );
  if (options.database !== undefined) await hooks.migrate();
  if (started && !given) await hooks.start({ role: "all" });
  const server = createServer({ hooks, port: 0, adminKey, ...serverOptions });
  const { url } = await server.start();
  const stop = async (): Promise<void> => {
    await server.stop({ graceMs: 2_000 });
    if (!given) await hooks.stop({ graceMs: 2_000 });
    await database?.drop();
  };
  atEnd(stop);
  /** Sends JSON without a key, like a browser. A string or bytes are sent as they are. */
  const visit = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    send(url, method, path, body, headers);
  /** Sends JSON with the admin key. */
  const call: typeof visit = (method, path, body, headers) =>
    visit(method, path, body, { authorization: `Bearer ${adminKey}`, ...headers });
  /** Creates a tenant, by default one that no other test uses. Returns its id. */
  const newTenant = async (input: object = {}, id = `tenant-${randomBytes(4).toString("hex")}`) => {
    await call("PUT", `/api/v1/tenants/${id}`, input);
    return id;
  };
  return {
    url,
    hooks,
    connectionString,
    call,
    visit,
    newTenant,
    /** Creates an endpoint for all events, by default of a new tenant. `path` is its path in the API. */
    async newEndpoint(input: object = {}, of?: string) {
      const tenant = await newTenant({}, of);
      const { status, text, json } = await call("POST", `/api/v1/tenants/${tenant}/endpoints`, {
        url: "https://hooks.example/in",
        events: ["*"],
        ...input,
      });
      if (status !== 201) throw new Error(`The endpoint was not created: ${status} ${text}`);
      const path = `/api/v1/tenants/${tenant}/endpoints/${json.id}`;
      return { tenant, path, id: json.id as string, secret: json.secret as string };
    },
    /** Creates a key and returns the headers of requests with it. */
    async keyHeaders(scopes: readonly string[], tenant?: string): Promise<Record<string, string>> {
      const { status, text, json } = await call("POST", "/api/v1/keys", { name: "test", scopes, tenant });
      if (status !== 201) throw new Error(`The key was not created: ${status} ${text}`);
      return { authorization: `Bearer ${json.key}` };
    },
    stop,
  };
}

/** One server for all tests of a file, which use their own tenants. Call it at the top of the file. */
export function sharedServer(options: StartOptions = {}): TestServer {
  const shared = {} as TestServer;
  beforeAll(async () => {
    Object.assign(shared, await startServer({ ...options, atEnd: () => {} }));
    return () => shared.stop();
  });
  return shared;
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
  const { status, headers: received } = response;
  return { status, headers: received, text, json: jsonOf(received.get("content-type") ?? "", text) };
}

/** An export has its rows in `data`, like a list. */
function jsonOf(contentType: string, text: string): unknown {
  if (contentType.includes("ndjson"))
    return {
      data: text
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line)),
    };
  return contentType.includes("json") && text !== "" ? JSON.parse(text) : undefined;
}

function isRaw(body: unknown): body is string | Uint8Array<ArrayBuffer> {
  return typeof body === "string" || body instanceof Uint8Array;
}

/** The headers of a page without a session. */
export const visitor: Record<string, string> = { "posthorn-dashboard": "1" };
export const portalVisitor: Record<string, string> = { "posthorn-dashboard": "portal" };

/** Signs in to the portal with a code, to the dashboard with a key. Returns the headers for `server.visit`. */
export async function signIn(
  server: Pick<TestServer, "visit">,
  given: { readonly key: string } | { readonly code: string },
  headers: Record<string, string> = "code" in given ? portalVisitor : visitor,
): Promise<{ readonly answer: Answer; readonly headers: Record<string, string> }> {
  const answer = await server.visit("POST", "/api/v1/session", given, headers);
  const [cookie = ""] = (answer.headers.get("set-cookie") ?? "").split(";");
  return { answer, headers: { ...headers, cookie } };
}

/** Returns the one-time code of a link. */
export function codeIn(url: string): string {
  return new URL(url).hash.replace("#code=", "");
}
