// Stands before several receivers as a load balancer does, in turns, and writes down every request and its answer. Told
// so, it loses answers: the receiver has done its work, and the sender sees its connection reset.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Received, send } from "./http-client.ts";

export interface Passage {
  /** Of the event. */
  readonly id: string;
  /** The user agent. */
  readonly sender: string;
  /** What the receiver answered; null before that, or when it was killed first. */
  status: number | null;
  isDuplicate: boolean;
  /** The receiver's answer was thrown away. */
  isLost: boolean;
}

export interface FrontDoor {
  readonly url: string;
  /** Every request, in the order in which they came. */
  readonly passages: readonly Passage[];
  /** Ports of the receivers that are up. */
  ports: readonly number[];
  /** Asked about every answer. */
  loses: (passage: Passage) => boolean;
  /** Resolves as soon as the condition holds; looked at whenever an answer comes. Rejects when too late. */
  until(what: string, condition: () => boolean, timeoutMs?: number): Promise<void>;
  close(): Promise<void>;
}

export async function openFrontDoor(): Promise<FrontDoor> {
  const passages: Passage[] = [];
  const watchers = new Set<() => void>();
  const server = createServer((request, response) => void pass(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  const door: FrontDoor = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    passages,
    ports: [],
    loses: () => false,
    until,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
  return door;

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on("error", () => {});
    const passage: Passage = {
      id: String(request.headers["webhook-id"]),
      sender: String(request.headers["user-agent"]),
      status: null,
      isDuplicate: false,
      isLost: false,
    };
    passages.push(passage);
    const answer = await forward(request, passages.length).catch(() => null);
    passage.status = answer?.status ?? null;
    passage.isDuplicate = answer?.headers["posthorn-duplicate"] === "true";
    passage.isLost = answer !== null && door.loses(passage);
    for (const look of [...watchers]) look();
    if (answer === null || passage.isLost) request.socket.destroy();
    else response.writeHead(answer.status, answer.headers).end(answer.body);
  }

  /** The receiver works on when the sender goes away, as behind most balancers. */
  async function forward(request: IncomingMessage, turn: number): Promise<Received> {
    const body = Buffer.concat(await request.toArray());
    const port = door.ports[turn % door.ports.length];
    return await send(`http://127.0.0.1:${port}${request.url}`, { headers: request.headers, body });
  }

  function until(what: string, condition: () => boolean, timeoutMs = 20_000): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        watchers.delete(look);
        reject(new Error(`waited ${timeoutMs} ms in vain for ${what}`));
      }, timeoutMs);
      const look = () => {
        if (!condition()) return;
        watchers.delete(look);
        clearTimeout(timer);
        resolve();
      };
      watchers.add(look);
      look();
    });
  }
}
