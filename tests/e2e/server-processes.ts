// A server of several processes.
import { request } from "node:http";
import { expect } from "vitest";
import { makeDataDir, posthorn } from "./posthorn-process.ts";

export const adminKey = "test-admin-key-of-more-than-32-characters";
export const settings = {
  POSTHORN_ADMIN_KEY: adminKey,
  POSTHORN_ALLOW_HTTP: "true",
  POSTHORN_ALLOW_CIDRS: "127.0.0.0/8",
};

// biome-ignore lint/suspicious/noExplicitAny: tests read any response
type Answer = { status: number; text: string; json: any };

/** Sends a request on a connection of its own, so that any of the processes may respond. */
export function call(
  url: string,
  method = "GET",
  body?: unknown,
  headers: Record<string, string> = {
    authorization: `Bearer ${adminKey}`,
    "content-type": "application/json",
  },
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk) => {
        text += chunk;
      });
      response.on("error", reject);
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text, json: parsed(text) }));
    });
    sent.on("error", reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

export interface Line {
  readonly message: string;
  readonly process?: number;
  readonly pid: number;
}

export async function startProcesses(
  processes: number,
  env: Record<string, string> = {},
  folder = makeDataDir(),
) {
  const running = posthorn(folder, ["serve", "--processes", String(processes)], { ...settings, ...env });
  const [, url = ""] = await running.printed(/"message":"ready","url":"([^"]+)"/);
  const lines = (message: string): Line[] =>
    running
      .output()
      .split("\n")
      .map((line) => parsed(line) as Line | null)
      .filter((line): line is Line => line?.message === message);
  return {
    running,
    url,
    folder,
    lines,
    /** Children that have been started so far, oldest first. */
    started: () => lines("server process ready"),
    metric: async (name: string): Promise<number> => {
      const { text } = await call(`${url}/metrics`);
      const line = text.split("\n").find((candidate) => candidate.startsWith(`${name} `));
      return Number(line?.slice(name.length + 1));
    },
    async createEndpoint(receiver: string): Promise<void> {
      await call(`${url}/api/v1/tenants/acme`, "PUT", {});
      const endpoint = { url: receiver, events: ["*"] };
      expect((await call(`${url}/api/v1/tenants/acme/endpoints`, "POST", endpoint)).status).toBe(201);
    },
    publish: (data: number) => {
      const event = { tenant: "acme", type: "order.paid", data, idempotency_key: `event ${data}` };
      return call(`${url}/api/v1/events`, "POST", event);
    },
  };
}

export const published = 'webhook_events_published_total{source="direct"}';

export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
