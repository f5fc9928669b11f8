// A hub for tests: a real server over HTTP, on a database whose clock is moved.

import type { PosthornOptions } from "posthorn";
import { createTestInstance, type TestInstance } from "posthorn/testing";
import { createServer } from "../../../packages/server/src/server.ts";
import { createMigratedDatabase } from "../postgres.ts";
import { adminKey } from "../start-server.ts";

/** Where subscribers are told that it is; what they really talk to is on loopback. */
export const publicUrl = "https://hub.example.com";
export const hubUrl = `${publicUrl}/websub`;
export const topicUrl = (tenant: string, type: string): string => `${hubUrl}/topics/${tenant}/${type}`;

export interface TestHub extends Pick<TestInstance, "advance" | "settle" | "hooks"> {
  /** Of the server on loopback. */
  readonly url: string;
  readonly connectionString: string;
  post(form: Readonly<Record<string, string>> | string, path?: string): Promise<Reply>;
  get(path: string, headers?: Record<string, string>): Promise<Reply>;
  /** Without a body. */
  send(method: string, path: string, headers?: Record<string, string>): Promise<Reply>;
  stop(): Promise<void>;
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export async function startHub(options: Partial<PosthornOptions> = {}): Promise<TestHub> {
  const database = await createMigratedDatabase();
  const { connectionString } = database;
  const { hooks, advance, settle, close } = await createTestInstance({
    database: connectionString,
    publicUrl,
    websub: {},
    ...options,
  });
  const server = createServer({ hooks, port: 0, adminKey });
  const { url } = await server.start();
  const send = async (path: string, init: RequestInit): Promise<Reply> => {
    const response = await fetch(url + path, init);
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  return {
    url,
    hooks,
    connectionString,
    advance,
    settle,
    post: (form, path = "/websub") =>
      send(path, {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: typeof form === "string" ? form : new URLSearchParams(form).toString(),
      }),
    get: (path, headers = {}) => send(path, { headers }),
    send: (method, path, headers = {}) => send(path, { method, headers }),
    async stop() {
      await server.stop({ graceMs: 2_000 });
      await close();
      await database.drop();
    },
  };
}
