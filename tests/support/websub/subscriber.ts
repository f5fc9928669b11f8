// A WebSub subscriber on loopback that keeps to the recommendation unless it is told to misbehave.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Seen {
  readonly method: string;
  /** As it came over the wire: path and query, not parsed. */
  readonly url: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** In the order of arrival, names as they were written: name, value, name, value. */
  readonly rawHeaders: readonly string[];
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

export type Answer = {
  readonly status: number;
  readonly body?: string | Buffer;
  readonly headers?: Record<string, string>;
};

/** What it does with a request: an answer, now or later, or a connection that breaks. */
export type Behaviour = (seen: Seen) => Answer | "reset" | Promise<Answer>;

export interface Subscriber {
  readonly url: string;
  readonly seen: readonly Seen[];
  /** Verifications and denials at this path. */
  asked(path: string): readonly Seen[];
  /** Notifications at this path. */
  notified(path: string): readonly Seen[];
  /** From now on, at this path. */
  behave(path: string, behaviour: Behaviour): void;
  /** Resolves when the condition holds; it is looked at after every request. */
  until(what: string, condition: () => boolean, timeoutMs?: number): Promise<void>;
  close(): Promise<void>;
}

/** Confirms every challenge, and takes every notification. */
export const obedient: Behaviour = ({ method, query }) =>
  method === "GET" ? { status: 200, body: query.get("hub.challenge") ?? "" } : { status: 204 };

export async function startSubscriber(): Promise<Subscriber> {
  const seen: Seen[] = [];
  const behaviours = new Map<string, Behaviour>();
  const watchers = new Set<() => void>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const one = read(request, Buffer.concat(chunks));
    seen.push(one);
    const answer = (behaviours.get(one.path) ?? obedient)(one);
    for (const look of [...watchers]) look();
    reply(response, await answer);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const of = (method: string, path: string) =>
    seen.filter((one) => one.method === method && one.path === path);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    asked: (path) => of("GET", path),
    notified: (path) => of("POST", path),
    behave: (path, behaviour) => void behaviours.set(path, behaviour),
    until: (what, condition, timeoutMs = 15_000) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          watchers.delete(look);
          const shown = seen.map(({ method, url }) => `${method} ${url}`).join("\n");
          reject(new Error(`Waited ${timeoutMs} ms for ${what}. Seen so far:\n${shown}`));
        }, timeoutMs);
        const look = (): void => {
          if (!condition()) return;
          clearTimeout(timer);
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        look();
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function read(request: IncomingMessage, body: Buffer): Seen {
  const url = request.url ?? "/";
  const [path = "/", query = ""] = url.split(/\?(.*)/s);
  return {
    method: request.method ?? "",
    url,
    path,
    query: new URLSearchParams(query),
    rawHeaders: request.rawHeaders,
    headers: request.headers,
    body,
  };
}

function reply(response: ServerResponse, answer: Answer | "reset"): void {
  if (answer === "reset") response.socket?.resetAndDestroy();
  else response.writeHead(answer.status, answer.headers).end(answer.body);
}
