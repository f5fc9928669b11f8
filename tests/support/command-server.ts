// A server of one test file, the command that talks to it, and receivers for its endpoints.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import { type CommandOptions, type CommandResult, runCommand } from "./run-command.ts";
import { adminKey, startServer, type TestServer } from "./start-server.ts";

export interface CommandServer {
  server(): TestServer;
  /** With the admin key of that server. */
  posthorn(args: readonly string[], options?: CommandOptions): Promise<CommandResult>;
  makeEndpoint(tenant: string, url: string): Promise<string>;
  /** The delivery of an event that has one endpoint, when it has come to that state. */
  deliveryOf(event: string, state: string): Promise<{ id: string }>;
}

export function useCommandServer(): CommandServer {
  let server: TestServer;
  let stop: () => Promise<void>;
  beforeAll(async () => {
    server = await startServer({
      atEnd: (end) => {
        stop = end;
      },
      posthorn: { retryPolicy: "1h" },
    });
  });
  afterAll(() => stop());

  const posthorn: CommandServer["posthorn"] = (args, options = {}) =>
    runCommand(args, {
      ...options,
      env: { POSTHORN_URL: server.url, POSTHORN_API_KEY: adminKey, ...options.env },
    });
  return {
    server: () => server,
    posthorn,
    makeEndpoint: async (tenant, url) => {
      await posthorn(["tenants", "put", tenant]);
      const { json } = await posthorn(["endpoints", "create", url, "--tenant", tenant, "--json"]);
      return json.id;
    },
    deliveryOf: async (event, state) => {
      const find = async () => (await posthorn(["events", "get", event, "--json"])).json.deliveries[0];
      await expect.poll(async () => (await find())?.state, { timeout: 20_000 }).toBe(state);
      return await find();
    },
  };
}

/** A receiver that answers what it is told, and its URL. */
export async function receiver(status: number, body = ""): Promise<string> {
  const http = createServer((request, response) => {
    request.resume().on("end", () => response.writeHead(status).end(body));
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void http.close());
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/in`;
}
